// Long-term store in PostgreSQL: items, their age order under every prefix, their vectors.
// Invariants:
//   postgres/store.1. `store_order` has a row for each item under each prefix of its namespace, so a prefix's newest
//        items are read in order. A search with a limit costs as much as it returns, however many items exist.
//   postgres/store.2. Expired items are invisible, swept or not.
//   postgres/store.3. No search reads more than its `scanMax` vectors or namespaces; vectors are read page by page.
//   postgres/store.4. A write of an item holds its lock: concurrent writers run one after the other.
//   postgres/store.5. A page of a list reads no values.
import type { StoreItem } from "../../../model/model.ts";
import type { NamespaceQuery, StorePage, StoreRanking, StoreRef, StoreRefs, StoreTx } from "../../../ports/ports.ts";
import {
  afterNamespace,
  cosine,
  decodeNamespace,
  encodeNamespace,
  toFloats,
  matchesLabels,
  listPrefixes,
  unitVector,
} from "../../shared/store-namespaces.ts";
import { ITEM_COLUMNS, type ItemRow } from "../../shared/columns.ts";
import type { Row } from "../client/pool.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

/** Vectors per page. */
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
      return row === null ? null : readItem(db, row);
    },
    async putStoreItem({ namespace, ...item }, vectors) {
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
        listPrefixes(ns),
      );
      if (vectors.length === 0) return;
      const found = await db.get("SELECT item_id FROM holdpoint.store_items WHERE ns = $1 AND key = $2", ns, item.key);
      const itemId = Number(found?.["item_id"]);
      for (const { field, vector } of vectors) {
        const unit = unitVector(vector);
        if (unit === null) continue;
        const bytes = new Uint8Array(unit.buffer, unit.byteOffset, unit.byteLength);
        const cell = db.sealing.seal("store_vectors", "vector", { item_id: itemId, field }, bytes);
        const insert = "INSERT INTO holdpoint.store_vectors (item_id, field, vector) VALUES ($1, $2, $3)";
        db.run(insert, itemId, field, cell);
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
    ...searchVerbs(db),
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

function searchVerbs(
  db: Sql,
): Pick<StoreTx, "newestStoreItems" | "nearestStoreItems" | "storeItems" | "storeNamespaces"> {
  return {
    newestStoreItems: (page) => newest(db, page),
    nearestStoreItems: (query) => nearest(db, query),
    async storeItems(itemIds, at) {
      const rows = await db.all(
        `SELECT item_id, ${ITEMS.columns} FROM holdpoint.store_items
         WHERE item_id = ANY($1::bigint[]) AND (expires_at IS NULL OR expires_at > $2)`,
        itemIds.map(String),
        at,
      );
      return new Map(rows.map((row) => [Number(row["item_id"]), readItem(db, row)]));
    },
    storeNamespaces: (query) => namespaces(db, query),
  };
}

function readItem(db: Sql, row: Row): StoreItem {
  const { ns, ...item } = ITEMS.read(db, row);
  return { namespace: decodeNamespace(ns), ...item };
}

/** The size of a value is in its row: it is not read (postgres/store.5). */
const REF_COLUMNS = "i.item_id, i.ns, i.key, i.ttl_ms, octet_length(i.value) AS bytes";

function readRef({ item_id, ns, key, ttl_ms, bytes }: Row, score: number | null): StoreRef {
  return {
    itemId: Number(item_id),
    namespace: decodeNamespace(String(ns)),
    key: String(key),
    ttlMs: ttl_ms === null ? null : Number(ttl_ms),
    bytes: Number(bytes),
    score,
  };
}

async function newest(db: Sql, page: StorePage): Promise<StoreRefs> {
  const rows = await db.all(
    `SELECT ${REF_COLUMNS}, i.expires_at, o.updated_at AS place_at
     FROM holdpoint.store_order AS o JOIN holdpoint.store_items AS i USING (item_id)
     WHERE o.prefix = $1 AND (o.updated_at, o.item_id) < ($2, $3)
     ORDER BY o.updated_at DESC, o.item_id DESC LIMIT $4`, // postgres/store.1
    encodeNamespace(page.prefix),
    ...(page.after ?? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]),
    page.limit,
  );
  const last = rows.length < page.limit ? undefined : rows.at(-1);
  const next = last === undefined ? null : ([Number(last["place_at"]), Number(last["item_id"])] as const);
  const alive = rows.filter((row) => row["expires_at"] === null || Number(row["expires_at"]) > page.at); // postgres/store.2
  return { refs: alive.map((row) => readRef(row, null)), next };
}

async function nearest(db: Sql, query: StoreRanking): Promise<readonly StoreRef[] | null> {
  const prefix = encodeNamespace(query.prefix);
  const from = `FROM holdpoint.store_order AS o JOIN holdpoint.store_vectors AS v USING (item_id)`;
  const counted = await db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = $1 LIMIT $2) AS counted`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null; // postgres/store.3
  const unit = unitVector(query.vector) ?? new Float32Array();
  const best = new Map<number, StoreRef & { readonly score: number }>();
  for (let after: readonly [number, string] = [0, ""]; ;) {
    const rows = await db.all(
      `SELECT ${REF_COLUMNS}, v.field, v.vector FROM holdpoint.store_vectors AS v
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
      const vector = db.sealing.open("store_vectors", "vector", row, row["vector"]);
      const score = cosine(toFloats(vector as Uint8Array), unit);
      const ref = score === null ? null : { ...readRef(row, score), score };
      if (ref !== null && ref.score > (best.get(ref.itemId)?.score ?? Number.NEGATIVE_INFINITY))
        best.set(ref.itemId, ref);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) break;
    after = [Number(last["item_id"]), String(last["field"])];
  }
  return [...best.values()].toSorted((a, b) => b.score - a.score || a.itemId - b.itemId);
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
  for (let scanned = 0; found.length < query.limit; scanned++) {
    if (scanned > query.scanMax) return null; // postgres/store.3
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
