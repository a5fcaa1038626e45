// Kept: what the console keeps of a person: saved views, read marks, the tab of the inbox. Pure.
import { withView, type View } from "../../hooks/views.ts";

export interface Kept {
  readonly views: readonly View[];
  /** Keys of items, the latest last. */
  readonly seen: readonly string[];
  /** Empty for all. */
  readonly tab: string;
}

export const SEEN_MAX = 1000;

/** Two browsers have changed `base`: the changes of both. Of one view, or of the tab, that both changed: ours. */
export function mergeKept(base: Kept, ours: Kept, theirs: Kept): Kept {
  const named = (list: readonly View[], name: string): string => JSON.stringify(list.find((one) => one.name === name));
  const gone = base.views.filter(({ name }) => !ours.views.some((one) => one.name === name));
  const changed = ours.views.filter((one) => named(base.views, one.name) !== JSON.stringify(one));
  const left = theirs.views.filter(({ name }) => !gone.some((one) => one.name === name));
  const unseen = new Set(base.seen.filter((key) => !ours.seen.includes(key)));
  const seen = [
    ...theirs.seen.filter((key) => !unseen.has(key)),
    ...ours.seen.filter((key) => !base.seen.includes(key)),
  ];
  return {
    views: changed.reduce<readonly View[]>((list, one) => withView(list, one), left),
    seen: [...new Set(seen)].slice(-SEEN_MAX),
    tab: ours.tab === base.tab ? theirs.tab : ours.tab,
  };
}
