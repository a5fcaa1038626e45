// Selection: items selected for one answer. Only visible, pending items are selectable.
import { useMemo, useState } from "react";
import { buildKey, type ListedItem } from "../../../data/inbox/item.ts";

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** In the order of the list. */
  readonly chosen: readonly ListedItem[];
  readonly toggle: (key: string) => void;
  /** From the last selected item to this one. */
  readonly extend: (key: string) => void;
  readonly all: () => void;
  readonly clear: () => void;
}

/** As many as one call answers. */
export const SELECTED_MAX = 1000;
const NONE: ReadonlySet<string> = new Set();

export function useSelection(items: readonly ListedItem[]): Selection {
  const [picked, setPicked] = useState(NONE);
  const [last, setLast] = useState<string | null>(null);
  const chosen = useMemo(
    () => items.filter((item) => item.state === "open" && picked.has(buildKey(item))).slice(0, SELECTED_MAX),
    [items, picked],
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
    all: () => setPicked(new Set(items.slice(0, SELECTED_MAX).map(buildKey))),
    clear: () => setPicked(NONE),
  };
}
