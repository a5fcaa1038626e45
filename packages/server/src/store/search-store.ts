// Search of the store: finds the items of a page, and reads their values on demand.
// Invariants:
//   search-store.1. The memory of a search is bounded by a chunk of values, not by the items that it reads or returns.
//   - A filter reads the values chunk by chunk, with a turn of the event loop in between.
//   search-store.3. An item appears in its state when it is read; one that is deleted, or no longer matches, is
//        omitted.
//   search-store.4. A search that would exceed its limit is refused before its first item.
import { CHUNK_BYTES, splitChunks } from "../context/chunks.ts";
import { matchesFilter, type FilterCondition } from "@holdpoint/base/json/json-filter.ts";
import type { Scope, StoreItem } from "../model/model.ts";
import type { FoundItem, Storage, StorePage, StorePlace, StoreRef, StoreRefs } from "../ports/ports.ts";
import { itemInScope, SCOPED_SCAN_MAX } from "./store-scope.ts";

/** Maximum number of items that a filter or an offset passes. */
export const SCAN_MAX = 100_000;
/** Maximum number of vectors that a brute-force search compares. */
export const COMPARE_MAX = 10_000;
const PAGE_ROWS = 1000;

export interface StoreQuery {
  readonly prefix: readonly string[];
  readonly filter: readonly FilterCondition[];
  readonly vector: Float32Array | null;
  readonly limit: number;
  readonly offset: number;
  readonly scope: Scope;
}

/** An item of a page. Its value is there if it has been read and the values before it are short together. */
export interface StoreMatch extends StoreRef {
  readonly item: StoreItem | null;
}

/** @returns null if the search would exceed its limit (search-store.4) */
export async function findItems(
  storage: Storage,
  query: StoreQuery,
  at: number,
): Promise<readonly StoreMatch[] | null> {
  const byValue = query.filter.length > 0 || query.scope !== null;
  const lookMax = query.scope === null ? SCAN_MAX : SCOPED_SCAN_MAX;
  const passes = byValue || query.offset > 0;
  const found: StoreMatch[] = [];
  let [looked, passed, kept] = [0, 0, 0];
  for await (const refs of candidates(storage, query, at)) {
    if (refs === null) return null;
    for (const chunk of byValue ? splitChunks(refs) : [refs]) {
      const items = byValue ? await storage.read((tx) => tx.storeItems(listIds(chunk), at)) : null;
      for (const ref of chunk) {
        if (found.length === query.limit) return found;
        if (passes && ++looked > lookMax) return null;
        const item = items?.get(ref.itemId) ?? null;
        if (byValue && !matches(item, query)) continue;
        if (passed++ < query.offset) continue;
        kept += ref.bytes;
        found.push({ ...ref, item: kept <= CHUNK_BYTES ? item : null }); // search-store.1
      }
    }
  }
  return found;
}

async function* candidates(
  storage: Storage,
  { prefix, vector, limit, filter, offset, scope }: StoreQuery,
  at: number,
): AsyncGenerator<readonly StoreRef[] | null> {
  if (vector !== null) {
    const ranking = { prefix, vector, scanMax: COMPARE_MAX, at };
    yield await storage.longReads.nearestStoreItems(ranking);
    return;
  }
  const rows = filter.length === 0 && offset === 0 && scope === null ? Math.min(limit, PAGE_ROWS) : PAGE_ROWS;
  let after: StorePlace | null = null;
  do {
    const page: StorePage = { prefix, after, limit: rows, at };
    const { refs, next }: StoreRefs = await storage.longReads.newestStoreItems(page);
    yield refs;
    after = next;
  } while (after !== null);
}

/** The items of a page, read in chunks (search-store.1). */
export async function* readItems(
  storage: Storage,
  found: readonly StoreMatch[],
  query: StoreQuery,
  now: () => number,
): AsyncGenerator<FoundItem> {
  for (const chunk of splitChunks(found)) {
    const unread = chunk.filter(({ item }) => item === null);
    const items = unread.length === 0 ? new Map() : await storage.read((tx) => tx.storeItems(listIds(unread), now()));
    for (const { item, itemId, namespace, key, score } of chunk) {
      // a replaced item has another id
      const read = item ?? items.get(itemId) ?? (await storage.read((tx) => tx.storeItem(namespace, key, now())));
      if (matches(read, query)) yield { ...read, score }; // search-store.3
    }
  }
}

const listIds = (refs: readonly StoreRef[]): readonly number[] => refs.map(({ itemId }) => itemId);

function matches(item: StoreItem | null, { filter, scope }: StoreQuery): item is StoreItem {
  return item !== null && matchesFilter(item.value, filter) && itemInScope(item, scope);
}
