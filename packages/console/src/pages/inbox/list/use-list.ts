// Inbox list: its pages as scrolling loads them, filtered by the browser, and the author name of this browser.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { countInbox, listInbox, type Total } from "../../../data/inbox/calls.ts";
import { INBOX, liveState, type InboxList, type ListPage } from "../../../data/inbox/live.ts";
import type { ListedItem } from "../../../data/inbox/item.ts";
import { useCaller } from "../../../api/caller.ts";
import { callerName } from "../../../api/credentials.ts";
import { ownName } from "../../../hooks/preferences.ts";
import { createValue, useValue } from "../../../hooks/value.ts";
import { buildChoices, matches, buildQuery, type Filters, type Viewer } from "./filters.ts";

const POLL_MS = 5000;
const ITEMS_MAX = 10_000;
const SCREENFUL = 50;

/** The server's name for claims from here: read from its replies if a key determines it. */
export const knownAs = createValue<string | null>(null);

export function useMe(): string {
  const name = useValue(ownName).trim();
  const known = useValue(knownAs);
  const signedInAs = useValue(callerName);
  return known ?? signedInAs ?? (name === "" ? "anonymous" : name);
}

/** The person of this browser, with the groups of their sign-in. */
export function useViewer(): Viewer {
  const name = useMe();
  const caller = useCaller();
  const groups = caller?.groups.join("\n") ?? "";
  const email = caller?.email ?? null;
  return useMemo(() => ({ name, email, groups: groups === "" ? [] : groups.split("\n") }), [name, email, groups]);
}

export interface List {
  readonly items: readonly ListedItem[];
  /** Loaded so far, before the browser's filters. */
  readonly loaded: number;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  /** Items on all pages, before the filters of the browser; undefined once all are loaded. */
  readonly total: Total | undefined;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

export function useList(filters: Filters): List {
  const me = useViewer();
  const query = useMemo(() => buildQuery(filters, me), [filters, me]);
  const live = useValue(liveState);
  const result = useInfiniteQuery<ListPage, Error, InboxList, readonly unknown[], string | null>({
    queryKey: [INBOX, "list", query],
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) => listInbox({ ...query, cursor: pageParam ?? undefined }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: live === "closed" ? POLL_MS : false,
    placeholderData: (before) => before,
  });
  const { data, hasNextPage, isFetching, fetchNextPage, refetch } = result;
  const all = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const choices = useMemo(() => buildChoices(filters, me), [filters, me]);
  const total = useQuery({
    queryKey: [INBOX, "count", choices],
    queryFn: ({ signal }) => countInbox(choices, signal),
    enabled: hasNextPage,
  });
  const items = useMemo(() => all.filter((item) => matches(item, filters)), [all, filters]);
  // The browser-side filter needs every page, server-side filters may return short pages, and whoever answers one item
  // after the other must not come to the end of what is loaded while more waits.
  const open = useMemo(() => all.filter(({ state }) => state === "open").length, [all]);
  const wantsAll = filters.action !== undefined || open < SCREENFUL;
  const canLoad = hasNextPage && !isFetching && all.length < ITEMS_MAX;
  useEffect(() => {
    if (wantsAll && canLoad) void fetchNextPage();
  }, [wantsAll, canLoad, fetchNextPage]);
  return {
    items,
    loaded: all.length,
    isLoading: result.isPending || (items.length === 0 && wantsAll && hasNextPage),
    error: result.error,
    hasMore: hasNextPage,
    total: hasNextPage ? total.data : undefined,
    loadMore: () => {
      if (canLoad) void fetchNextPage();
    },
    reload: () => void refetch(),
  };
}
