// Line diff: the changed lines between two large values, as the worker of diff/json-diff.tsx computes them. Pure.
// Invariants:
//   line-diff.1. Applying the changes to the old lines gives the new lines: nothing is left out but by excerpt.
//   line-diff.2. Time is bounded: beyond STEPS_MAX differences the lines between the first and the last are one change.

export interface LineChange {
  /** From 1, in the new text. */
  readonly line: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

const STEPS_MAX = 500;

/** Lines of the pretty JSON; an escaped line feed in a text also ends a line. */
export function splitLines(value: unknown): readonly string[] {
  return (JSON.stringify(value, null, 2) ?? "").replaceAll("\\n", "\\n\n").split("\n");
}

export function lineChanges(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const [old, young] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  if (old.length === 0 && young.length === 0) return [];
  const whole = [{ line: start + 1, removed: old, added: young }];
  if (old.length === 0 || young.length === 0) return whole;
  const pairs = findCommon(old, young);
  return pairs === null ? whole : between(old, young, pairs, start); // line-diff.2
}

type Pair = readonly [old: number, young: number];

/** Myers: the places of equal lines, or words, on a shortest path; null beyond STEPS_MAX. */
export function findCommon(old: readonly string[], young: readonly string[]): readonly Pair[] | null {
  const furthest = new Map<number, number>([[1, 0]]);
  const history: ReadonlyMap<number, number>[] = [];
  for (let step = 0; step <= STEPS_MAX; step++) {
    history.push(new Map(furthest));
    for (let diagonal = -step; diagonal <= step; diagonal += 2) {
      let x = comesFromAbove(furthest, diagonal, step)
        ? (furthest.get(diagonal + 1) ?? 0)
        : (furthest.get(diagonal - 1) ?? 0) + 1;
      while (x < old.length && x - diagonal < young.length && old[x] === young[x - diagonal]) x++;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= young.length) return pathBack(history, old.length, young.length);
    }
  }
  return null;
}

function comesFromAbove(furthest: ReadonlyMap<number, number>, diagonal: number, step: number): boolean {
  const [left, right] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
  return diagonal === -step || (diagonal !== step && left < right);
}

function pathBack(history: readonly ReadonlyMap<number, number>[], oldEnd: number, youngEnd: number): readonly Pair[] {
  const pairs: Pair[] = [];
  let [x, y] = [oldEnd, youngEnd];
  for (let step = history.length - 1; step >= 0; step--) {
    const furthest = history[step] ?? new Map<number, number>();
    const diagonal = x - y;
    const from = comesFromAbove(furthest, diagonal, step) ? diagonal + 1 : diagonal - 1;
    const [startX, startY] = [furthest.get(from) ?? 0, (furthest.get(from) ?? 0) - from];
    const [leastX, leastY] = step === 0 ? [0, 0] : [startX, startY];
    while (x > leastX && y > leastY) pairs.push([--x, --y]);
    [x, y] = [startX, startY];
  }
  return pairs.reverse();
}

/** The lines between the pairs, one change a gap (line-diff.1). */
function between(
  old: readonly string[],
  young: readonly string[],
  pairs: readonly Pair[],
  start: number,
): readonly LineChange[] {
  const changes: LineChange[] = [];
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...pairs, [old.length, young.length] as const]) {
    if (nextX > x || nextY > y) {
      changes.push({ line: start + y + 1, removed: old.slice(x, nextX), added: young.slice(y, nextY) });
    }
    [x, y] = [nextX + 1, nextY + 1];
  }
  return changes;
}

const AROUND_UNITS = 80;

/** Two long lines, each cut to the part that differs. */
export function cutLines(removed: string, added: string): readonly [removed: string, added: string] {
  if (Math.max(removed.length, added.length) <= 4 * AROUND_UNITS) return [removed, added];
  let from = 0;
  while (from < removed.length && removed[from] === added[from]) from++;
  const start = Math.max(0, from - AROUND_UNITS);
  const cut = (line: string): string => {
    const end = start + 4 * AROUND_UNITS;
    return `${start === 0 ? "" : "…"}${line.slice(start, end).toWellFormed()}${end < line.length ? "…" : ""}`;
  };
  return [cut(removed), cut(added)];
}
