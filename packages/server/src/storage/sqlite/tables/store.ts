// Long-term store in SQLite: items, their age order under every prefix, their vectors.
// Invariants:
//   sqlite/store.1. `store_order` has a row for each item under each prefix of its namespace, so a prefix's newest
//        items are read in order. A search with a limit costs as much as it returns, however many items exist.
//   - Expired items are invisible, swept or not.
//   sqlite/store.3. No search reads more than its `scanMax` vectors or namespaces.
//   sqlite/store.4. A page of a list reads no values.
import type { SQLInputValue } from "node:sqlite";
import type { StoreItem } from "../../../model/model.ts";
import type { NamespaceQuery, StoreRanking, StoreRef, StoreTx } from "../../../ports/ports.ts";
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
import type { Database, Row, SqlValue } from "../client/database.ts";
import { table } from "./shared/rows.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

const ALIVE = "(expires_at IS NULL OR expires_at > ?)";

export function storeVerbs(db: Database): StoreTx {
  return { ...itemVerbs(db), ...searchVerbs(db) };
}

function itemVerbs(
  db: Database,
): Pick<StoreTx, "storeItem" | "putStoreItem" | "deleteStoreItem" | "refreshStoreItems" | "deleteExpiredStoreItems"> {
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
    storeItem(namespace, key, at) {
      const row = db.get(
        `SELECT ${ITEMS.columns} FROM store_items WHERE ns = ? AND key = ? AND ${ALIVE}`,
        encodeNamespace(namespace),
        key,
        at,
      );
      return row === null ? null : readItem(db, row);
    },
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
    refreshStoreItems(items, at) {
      for (const { namespace, key } of items) {
        db.run(
          "UPDATE store_items SET expires_at = ? + ttl_ms WHERE ns = ? AND key = ? AND ttl_ms IS NOT NULL",
          at,
          encodeNamespace(namespace),
          key,
        );
      }
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

function searchVerbs(
  db: Database,
): Pick<StoreTx, "newestStoreItems" | "nearestStoreItems" | "storeItems" | "storeNamespaces"> {
  // The query's vector is not an argument: SQLite would copy it for every row.
  let wanted: Float32Array = new Float32Array();
  db.defineFunction("likeness", (vector, itemId = null, field = null) => {
    const row = { item_id: itemId, field };
    return cosine(floats(db.sealing.open("store_vectors", "vector", row, vector ?? null)), wanted);
  });
  return {
    newestStoreItems(page) {
      const rows = db.all(
        `SELECT ${REF_COLUMNS}, o.updated_at AS place_at FROM store_order AS o CROSS JOIN store_items AS i USING (item_id)
         WHERE o.prefix = ? AND ${ALIVE} AND (o.updated_at, o.item_id) < (?, ?)
         ORDER BY o.updated_at DESC, o.item_id DESC LIMIT ?`, // sqlite/store.1
        encodeNamespace(page.prefix),
        page.at,
        ...(page.after ?? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]),
        page.limit,
      );
      const last = rows.length < page.limit ? undefined : rows.at(-1);
      const next = last === undefined ? null : ([Number(last["place_at"]), Number(last["item_id"])] as const);
      return { refs: rows.map(readRef), next };
    },
    nearestStoreItems(query) {
      wanted = unitVector(query.vector) ?? new Float32Array();
      return nearest(db, query);
    },
    storeItems(itemIds, at) {
      const rows = db.all(
        `SELECT item_id, ${ITEMS.columns} FROM store_items
         WHERE item_id IN (SELECT value FROM json_each(?)) AND ${ALIVE}`,
        JSON.stringify(itemIds),
        at,
      );
      return new Map(rows.map((row) => [Number(row["item_id"]), readItem(db, row)]));
    },
    storeNamespaces: (query) => namespaces(db, query),
  };
}

/** octet_length reads no value (sqlite/store.4). */
const REF_COLUMNS = "i.item_id, i.ns, i.key, i.ttl_ms, octet_length(i.value) AS bytes";

function readRef(row: Row): StoreRef {
  const { item_id, ns, key, ttl_ms, bytes, score } = row;
  return {
    itemId: Number(item_id),
    namespace: decodeNamespace(String(ns)),
    key: String(key),
    ttlMs: ttl_ms === null ? null : Number(ttl_ms),
    bytes: Number(bytes),
    score: score === undefined ? null : Number(score),
  };
}

function readItem(db: Database, row: Row): StoreItem {
  const { ns, ...item } = ITEMS.read(db, row);
  return { namespace: decodeNamespace(ns), ...item };
}

function nearest(db: Database, query: StoreRanking): readonly StoreRef[] | null {
  const prefix = encodeNamespace(query.prefix);
  const from = "FROM store_order AS o CROSS JOIN store_vectors AS v USING (item_id)";
  const counted = db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = ? LIMIT ?)`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null; // sqlite/store.3
  const rows = db.all(
    `WITH ranked AS (
       SELECT item_id, max(likeness(v.vector, item_id, v.field)) AS score ${from} WHERE o.prefix = ?
       GROUP BY item_id HAVING score IS NOT NULL)
     SELECT ${REF_COLUMNS}, score FROM ranked CROSS JOIN store_items AS i USING (item_id) WHERE ${ALIVE}
     ORDER BY score DESC, item_id`,
    prefix,
    query.at,
  );
  return rows.map(readRef);
}

function floats(bytes: SqlValue | undefined): Float32Array {
  return bytes instanceof Uint8Array ? toFloats(bytes) : new Float32Array();
}

/** Jumps from one namespace to the next by the index, however many items lie between. */
function namespaces(db: Database, query: NamespaceQuery): readonly (readonly string[])[] | null {
  const wildcard = query.prefix.indexOf("*");
  const within = encodeNamespace(wildcard < 0 ? query.prefix : query.prefix.slice(0, wildcard));
  const end = within === "" ? null : afterNamespace(within);
  const found: (readonly string[])[] = [];
  let skipped = 0;
  let from = within;
  for (let scanned = 0; found.length < query.limit; scanned++) {
    if (scanned > query.scanMax) return null; // sqlite/store.3
    const row = db.get(
      `SELECT ns FROM store_items WHERE ns >= ? ${end === null ? "" : "AND ns < ?"} AND ${ALIVE} ORDER BY ns LIMIT 1`,
      from,
      ...(end === null ? [] : [end]),
      query.at,
    );
    if (row === null) break;
    const ns = String(row["ns"]);
    const labels = decodeNamespace(ns);
    const fits =
      matchesLabels(labels, query.prefix, 0) &&
      matchesLabels(labels, query.suffix, labels.length - query.suffix.length);
    const shown = query.depthMax === null ? labels : labels.slice(0, query.depthMax);
    if (fits && skipped++ >= query.offset) found.push(shown);
    // All namespaces with the same labels up to the depth form one entry of the list.
    from = fits && shown.length === query.depthMax ? afterNamespace(encodeNamespace(shown)) : `${ns}\u0000`;
  }
  return found;
}
