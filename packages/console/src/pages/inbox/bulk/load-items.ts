// Load items: the selected items with their values, which rows of a list do not have.
import { useQuery } from "@tanstack/react-query";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { getItem, listInbox } from "../../../data/inbox/calls.ts";
import { buildKey, type ListedItem } from "../../../data/inbox/item.ts";
import type { InboxQuery } from "../../../data/inbox/calls.ts";

const AT_ONCE = 8;

const PAGE_ITEMS = 1000;
const PAGES_MAX = 12;

/**
 * The list once more, with values, until all of the items are there; the ones that have left it meanwhile, one by one.
 * @returns items undefined while they load
 */
export function useWholeItems(
  items: readonly ListedItem[],
  query: InboxQuery,
): {
  readonly items: readonly InboxItem[] | undefined;
  readonly error: unknown;
} {
  const { data, error } = useQuery({
    queryKey: ["bulk", items.map(buildKey)],
    queryFn: async ({ signal }) => {
      const missing = new Set(items.map(buildKey));
      const found = new Map<string, InboxItem>();
      let cursor: string | null | undefined;
      for (let page = 0; page < PAGES_MAX && missing.size > 1 && cursor !== null; page++) {
        const wanted = { ...query, values: undefined, limit: PAGE_ITEMS, cursor };
        const { items: whole, next_cursor: next } = await listInbox(wanted, signal);
        for (const item of whole) if (missing.delete(buildKey(item))) found.set(buildKey(item), item);
        cursor = next;
      }
      return inTurn(items, async (item) => found.get(buildKey(item)) ?? getItem(item, signal));
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { items: data, error };
}

/** Results in the order of the items; AT_ONCE calls at a time. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
