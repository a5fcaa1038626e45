// Live: what happens in the inbox, as it happens, put into the query cache. One stream for the whole console.
// Invariants:
//   LI1. After a gap in the stream, every list is loaded again.
//   LI2. An item that was answered or went away stays in the lists that show it, marked, until they are loaded again:
//        nothing vanishes under a cursor.
//   LI3. What is loaded for the first time while something happens is loaded once more.
import { useQueryClient, type InfiniteData, type QueryClient, type QueryKey } from "@tanstack/react-query";
import { useEffect } from "react";
import { listen, type StreamState } from "../../api/events.ts";
import { apiKey } from "../../api/credentials.ts";
import { badge } from "../../browser/badge.ts";
import { notifications } from "../../hooks/preferences.ts";
import { createValue, useValue } from "../../hooks/value.ts";
import { listInbox } from "./calls.ts";
import { applied, keyOf, pathOf, readEvent, type InboxEvent, type ListedItem } from "./item.ts";

export const liveState = createValue<StreamState>("connecting");

/** Query keys: ["inbox", "list", filters], ["inbox", "item", key], ["inbox", "audit", thread]. */
export const INBOX = "inbox";

export interface ListPage {
  readonly items: readonly ListedItem[];
  readonly next_cursor: string | null;
}

export type InboxList = InfiniteData<ListPage, string | null>;

const COUNTED_MAX = 100;
const open = new Set<string>();
let more = false;

/** Keeps lists, items and the badge up to date for as long as it is there. */
export function useInboxLive(): void {
  const queries = useQueryClient();
  const key = useValue(apiKey);
  useEffect(() => {
    const onEvent = (name: string, data: unknown): void => {
      if (name === "ready" || name === "reload") {
        invalidate(queries, [INBOX]); // LI1
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

/** The badge starts with what waits, and from there on goes by what is told. */
async function count(): Promise<void> {
  try {
    const { items, next_cursor } = await listInbox({ limit: COUNTED_MAX });
    open.clear();
    for (const item of items) open.add(keyOf(item));
    more = next_cursor !== null;
    showBadge();
  } catch {
    badge.set(""); // the page that is shown says what is wrong
  }
}

function showBadge(): void {
  badge.set(open.size === 0 ? "" : `${open.size}${more ? "+" : ""}`);
}

function take(queries: QueryClient, event: InboxEvent): void {
  const key = keyOf(event.item);
  if (event.type === "added") {
    open.add(key);
    announce(event);
  } else if (event.type !== "claimed" && event.type !== "released") open.delete(key);
  showBadge();
  let known = false;
  queries.setQueriesData<InboxList>({ queryKey: [INBOX, "list"] }, (list) => {
    if (list === undefined) return list;
    const pages = list.pages.map((page) => {
      if (!page.items.some((item) => keyOf(item) === key)) return page;
      known = true;
      return { ...page, items: page.items.map((item) => (keyOf(item) === key ? applied(item, event) : item)) };
    });
    return known ? { ...list, pages } : list;
  });
  if (event.type === "added" && !known) reloadSoon(queries);
  if (!known) repeatFirst(queries, [INBOX, "list"]); // LI3
  invalidate(queries, [INBOX, "item", key]);
  invalidate(queries, [INBOX, "audit", event.item.thread_id]);
}

/** Loads again what is there, and what is just being loaded. */
function invalidate(queries: QueryClient, queryKey: QueryKey): void {
  repeatFirst(queries, queryKey); // LI3
  void queries.invalidateQueries({ queryKey });
}

/** A first load that is under way is not begun anew by an invalidation, and may have been answered before what has happened. */
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

/** Where a new item belongs in a filtered list, the server knows. Many that come together are one reload. */
function reloadSoon(queries: QueryClient): void {
  reloading ??= setTimeout(() => {
    reloading = null;
    void queries.invalidateQueries({ queryKey: [INBOX, "list"] });
  }, RELOAD_AFTER_MS);
}

function announce({ item }: InboxEvent): void {
  if (!notifications.get() || !document.hidden || !("Notification" in window)) return;
  if (Notification.permission !== "granted") return;
  const note = new Notification(item.title, { body: `${item.graph_id} › ${item.node}`, tag: keyOf(item) });
  note.addEventListener("click", () => {
    window.focus();
    openPath.set(pathOf(item));
    note.close();
  });
}

/** Where a notification leads; the inbox goes there. */
export const openPath = createValue<string | null>(null);
