// Long-term store in SQLite: items, their age order under every prefix, their vectors.
// Invariants:
//   sqlite/store.1. `store_order` has a row for each item under each prefix of its namespace, so a prefix's newest
//        items are read in order. A search with a limit costs as much as it returns, however many items exist.
//   sqlite/store.2. A filter's names and values are bound parameters, never part of the SQL text.
//   sqlite/store.3. Expired items are invisible, swept or not.
//   sqlite/store.4. No search reads more than its `scanMax` items, vectors or namespaces.
import type { SQLInputValue } from "node:sqlite";
import type { StoreItem } from "../../../agent/model/model.ts";
import type { FoundItem, NamespaceQuery, StoreQuery, StoreTx } from "../../../agent/ports/ports.ts";
import { matchesFilter, type FilterCondition } from "../../../base/json/json-filter.ts";
import type { JsonObject } from "../../../base/json/json.ts";
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
import type { Database, Row, SqlValue } from "../client/database.ts";
import { table } from "./rows.ts";

const ITEMS = table<ItemRow>("store_items", ITEM_COLUMNS);

const ALIVE = "(expires_at IS NULL OR expires_at > ?)";

export function storeVerbs(db: Database): StoreTx {
  return { ...itemVerbs(db), ...searchVerbs(db) };
}

