// Selection: items selected for one answer. Only visible, pending items are selectable.
import { useCallback, useEffect, useMemo, useState } from "react";
import { buildKey, type ListedItem } from "../../../data/inbox/item.ts";

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** In the order of the list. */
  readonly chosen: readonly ListedItem[];
  readonly toggle: (key: string) => void;
  /** From the last selected item to this one. */
  readonly extend: (key: string) => void;
  /** All items of the list, also those that scrolling has not loaded yet; at most SELECTED_MAX. */
  readonly all: () => void;
  readonly clear: () => void;
}

/** The items that scrolling has loaded so far. */
interface Loaded {
  readonly items: readonly ListedItem[];
  readonly hasMore: boolean;
  readonly error: unknown;
  readonly loadMore: () => void;
}

/** As many as one call answers. */
export const SELECTED_MAX = 1000;
const NONE: ReadonlySet<string> = new Set();

export function useSelection({ items, hasMore, error, loadMore }: Loaded): Selection {
  const [picked, setPicked] = useState(NONE);
  const [last, setLast] = useState<string | null>(null);
  const [isSelectingAll, setSelectingAll] = useState(false);
  const open = useMemo(() => items.filter((item) => item.state === "open"), [items]);
  const pickAll = useCallback(() => setPicked(new Set(open.slice(0, SELECTED_MAX).map(buildKey))), [open]);
  useEffect(() => {
    if (!isSelectingAll) return;
    pickAll();
    if (hasMore && error === null && open.length < SELECTED_MAX) loadMore();
    else setSelectingAll(false); // an item that appears later was not there when the person selected all
  }, [isSelectingAll, hasMore, error, open, loadMore, pickAll]);
  const chosen = useMemo(
    () => open.filter((item) => picked.has(buildKey(item))).slice(0, SELECTED_MAX),
    [open, picked],
  );
  const keys = useMemo(() => new Set(chosen.map(buildKey)), [chosen]);
  return {
    keys,
    chosen,
    toggle(key) {
      const next = new Set(keys);
      if (!next.delete(key)) next.add(key);
      setPicked(next);
      setLast(key);
    },
    extend(key) {
      const from = items.findIndex((item) => buildKey(item) === (last ?? key));
      const to = items.findIndex((item) => buildKey(item) === key);
      if (to === -1) return;
      const start = from === -1 ? to : from;
      const range = items.slice(Math.min(start, to), Math.max(start, to) + 1);
      setPicked(new Set([...keys, ...range.map(buildKey)]));
      setLast(key);
    },
    all() {
      pickAll(); // the next key acts on what is loaded
      setSelectingAll(true);
    },
    clear() {
      setSelectingAll(false);
      setPicked(NONE);
    },
  };
}
