// Load items: the selected items with their values, which rows of a list do not have.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { getItem } from "../../../data/inbox/calls.ts";
import { buildKey, type ListedItem } from "../../../data/inbox/item.ts";
import { INBOX } from "../../../data/inbox/live.ts";

const AT_ONCE = 8;

/** Undefined while they load. */
export function useWholeItems(items: readonly ListedItem[]): {
  readonly items: readonly InboxItem[] | undefined;
  readonly error: unknown;
} {
  const queries = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["bulk", items.map(buildKey)],
    queryFn: ({ signal }) =>
      inTurn(items, (item) =>
        queries.fetchQuery({ queryKey: [INBOX, "item", buildKey(item)], queryFn: () => getItem(item, signal) }),
      ),
    gcTime: 0,
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
