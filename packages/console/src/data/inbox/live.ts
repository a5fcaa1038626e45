// Live: applies inbox events to the query cache as they arrive. One stream for the whole console.
// Invariants:
//   - After a gap in the stream, every list reloads.
//   - An answered or removed item stays marked in its lists until they reload: nothing vanishes under a cursor.
//   inbox/live.3. A first load that overlaps an event repeats. A later one, which adds a page to those of its start or
//        replaces all, has the event applied again when it ends.
import { useQueryClient, type InfiniteData, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect } from "react";
import { listen, type StreamState } from "../../api/events.ts";
import { apiKey } from "../../api/credentials.ts";
import { badge } from "../../browser/badge.ts";
import { notifications } from "../../hooks/preferences.ts";
import { createValue, useValue } from "../../hooks/value.ts";
import { countInbox } from "./calls.ts";
import { applied, buildKey, buildItemPath, readEvent, type InboxEvent, type ListedItem } from "./item.ts";

export const liveState = createValue<StreamState>("connecting");

/** Query keys: ["inbox", "list", filters], ["inbox", "facets", filters], ["inbox", "item", key], ["inbox", "audit", thread]. */
export const INBOX = "inbox";

export interface ListPage {
  readonly items: readonly ListedItem[];
  readonly next_cursor: string | null;
}

export type InboxList = InfiniteData<ListPage, string | null>;

let total = 0;
/** Items of events since the count, and whether they are open: an item may have several events. */
const seen = new Map<string, boolean>();
const RECOUNT_AFTER_MS = 10_000;
let recounting: ReturnType<typeof setTimeout> | undefined;

/** Keeps lists, items and the badge up to date while it is mounted. */
export function useInboxLive(): void {
  const queries = useQueryClient();
  const key = useValue(apiKey);
  useEffect(() => {
    const onEvent = (name: string, data: unknown): void => {
      if (name === "ready" || name === "reload") {
        invalidate(queries, [INBOX]);
        void count();
        return;
      }
      const event = readEvent(name, data);
      if (event !== null) take(queries, event);
    };
    return listen(
      "/inbox/events",
      ({ event, data }) => onEvent(event, data),
      (state) => liveState.set(state),
    );
  }, [queries, key]);
}

/** The badge starts with the server's count and follows the events. */
async function count(): Promise<void> {
  clearTimeout(recounting);
  recounting = undefined;
  try {
    seen.clear();
    ({ count: total } = await countInbox({ snoozed: false }));
    showBadge();
  } catch {
    badge.set(""); // the current page shows the error
  }
}

/** @param isOpen whether the item is open after the event */
function recount(key: string, isOpen: boolean): void {
  if ((seen.get(key) ?? !isOpen) !== isOpen) total += isOpen ? 1 : -1;
  seen.set(key, isOpen);
  showBadge();
  recountSoon(); // an event may describe a change that the count already includes
}

function recountSoon(): void {
  recounting ??= setTimeout(() => void count(), RECOUNT_AFTER_MS);
}

function showBadge(): void {
  badge.set(total <= 0 ? "" : String(total));
}

function take(queries: QueryClient, event: InboxEvent): void {
  const key = buildKey(event.item);
  if (event.type === "added") announce(event);
  const changesOnly = event.type === "claimed" || event.type === "released" || event.type === "updated";
  if (!changesOnly) recount(key, event.type === "added");
  else if (event.type === "updated") recountSoon(); // a follow-up date hides its item
  let known = false;
  queries.setQueriesData<InboxList>({ queryKey: [INBOX, "list"] }, (list) => {
    const changed = applyTo(list, event);
    known ||= changed !== list;
    return changed;
  });
  applyAfterLoad(queries, event); // inbox/live.3
  if (event.type === "added" && !known) reloadSoon(queries);
  if (!known) repeatFirst(queries, [INBOX, "list"]); // inbox/live.3
  invalidate(queries, [INBOX, "item", key]);
  invalidate(queries, [INBOX, "comments", key]);
  invalidate(queries, [INBOX, "audit", event.item.thread_id]);
}

/** The same list if it does not have the item. */
function applyTo(list: InboxList | undefined, event: InboxEvent): InboxList | undefined {
  const key = buildKey(event.item);
  const hasIt = (page: ListPage): boolean => page.items.some((item) => buildKey(item) === key);
  if (list === undefined || !list.pages.some(hasIt)) return list;
  const change = (item: ListedItem): ListedItem => (buildKey(item) === key ? applied(item, event) : item);
  return {
    ...list,
    pages: list.pages.map((page) => (hasIt(page) ? { ...page, items: page.items.map(change) } : page)),
  };
}

function applyAfterLoad(queries: QueryClient, event: InboxEvent): void {
  for (const { queryKey, promise, state } of queries.getQueryCache().findAll({ queryKey: [INBOX, "list"] })) {
    if (state.data === undefined || state.fetchStatus !== "fetching") continue;
    void promise?.then(
      () => queries.setQueryData<InboxList>(queryKey, (list) => applyTo(list, event)),
      () => undefined,
    );
  }
}

/** Reloads loaded and loading data. */
function invalidate(queries: QueryClient, queryKey: QueryKey): void {
  repeatFirst(queries, queryKey); // inbox/live.3
  void queries.invalidateQueries({ queryKey });
}

/** An invalidation does not restart a first load in progress, whose reply may predate the event. */
function repeatFirst(queries: QueryClient, queryKey: QueryKey): void {
  for (const { queryKey: own, promise, state } of queries.getQueryCache().findAll({ queryKey })) {
    if (state.data !== undefined || state.fetchStatus !== "fetching") continue;
    void promise?.then(
      () => queries.invalidateQueries({ queryKey: own, exact: true }),
      () => undefined,
    );
  }
}

const RELOAD_AFTER_MS = 150;
let reloading: ReturnType<typeof setTimeout> | null = null;

/** Only the server knows the position of a new item in a filtered list. Several arrivals cause one reload. */
function reloadSoon(queries: QueryClient): void {
  reloading ??= setTimeout(() => {
    reloading = null;
    void queries.invalidateQueries({ queryKey: [INBOX, "list"] });
  }, RELOAD_AFTER_MS);
}

function announce({ item }: InboxEvent): void {
  if (!notifications.get() || !document.hidden || !("Notification" in window)) return;
  if (Notification.permission !== "granted") return;
  const note = new Notification(item.title, { body: `${item.graph_id} › ${item.node}`, tag: buildKey(item) });
  note.addEventListener("click", () => {
    window.focus();
    openPath.set(buildItemPath(item));
    note.close();
  });
}

/** Link of a notification; the inbox opens it. */
export const openPath = createValue<string | null>(null);
