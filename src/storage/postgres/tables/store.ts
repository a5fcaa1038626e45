// Long-term store in PostgreSQL: items, their age order under every prefix, their vectors.
// Invariants:
//   postgres/store.1. `store_order` has a row for each item under each prefix of its namespace, so a prefix's newest
//        items are read in order. A search with a limit costs as much as it returns, however many items exist.
//   postgres/store.2. Expired items are invisible, swept or not.
//   postgres/store.3. No search reads more than its `scanMax` items, vectors or namespaces; it reads them page by page.
//   postgres/store.4. A write of an item holds its lock: concurrent writers run one after the other.
import type { StoreItem } from "../../../agent/model/model.ts";
import type { FoundItem, NamespaceQuery, StoreQuery, StoreTx } from "../../../agent/ports/ports.ts";
import { matchesFilter } from "../../../base/json/json-filter.ts";
import {
  afterNamespace,
  cosine,
  decodeNamespace,
  encodeNamespace,
  floatsOf,
  matchesLabels,
  prefixesOf,
  unitVector,
} from "../../shared/store-namespaces.ts";
import { ITEM_COLUMNS, type ItemRow } from "../../shared/columns.ts";
import type { Row } from "../client/pool.ts";
import { table } from "./rows.ts";
import type { Sql } from "../client/transaction.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

/** Page size for rows that JavaScript tests. */
const PAGE_ROWS = 1000;

const itemKey = (ns: string, key: string): string => `item ${ns} ${key}`;

export function storeVerbs(db: Sql): StoreTx {
  const remove = (condition: string, ...parameters: (string | number)[]): void =>
    db.run(
      `WITH gone AS (DELETE FROM holdpoint.store_items WHERE ${condition} RETURNING item_id),
         unordered AS (DELETE FROM holdpoint.store_order WHERE item_id IN (SELECT item_id FROM gone))
       DELETE FROM holdpoint.store_vectors WHERE item_id IN (SELECT item_id FROM gone)`,
      ...parameters,
    );
  return {
    async storeItem(namespace, key, at) {
      const ns = encodeNamespace(namespace);
      db.hold(itemKey(ns, key));
      const row = await db.get(
        `SELECT ${ITEMS.columns} FROM holdpoint.store_items
         WHERE ns = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > $3)`,
        ns,
        key,
        at,
      );
      return row === null ? null : readItem(row);
    },
    putStoreItem({ namespace, ...item }, vectors) {
      const ns = encodeNamespace(namespace);
      db.hold(itemKey(ns, item.key)); // postgres/store.4
      remove("ns = $1 AND key = $2", ns, item.key);
      ITEMS.insert(db, [{ ...item, ns }]);
      db.run(
        `INSERT INTO holdpoint.store_order (prefix, updated_at, item_id)
         SELECT p.prefix, i.updated_at, i.item_id FROM holdpoint.store_items AS i, unnest($3::text[]) AS p (prefix)
         WHERE i.ns = $1 AND i.key = $2`,
        ns,
        item.key,
        prefixesOf(ns),
      );
      for (const { field, vector } of vectors) {
        const unit = unitVector(vector);
        if (unit === null) continue;
        db.run(
          `INSERT INTO holdpoint.store_vectors (item_id, field, vector)
           SELECT item_id, $3, $4 FROM holdpoint.store_items WHERE ns = $1 AND key = $2`,
          ns,
          item.key,
          field,
          new Uint8Array(unit.buffer, unit.byteOffset, unit.byteLength),
        );
      }
    },
    deleteStoreItem(namespace, key) {
      const ns = encodeNamespace(namespace);
      db.hold(itemKey(ns, key)); // postgres/store.4
      remove("ns = $1 AND key = $2", ns, key);
    },
    refreshStoreItems(items, at) {
      for (const { namespace, key } of items) {
        db.run(
          "UPDATE holdpoint.store_items SET expires_at = $1 + ttl_ms WHERE ns = $2 AND key = $3 AND ttl_ms IS NOT NULL",
          at,
          encodeNamespace(namespace),
          key,
        );
      }
    },
    searchStore: (query) => (query.vector === null ? newest(db, query) : nearest(db, query, query.vector)),
    storeNamespaces: (query) => namespaces(db, query),
    async deleteExpiredStoreItems(at, limit) {
      const rows = await db.change(
        `WITH gone AS (
           DELETE FROM holdpoint.store_items WHERE item_id IN (
             SELECT item_id FROM holdpoint.store_items WHERE expires_at IS NOT NULL AND expires_at <= $1
             ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING item_id),
         unordered AS (DELETE FROM holdpoint.store_order WHERE item_id IN (SELECT item_id FROM gone)),
         unvectored AS (DELETE FROM holdpoint.store_vectors WHERE item_id IN (SELECT item_id FROM gone))
         SELECT item_id FROM gone`,
        at,
        limit,
      );
      return rows.length;
    },
  };
}

function readItem(row: Row): StoreItem {
  const { ns, ...item } = ITEMS.read(row);
  return { namespace: decodeNamespace(ns), ...item };
}

// postgres/store.2
const isAlive = ({ expiresAt }: StoreItem, at: number): boolean => expiresAt === null || expiresAt > at;

