// Flame: the spans of a trace as boxes over time, children below their parents. Pure.
// Invariants:
//   flame.1. Every span is in one box; boxes too narrow to be visible merge with their neighbours.
//   flame.2. Boxes of one row do not overlap: of concurrent spans, the later one moves to a lower row.
import type { SpanNode, SpanTree } from "./tree.ts";

export interface FlameBox {
  /** Index of the box's first span in `tree.nodes`. */
  readonly place: number;
  readonly row: number;
  /** Percent of the width, 0 to 100. */
  readonly left: number;
  readonly width: number;
  /** Number of spans in the box. */
  readonly spans: number;
  readonly errors: number;
}

export interface Flame {
  readonly boxes: readonly FlameBox[];
  readonly rows: number;
}

const PERCENT = 100;

/** @param narrowest minimum width of a box, in percent of the whole width. */
export function buildFlame(tree: SpanTree, narrowest: number): Flame {
  const whole = Math.max(1, tree.endUs - tree.startUs);
  const boxes: Mutable[] = [];
  const ends: number[] = [];
  const lastIn: (Mutable | undefined)[] = [];
  const rowByPlace: number[] = [];
  tree.nodes.forEach((node, place) => {
    const left = Math.min(PERCENT - narrowest, share(node.span.start_us - tree.startUs, whole));
    const width = Math.max(narrowest, Math.min(PERCENT - left, share(node.durationUs, whole)));
    const first = node.parent < 0 ? 0 : (rowByPlace[node.parent] ?? 0) + 1;
    const before = lastIn[first];
    if (
      before !== undefined &&
      isNarrow(before, narrowest) &&
      width <= narrowest &&
      left < before.left + before.width
    ) {
      rowByPlace[place] = first;
      before.spans += 1; // flame.1
      before.errors += countError(node);
      return;
    }
    let row = first;
    while ((ends[row] ?? 0) > left + TOLERANCE) row++; // flame.2
    rowByPlace[place] = row;
    const box = { place, row, left, width, spans: 1, errors: countError(node) };
    boxes.push(box);
    ends[row] = left + width;
    lastIn[row] = box;
  });
  return { boxes, rows: ends.length };
}

type Mutable = { -readonly [Key in keyof FlameBox]: FlameBox[Key] };

/** Tolerance for rounding. */
const TOLERANCE = 1e-9;

const share = (part: number, whole: number): number => Math.max(0, (part / whole) * PERCENT);
const isNarrow = (box: FlameBox, narrowest: number): boolean => box.width <= narrowest;
const countError = ({ span }: SpanNode): number => Number(span.status === "error");
