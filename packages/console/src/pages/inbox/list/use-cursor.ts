// Cursor: the current item of the list: the open one, otherwise the one that the keys moved to.
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { type ListedItem, buildKey } from "../../../data/inbox/item.ts";
import { findPendingAnswer } from "../../../data/inbox/outbox.ts";
import { seen } from "../../../data/inbox/seen.ts";
import { showToast } from "../../../ui/toast.tsx";
import { advances } from "../../../hooks/preferences.ts";
import type { Filters } from "./filters.ts";

export interface Cursor {
  readonly key: string | null;
  /** Place of the current item, or -1. */
  readonly at: number;
  readonly current: ListedItem | undefined;
  readonly open: (item: ListedItem) => void;
  /** Infinity is the last, -Infinity the first. */
  readonly move: (step: number) => void;
  /** Opens the next item that is unread, below the place, then from the top. */
  readonly openUnread: () => void;
  /** Opens the item after an answered one; closes without another. */
  readonly advance: () => void;
}

/** The next item to decide: below the place, then from the top. Pure. */
export function findNext(
  items: readonly ListedItem[],
  at: number,
  isOnItsWay: (item: ListedItem) => boolean,
): ListedItem | undefined {
  const order = [...items.slice(at + 1), ...items.slice(0, at)];
  return order.find((item) => item.state === "open" && !isOnItsWay(item));
}

/** @param openKey key of the item in the URL, or null */
export function useCursor(items: readonly ListedItem[], openKey: string | null, filters: Filters): Cursor {
  const navigate = useNavigate();
  const [movedTo, setMovedTo] = useState<string | null>(null);
  const key = openKey ?? movedTo;
  const at = items.findIndex((item) => buildKey(item) === key);
  const open = useCallback(
    (item: ListedItem, replace = false): void => {
      setMovedTo(buildKey(item));
      const params = { threadId: item.thread_id, interruptId: item.id };
      void navigate({ to: "/inbox/$threadId/$interruptId", params, search: filters, replace });
    },
    [navigate, filters],
  );
  const move = (step: number): void => {
    const next = items[Math.max(0, Math.min(items.length - 1, at + step))];
    if (next === undefined) return;
    if (openKey === null) setMovedTo(buildKey(next));
    else open(next, true);
  };
  const advance = (): void => {
    // An item outside of the list was opened by a link, and stays.
    if (!advances.get() || openKey === null || at === -1) return;
    const next = findNext(items, at, (item) => findPendingAnswer(item) !== undefined);
    if (next === undefined) void navigate({ to: "/inbox", search: filters });
    else open(next, true);
  };
  const openUnread = (): void => {
    const next = findNext(items, at, (item) => seen.get().has(buildKey(item)));
    if (next === undefined) showToast("Nothing is unread.");
    else open(next, openKey !== null);
  };
  return { key, at, current: items[at], open, move, openUnread, advance };
}
