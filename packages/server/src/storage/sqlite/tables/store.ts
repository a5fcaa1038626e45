// Long-term store in SQLite: writes of items, and the search by their vectors.
// Invariant: no search reads more than its `scanMax` vectors.
import type { SQLInputValue } from "node:sqlite";
import type { StoreRanking, StoreRef, StoreTx } from "../../../ports/ports.ts";
import { ALIVE, readRef, REF_COLUMNS, storeReads, type StoreReads } from "../../cold/store-reads.ts";
import { cosine, encodeNamespace, toFloats, listPrefixes, unitVector } from "../../shared/store-namespaces.ts";
import { ITEM_COLUMNS, type ItemRow } from "../../shared/columns.ts";
import { createColdSql } from "../client/cold-sql.ts";
import type { Database, Row, SqlValue } from "../client/database.ts";
import { table } from "./shared/rows.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

export function storeVerbs(db: Database): StoreTx {
  return { ...storeReads(createColdSql(db)), ...itemVerbs(db), nearestStoreItems: prepareNearest(db) };
}

function itemVerbs(db: Database): Omit<StoreTx, keyof StoreReads | "nearestStoreItems"> {
  const findItemRow = (ns: string, key: string): Row | null =>
    db.get("SELECT item_id, updated_at FROM store_items WHERE ns = ? AND key = ?", ns, key);
  const forgetOrder = (itemId: SQLInputValue, ns: string, updatedAt: SQLInputValue): void => {
    for (const prefix of listPrefixes(ns)) {
      db.run("DELETE FROM store_order WHERE prefix = ? AND updated_at = ? AND item_id = ?", prefix, updatedAt, itemId);
    }
  };
  const remove = (row: Row): void => {
    const itemId = Number(row["item_id"]);
    forgetOrder(itemId, String(row["ns"]), Number(row["updated_at"]));
    db.run("DELETE FROM store_vectors WHERE item_id = ?", itemId);
    db.run("DELETE FROM store_items WHERE item_id = ?", itemId);
  };
  return {
    putStoreItem({ namespace, ...item }, vectors) {
      const ns = encodeNamespace(namespace);
      const before = findItemRow(ns, item.key);
      if (before !== null) remove({ ...before, ns });
      ITEMS.insert(db, [{ ...item, ns }]);
      const itemId = Number(findItemRow(ns, item.key)?.["item_id"]);
      for (const prefix of listPrefixes(ns)) {
        db.run(
          "INSERT INTO store_order (prefix, updated_at, item_id) VALUES (?, ?, ?)",
          prefix,
          item.updatedAt,
          itemId,
        );
      }
      for (const { field, vector } of vectors) {
        const bytes = unitVector(vector)?.buffer;
        if (bytes === undefined) continue;
        db.run(
          "INSERT INTO store_vectors (item_id, field, vector) VALUES (?, ?, ?)",
          itemId,
          field,
          db.sealing.seal("store_vectors", "vector", { item_id: itemId, field }, new Uint8Array(bytes)),
        );
      }
    },
    deleteStoreItem(namespace, key) {
      const ns = encodeNamespace(namespace);
      const row = findItemRow(ns, key);
      if (row !== null) remove({ ...row, ns });
    },
    deleteExpiredStoreItems(at, limit) {
      const rows = db.all(
        "SELECT item_id, ns, updated_at FROM store_items WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
        at,
        limit,
      );
      for (const row of rows) remove(row);
      return rows.length;
    },
  };
}

function prepareNearest(db: Database): StoreTx["nearestStoreItems"] {
  // The query's vector is not an argument: SQLite would copy it for every row.
  let wanted: Float32Array = new Float32Array();
  db.defineFunction("likeness", (vector, itemId = null, field = null) => {
    const row = { item_id: itemId, field };
    return cosine(floats(db.sealing.open("store_vectors", "vector", row, vector ?? null)), wanted);
  });
  return (query) => {
    wanted = unitVector(query.vector) ?? new Float32Array();
    return nearest(db, query);
  };
}

function nearest(db: Database, query: StoreRanking): readonly StoreRef[] | null {
  const prefix = encodeNamespace(query.prefix);
  const from = "FROM store_order AS o CROSS JOIN store_vectors AS v USING (item_id)";
  const counted = db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = ? LIMIT ?)`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null;
  const rows = db.all(
    `WITH ranked AS (
       SELECT item_id, max(likeness(v.vector, item_id, v.field)) AS score ${from} WHERE o.prefix = ?
       GROUP BY item_id HAVING score IS NOT NULL)
     SELECT ${REF_COLUMNS}, score FROM ranked CROSS JOIN store_items AS i USING (item_id) WHERE ${ALIVE}
     ORDER BY score DESC, item_id`,
    prefix,
    query.at,
  );
  return rows.map((row) => readRef(row, Number(row["score"])));
}

function floats(bytes: SqlValue | undefined): Float32Array {
  return bytes instanceof Uint8Array ? toFloats(bytes) : new Float32Array();
}
