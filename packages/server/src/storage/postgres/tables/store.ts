// Long-term store in PostgreSQL: writes of items, and the search by their vectors.
// Invariants:
//   - No search reads more than its `scanMax` vectors, page by page.
//   - A write of an item holds its lock: concurrent writers run one after the other.
import type { StoreRanking, StoreRef, StoreTx } from "../../../ports/ports.ts";
import { nameItem, readRef, REF_COLUMNS, storeReads, type StoreReads } from "../../cold/store-reads.ts";
import { cosine, encodeNamespace, toFloats, listPrefixes, unitVector } from "../../shared/store-namespaces.ts";
import { ITEM_COLUMNS, type ItemRow } from "../../shared/columns.ts";
import { createColdSql } from "../client/cold-sql.ts";
import { table } from "./shared/rows.ts";
import type { Sql } from "../client/transaction.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

/** Vectors per page. */
const PAGE_ROWS = 1000;

export function storeVerbs(db: Sql): StoreTx {
  return {
    ...storeReads(createColdSql(db)),
    ...itemVerbs(db),
    nearestStoreItems: (query) => nearest(db, query),
  };
}

function itemVerbs(db: Sql): Omit<StoreTx, keyof StoreReads | "nearestStoreItems"> {
  const remove = (condition: string, ...parameters: (string | number)[]): void =>
    db.run(
      `WITH gone AS (DELETE FROM holdpoint.store_items WHERE ${condition} RETURNING item_id),
         unordered AS (DELETE FROM holdpoint.store_order WHERE item_id IN (SELECT item_id FROM gone))
       DELETE FROM holdpoint.store_vectors WHERE item_id IN (SELECT item_id FROM gone)`,
      ...parameters,
    );
  return {
    async putStoreItem({ namespace, ...item }, vectors) {
      const ns = encodeNamespace(namespace);
      db.hold(nameItem(ns, item.key));
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
      db.hold(nameItem(ns, key));
      remove("ns = $1 AND key = $2", ns, key);
    },
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

async function nearest(db: Sql, query: StoreRanking): Promise<readonly StoreRef[] | null> {
  const prefix = encodeNamespace(query.prefix);
  const from = `FROM holdpoint.store_order AS o JOIN holdpoint.store_vectors AS v USING (item_id)`;
  const counted = await db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = $1 LIMIT $2) AS counted`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null;
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
