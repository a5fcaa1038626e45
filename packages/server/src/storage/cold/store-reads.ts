// Reads of the long-term store, and what they share with its writes, which stand in store.ts of each database.
// Invariants:
//   - `store_order` has a row for each item under each prefix of its namespace, so a prefix's newest items are read in
//     order. A search with a limit costs as much as it returns, however many items exist.
//   - Expired items are invisible, swept or not.
//   - A page of a list reads no values: the size of a value is in its row.
//   - No list reads more than its `scanMax` namespaces.
import type { StoreItem } from "../../model/model.ts";
import type { NamespaceQuery, StoreRef, StoreTx } from "../../ports/ports.ts";
import { ITEM_COLUMNS, type ItemRow } from "../shared/columns.ts";
import { afterNamespace, decodeNamespace, encodeNamespace, matchesLabels } from "../shared/store-namespaces.ts";
import { type ColdSql, coldTable, type Row } from "./cold-sql.ts";

export type StoreReads = Pick<
  StoreTx,
  "storeItem" | "storeItems" | "refreshStoreItems" | "newestStoreItems" | "storeNamespaces"
>;

export const nameItem = (ns: string, key: string): string => `item ${ns} ${key}`;

/** A condition with a `?` for the time. */
export const ALIVE = "(expires_at IS NULL OR expires_at > ?)";

export function storeReads(sql: ColdSql): StoreReads {
  const items = coldTable<ItemRow>(sql, "store_items", ITEM_COLUMNS);
  const readItem = (row: Row): StoreItem => {
    const { ns, ...item } = items.read(row);
    return { namespace: decodeNamespace(ns), ...item };
  };
  return {
    async storeItem(namespace, key, at) {
      const ns = encodeNamespace(namespace);
      sql.hold(nameItem(ns, key));
      const row = await sql.get(`${items.select} WHERE ns = ? AND key = ? AND ${ALIVE}`, ns, key, at);
      return row === null ? null : readItem(row);
    },
    async storeItems(itemIds, at) {
      const rows = await sql.all(
        `SELECT item_id, ${items.columns} FROM ${sql.schema}store_items
         WHERE ${sql.isOneOfNumbers("item_id")} AND ${ALIVE}`,
        itemIds.map(String),
        at,
      );
      return new Map(rows.map((row) => [Number(row["item_id"]), readItem(row)]));
    },
    refreshStoreItems(given, at) {
      const restart = `UPDATE ${sql.schema}store_items SET expires_at = ? + ttl_ms
        WHERE ns = ? AND key = ? AND ttl_ms IS NOT NULL`;
      for (const { namespace, key } of given) sql.run(restart, at, encodeNamespace(namespace), key);
    },
    async newestStoreItems({ prefix, after, limit, at }) {
      const rows = await sql.all(
        `SELECT ${REF_COLUMNS}, i.expires_at, o.updated_at AS place_at
         FROM ${sql.schema}store_order AS o ${sql.joinInOrder} ${sql.schema}store_items AS i USING (item_id)
         WHERE o.prefix = ? AND (o.updated_at, o.item_id) < (?, ?)
         ORDER BY o.updated_at DESC, o.item_id DESC LIMIT ?`,
        encodeNamespace(prefix),
        ...(after ?? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]),
        limit,
      );
      const last = rows.length < limit ? undefined : rows.at(-1);
      const next = last === undefined ? null : ([Number(last["place_at"]), Number(last["item_id"])] as const);
      const alive = rows.filter(({ expires_at: end }) => end === null || Number(end) > at);
      return { refs: alive.map((row) => readRef(row, null)), next };
    },
    storeNamespaces: (query) => listNamespaces(sql, query),
  };
}

/** Columns of a reference, with the table `store_items` as `i`. */
export const REF_COLUMNS = "i.item_id, i.ns, i.key, i.ttl_ms, octet_length(i.value) AS bytes";

export function readRef({ item_id, ns, key, ttl_ms, bytes }: Row, score: number | null): StoreRef {
  return {
    itemId: Number(item_id),
    namespace: decodeNamespace(String(ns)),
    key: String(key),
    ttlMs: ttl_ms === null ? null : Number(ttl_ms),
    bytes: Number(bytes),
    score,
  };
}

/** Jumps from one namespace to the next by the index, however many items lie between. */
async function listNamespaces(
  sql: ColdSql,
  { prefix, suffix, depthMax, limit, offset, scanMax, at }: NamespaceQuery,
): Promise<readonly (readonly string[])[] | null> {
  const wildcard = prefix.indexOf("*");
  const within = encodeNamespace(wildcard < 0 ? prefix : prefix.slice(0, wildcard));
  const end = within === "" ? [] : [afterNamespace(within)];
  const found: (readonly string[])[] = [];
  let skipped = 0;
  /** The next namespace is this one or later, or strictly later. */
  let from = within;
  let strictly = false;
  for (let scanned = 0; found.length < limit; scanned++) {
    if (scanned > scanMax) return null;
    const row = await sql.get(
      `SELECT ns FROM ${sql.schema}store_items
       WHERE ns ${strictly ? ">" : ">="} ? ${end.length === 0 ? "" : "AND ns < ?"} AND ${ALIVE} ORDER BY ns LIMIT 1`,
      from,
      ...end,
      at,
    );
    if (row === null) break;
    const ns = String(row["ns"]);
    const labels = decodeNamespace(ns);
    const fits = matchesLabels(labels, prefix, 0) && matchesLabels(labels, suffix, labels.length - suffix.length);
    const shown = depthMax === null ? labels : labels.slice(0, depthMax);
    if (fits && skipped++ >= offset) found.push(shown);
    // All namespaces with the same labels up to the depth form one entry of the list.
    const asOne = fits && shown.length === depthMax;
    from = asOne ? afterNamespace(encodeNamespace(shown)) : ns;
    strictly = !asOne;
  }
  return found;
}