async function newest(db: Sql, query: StoreQuery): Promise<readonly FoundItem[] | null> {
  const prefix = encodeNamespace(query.prefix);
  const passesBy = query.filter.length > 0 || query.offset > 0;
  const scanMax = passesBy ? query.scanMax : Number.POSITIVE_INFINITY;
  const found: FoundItem[] = [];
  let skipped = 0;
  let looked = 0;
  let place: readonly [number, number] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  while (found.length < query.limit) {
    const pageRows = passesBy ? PAGE_ROWS : Math.min(query.limit, PAGE_ROWS);
    const rows = await db.all(
      `SELECT ${ITEMS.columnsOf("i")}, o.updated_at AS place_at, o.item_id AS place_id
       FROM holdpoint.store_order AS o JOIN holdpoint.store_items AS i USING (item_id)
       WHERE o.prefix = $1 AND (o.updated_at, o.item_id) < ($2, $3)
       ORDER BY o.updated_at DESC, o.item_id DESC LIMIT $4`, // postgres/store.1
      prefix,
      ...place,
      pageRows,
    );
    for (const row of rows) {
      if (found.length === query.limit) break;
      if (++looked > scanMax) return null; // postgres/store.3
      const item = readItem(row);
      if (!isAlive(item, query.at) || !matchesFilter(item.value, query.filter)) continue;
      if (skipped++ >= query.offset) found.push({ ...item, score: null });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) break;
    place = [Number(last["place_at"]), Number(last["place_id"])];
  }
  return found;
}

interface Ranked {
  readonly itemId: number;
  readonly score: number;
}

async function nearest(db: Sql, query: StoreQuery, wanted: Float32Array): Promise<readonly FoundItem[] | null> {
  const prefix = encodeNamespace(query.prefix);
  const from = `FROM holdpoint.store_order AS o JOIN holdpoint.store_vectors AS v USING (item_id)`;
  const counted = await db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = $1 LIMIT $2) AS counted`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null; // postgres/store.3
  const unit = unitVector(wanted) ?? new Float32Array();
  const scores = new Map<number, number>();
  for (let after: readonly [number, string] = [0, ""]; ;) {
    const rows = await db.all(
      `SELECT v.item_id, v.field, v.vector FROM holdpoint.store_vectors AS v
       JOIN holdpoint.store_items AS i USING (item_id)
       WHERE (v.item_id, v.field) > ($2, $3) AND (i.expires_at IS NULL OR i.expires_at > $4)
         AND EXISTS (SELECT 1 FROM holdpoint.store_order AS o
                     WHERE o.item_id = v.item_id AND o.prefix = $1)
       ORDER BY v.item_id, v.field LIMIT $5`,
      prefix,
      ...after,
      query.at,
      PAGE_ROWS,
    );
    for (const row of rows) {
      const score = cosine(floatsOf(row["vector"] as Uint8Array), unit);
      const itemId = Number(row["item_id"]);
      if (score !== null) scores.set(itemId, Math.max(scores.get(itemId) ?? score, score));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) break;
    after = [Number(last["item_id"]), String(last["field"])];
  }
  const ranked = [...scores].map(([itemId, score]): Ranked => ({ itemId, score }));
  return best(
    db,
    query,
    ranked.toSorted((a, b) => b.score - a.score || a.itemId - b.itemId),
  );
}

/** The items themselves, from the best on, as far as they match the filter. */
async function best(db: Sql, query: StoreQuery, ranked: readonly Ranked[]): Promise<readonly FoundItem[]> {
  const found: FoundItem[] = [];
  let skipped = 0;
  for (let from = 0; from < ranked.length && found.length < query.limit; from += PAGE_ROWS) {
    const page = ranked.slice(from, from + PAGE_ROWS);
    const rows = await db.all(
      `SELECT ${ITEMS.columnsOf("i")}, i.item_id FROM holdpoint.store_items AS i WHERE i.item_id = ANY($1::bigint[])`,
      page.map(({ itemId }) => String(itemId)),
    );
    const items = new Map(rows.map((row) => [Number(row["item_id"]), readItem(row)]));
    for (const { itemId, score } of page) {
      const item = items.get(itemId);
      if (item === undefined || !matchesFilter(item.value, query.filter)) continue;
      if (skipped++ >= query.offset && found.length < query.limit) found.push({ ...item, score });
    }
  }
  return found;
}

/** Jumps from one namespace to the next by the index, however many items lie between. */
async function namespaces(db: Sql, query: NamespaceQuery): Promise<readonly (readonly string[])[] | null> {
  const wildcard = query.prefix.indexOf("*");
  const within = encodeNamespace(wildcard < 0 ? query.prefix : query.prefix.slice(0, wildcard));
  const end = within === "" ? null : afterNamespace(within);
  const found: (readonly string[])[] = [];
  let skipped = 0;
  /** The next namespace is this one or later, or strictly later. */
  let from = within;
  let strictly = false;
  for (let looked = 0; found.length < query.limit; looked++) {
    if (looked > query.scanMax) return null; // postgres/store.3
    const row = await db.get(
      `SELECT ns FROM holdpoint.store_items
       WHERE ns ${strictly ? ">" : ">="} $1 AND ($2::text IS NULL OR ns < $2) AND (expires_at IS NULL OR expires_at > $3)
       ORDER BY ns LIMIT 1`,
      from,
      end,
      query.at,
    );
    if (row === null) break;
    const ns = String(row["ns"]);
    const labels = decodeNamespace(ns);
    const suffixFrom = labels.length - query.suffix.length;
    const fits = matchesLabels(labels, query.prefix, 0) && matchesLabels(labels, query.suffix, suffixFrom);
    const shown = query.depthMax === null ? labels : labels.slice(0, query.depthMax);
    if (fits && skipped++ >= query.offset) found.push(shown);
    // All namespaces with the same labels up to the depth form one entry of the list.
    const asOne = fits && shown.length === query.depthMax;
    from = asOne ? afterNamespace(encodeNamespace(shown)) : ns;
    strictly = !asOne;
  }
  return found;
}