function itemVerbs(
  db: Database,
): Pick<StoreTx, "storeItem" | "putStoreItem" | "deleteStoreItem" | "refreshStoreItems" | "deleteExpiredStoreItems"> {
  const idOf = (ns: string, key: string): Row | null =>
    db.get("SELECT item_id, updated_at FROM store_items WHERE ns = ? AND key = ?", ns, key);
  const forgetOrder = (itemId: SQLInputValue, ns: string, updatedAt: SQLInputValue): void => {
    for (const prefix of prefixesOf(ns)) {
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
      return row === null ? null : readItem(row);
    },
    putStoreItem({ namespace, ...item }, vectors) {
      const ns = encodeNamespace(namespace);
      const before = idOf(ns, item.key);
      if (before !== null) remove({ ...before, ns });
      ITEMS.insert(db, [{ ...item, ns }]);
      const itemId = Number(idOf(ns, item.key)?.["item_id"]);
      for (const prefix of prefixesOf(ns)) {
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
          new Uint8Array(bytes),
        );
      }
    },
    deleteStoreItem(namespace, key) {
      const ns = encodeNamespace(namespace);
      const row = idOf(ns, key);
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

function searchVerbs(db: Database): Pick<StoreTx, "searchStore" | "storeNamespaces"> {
  db.defineFunction("meets_filter", (value, filter) => {
    const conditions = JSON.parse(String(filter)) as readonly FilterCondition[];
    return matchesFilter(JSON.parse(String(value)) as JsonObject, conditions) ? 1 : 0;
  });
  // The query's vector is not an argument: SQLite would copy it for every row.
  let wanted: Float32Array = new Float32Array();
  db.defineFunction("likeness", (vector) => cosine(floats(vector), wanted));
  return {
    searchStore(query) {
      if (query.vector === null) return newest(db, query);
      wanted = unitVector(query.vector) ?? new Float32Array();
      return nearest(db, query);
    },
    storeNamespaces: (query) => namespaces(db, query),
  };
}

function readItem(row: Row): StoreItem {
  const { ns, ...item } = ITEMS.read(row);
  return { namespace: decodeNamespace(ns), ...item };
}

/** CROSS JOIN fixes the join order in SQLite. */
const UNDER_PREFIX = "FROM store_order AS o CROSS JOIN store_items AS i USING (item_id)";

function newest(db: Database, query: StoreQuery): readonly FoundItem[] | null {
  const prefix = encodeNamespace(query.prefix);
  const { where, parameters } = filterOf(query.filter);
  const end = query.filter.length === 0 && query.offset === 0 ? null : lastToLookAt(db, prefix, query.scanMax);
  const found = db.all(
    `SELECT ${columnsOf("i")} ${UNDER_PREFIX} WHERE o.prefix = ? AND ${ALIVE}
     ${end === null ? "" : "AND (o.updated_at, o.item_id) > (?, ?)"} ${where}
     ORDER BY o.updated_at DESC, o.item_id DESC LIMIT ? OFFSET ?`, // sqlite/store.1
    prefix,
    query.at,
    ...(end ?? []),
    ...parameters,
    query.limit,
    query.offset,
  );
  if (end !== null && found.length < query.limit) return null; // sqlite/store.4
  return found.map((row) => ({ ...readItem(row), score: null }));
}

/** The last position that a search with skipped items may read; null if there are fewer items. */
function lastToLookAt(db: Database, prefix: string, scanMax: number): readonly [number, number] | null {
  const row = db.get(
    `SELECT updated_at, item_id FROM store_order WHERE prefix = ?
     ORDER BY updated_at DESC, item_id DESC LIMIT 1 OFFSET ?`,
    prefix,
    scanMax,
  );
  return row === null ? null : [Number(row["updated_at"]), Number(row["item_id"])];
}

function nearest(db: Database, query: StoreQuery): readonly FoundItem[] | null {
  const prefix = encodeNamespace(query.prefix);
  const from = "FROM store_order AS o CROSS JOIN store_vectors AS v USING (item_id)";
  const counted = db.get(
    `SELECT count(*) AS n FROM (SELECT 1 ${from} WHERE o.prefix = ? LIMIT ?)`,
    prefix,
    query.scanMax + 1,
  );
  if (Number(counted?.["n"]) > query.scanMax) return null; // sqlite/store.4
  const { where, parameters } = filterOf(query.filter);
  const rows = db.all(
    `WITH ranked AS (
       SELECT item_id, max(likeness(v.vector)) AS score
       ${from} CROSS JOIN store_items AS i USING (item_id) WHERE o.prefix = ? AND ${ALIVE} ${where}
       GROUP BY item_id HAVING score IS NOT NULL ORDER BY score DESC, item_id LIMIT ? OFFSET ?)
     SELECT ${columnsOf("i")}, score FROM ranked CROSS JOIN store_items AS i USING (item_id)
     ORDER BY score DESC, item_id`,
    prefix,
    query.at,
    ...parameters,
    query.limit,
    query.offset,
  );
  return rows.map((row) => ({ ...readItem(row), score: Number(row["score"]) }));
}

const columnsOf = (alias: string): string =>
  ITEMS.columns
    .split(", ")
    .map((column) => `${alias}.${column}`)
    .join(", ");

function filterOf(filter: readonly FilterCondition[]): {
  readonly where: string;
  readonly parameters: SQLInputValue[];
} {
  if (filter.length === 0) return { where: "", parameters: [] };
  const parameters: SQLInputValue[] = [];
  let where = "";
  for (const { path, op, value } of filter) {
    const [name = ""] = path;
    // SQLite itself compares a plain member with a text; the exact test sees only the rest.
    const plain = op === "eq" && path.length === 1 && typeof value === "string" && /^\w+$/.test(name);
    if (!plain || !value.isWellFormed() || value.includes("\u0000")) continue;
    where += " AND i.value ->> ? = ?";
    parameters.push(`$."${name}"`, value); // sqlite/store.2
  }
  parameters.push(JSON.stringify(filter));
  return { where: `${where} AND meets_filter(i.value, ?)`, parameters };
}

function floats(bytes: SqlValue | undefined): Float32Array {
  return bytes instanceof Uint8Array ? floatsOf(bytes) : new Float32Array();
}

/** Jumps from one namespace to the next by the index, however many items lie between. */
function namespaces(db: Database, query: NamespaceQuery): readonly (readonly string[])[] | null {
  const wildcard = query.prefix.indexOf("*");
  const within = encodeNamespace(wildcard < 0 ? query.prefix : query.prefix.slice(0, wildcard));
  const end = within === "" ? null : afterNamespace(within);
  const found: (readonly string[])[] = [];
  let skipped = 0;
  let from = within;
  for (let looked = 0; found.length < query.limit; looked++) {
    if (looked > query.scanMax) return null; // sqlite/store.4
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
