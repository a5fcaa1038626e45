// Compare: the spans of two traces side by side, matched by their path from the root. Pure.
// Invariants:
//   compare.1. Every span of either trace is in one row, in the order of the tree.
//   compare.2. Two spans match if they and all their ancestors have the same names and the same index among equal
//        names.
import type { SpanNode, SpanTree } from "./tree.ts";

export interface ComparedRow {
  readonly key: string;
  readonly name: string;
  readonly level: number;
  readonly before: SpanNode | null;
  readonly after: SpanNode | null;
}

export function compareTrees(before: SpanTree, after: SpanTree): readonly ComparedRow[] {
  const [left, right] = [listKeys(before), listKeys(after)];
  const placeAfter = new Map(right.map((key, at) => [key, at]));
  const placeBefore = new Set(left);
  const rows: ComparedRow[] = [];
  const addNew = (from: number): void => {
    for (let at = from; at < right.length; at++) {
      const key = right[at];
      const node = after.nodes[at];
      if (key === undefined || node === undefined || placeBefore.has(key)) return;
      rows.push(compareRow(key, null, node));
    }
  };
  addNew(0);
  left.forEach((key, at) => {
    const node = before.nodes[at];
    if (node === undefined) return;
    const place = placeAfter.get(key);
    rows.push(compareRow(key, node, place === undefined ? null : (after.nodes[place] ?? null)));
    if (place !== undefined) addNew(place + 1); // compare.1: a span of the second only follows a matched span, or the start
  });
  return rows;
}

function compareRow(key: string, before: SpanNode | null, after: SpanNode | null): ComparedRow {
  const node = before ?? after;
  return { key, name: node?.span.name ?? "span", level: node?.level ?? 1, before, after };
}

/** compare.2 */
function listKeys({ nodes }: SpanTree): readonly string[] {
  const counts = new Map<string, number>();
  const keys: string[] = [];
  for (const { span, parent } of nodes) {
    const way = `${parent < 0 ? "" : (keys[parent] ?? "")}/${JSON.stringify(span.name ?? "")}`;
    const nth = (counts.get(way) ?? 0) + 1;
    counts.set(way, nth);
    keys.push(`${way}#${nth}`);
  }
  return keys;
}

/** Difference of the durations, microseconds; null if only one trace has the span. */
export function measureDifference({ before, after }: ComparedRow): number | null {
  return before === null || after === null ? null : after.durationUs - before.durationUs;
}
