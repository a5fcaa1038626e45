// Tree: the spans of a trace as visible rows: depth, folding, own time, the critical path. Pure.
// Invariants:
//   tree.1. Every span is a row once, also with a missing parent; parent cycles terminate.
//   tree.2. A row stands below its parent and before the parent's later children.
import { computeTraceCosts } from "@holdpoint/api/traces/trace-costs.ts";
import type { SpanSummary } from "@holdpoint/api/traces/traces.ts";

export interface SpanNode {
  readonly span: SpanSummary;
  /** 1 for roots, as aria-level counts. */
  readonly level: number;
  readonly children: number;
  /** Number of descendants. */
  readonly below: number;
  readonly errorsBelow: number;
  readonly parent: number;
  /** Index among its siblings, from 1, and their number. */
  readonly position: number;
  readonly siblings: number;
  /** Time not spent in children; microseconds. */
  readonly ownUs: number;
  readonly durationUs: number;
  /** On the critical path. */
  readonly critical: boolean;
  /** US dollars, with all descendants; null if none of them has a cost. */
  readonly cost: number | null;
}

export interface SpanTree {
  /** In tree order. */
  readonly nodes: readonly SpanNode[];
  readonly startUs: number;
  readonly endUs: number;
}

/** Properties of a view of the whole trace with one selected span. */
export interface SpanViewProps {
  readonly tree: SpanTree;
  /** Id of the span. */
  readonly chosen: string | null;
  readonly onChoose: (span: string) => void;
}

/** @param runs in store order. @param nowUs end of unfinished spans. */
export function buildTree(runs: readonly SpanSummary[], nowUs: number): SpanTree {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const children = new Map<string | null, SpanSummary[]>();
  for (const run of runs) {
    const parent = run.parent_run_id !== undefined && byId.has(run.parent_run_id) ? run.parent_run_id : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [run]);
    else siblings.push(run);
  }
  for (const list of children.values()) list.sort((a, b) => a.start_us - b.start_us);
  const critical = findCritical(children, nowUs);
  const costs = computeTraceCosts(
    runs.flatMap(({ dotted_order, cost }) => (cost === undefined ? [] : [{ dotted_order, cost }])),
  ).below;
  const nodes: Mutable[] = [];
  const seen = new Set<string>();
  const add = (roots: readonly SpanSummary[]): void => {
    const waiting = roots
      .map((span, at) => ({ span, level: 1, parent: -1, position: at + 1, siblings: roots.length }))
      .reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next.span.id)) continue; // tree.1
      seen.add(next.span.id);
      const own = children.get(next.span.id) ?? [];
      const place = nodes.length;
      nodes.push({
        ...next,
        children: own.length,
        below: 0,
        errorsBelow: 0,
        ownUs: ownTime(next.span, own, nowUs),
        durationUs: findEnd(next.span, nowUs) - next.span.start_us,
        critical: critical.has(next.span.id),
        cost: costs.get(next.span.dotted_order) ?? null,
      });
      for (let at = own.length - 1; at >= 0; at--) {
        const span = own[at];
        if (span !== undefined)
          waiting.push({ span, level: next.level + 1, parent: place, position: at + 1, siblings: own.length });
      }
    }
  };
  add(children.get(null) ?? []);
  for (const run of runs) if (!seen.has(run.id)) add([run]); // tree.1: members of a circle
  for (let at = nodes.length - 1; at > 0; at--) {
    const node = nodes[at];
    const parent = node === undefined ? undefined : nodes[node.parent];
    if (node === undefined || parent === undefined) continue;
    parent.below += 1 + node.below;
    parent.errorsBelow += Number(node.span.status === "error") + node.errorsBelow;
  }
  let [startUs, endUs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const run of runs) {
    startUs = Math.min(startUs, run.start_us);
    endUs = Math.max(endUs, findEnd(run, nowUs));
  }
  return runs.length === 0 ? { nodes, startUs: 0, endUs: 0 } : { nodes, startUs, endUs };
}

type Mutable = { -readonly [Key in keyof SpanNode]: SpanNode[Key] };

const findEnd = (run: SpanSummary, nowUs: number): number => Math.max(run.start_us, run.end_us ?? nowUs);

/** The span's time minus the union of its children. */
function ownTime(span: SpanSummary, children: readonly SpanSummary[], nowUs: number): number {
  const end = findEnd(span, nowUs);
  let covered = 0;
  let until = span.start_us;
  for (const child of children) {
    const from = Math.max(until, child.start_us);
    const to = Math.min(end, findEnd(child, nowUs));
    if (to > from) {
      covered += to - from;
      until = to;
    }
  }
  return Math.max(0, end - span.start_us - covered);
}

/** From the root, always the child that ended last, then the last one that ended before its start, and so on. */
function findCritical(
  children: ReadonlyMap<string | null, readonly SpanSummary[]>,
  nowUs: number,
): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...(children.get(null) ?? [])].slice(0, 1);
  for (let span = waiting.pop(); span !== undefined; span = waiting.pop()) {
    if (found.has(span.id)) continue;
    found.add(span.id);
    let until = findEnd(span, nowUs);
    const byEnd = [...(children.get(span.id) ?? [])].sort((a, b) => findEnd(b, nowUs) - findEnd(a, nowUs));
    for (const child of byEnd) {
      if (findEnd(child, nowUs) > until) continue;
      waiting.push(child);
      until = child.start_us;
    }
  }
  return found;
}

/** Indexes (in `nodes`) of the visible rows. */
export function visibleRows({ nodes }: SpanTree, folded: ReadonlySet<string>): readonly number[] {
  const rows: number[] = [];
  for (let at = 0; at < nodes.length;) {
    const node = nodes[at];
    if (node === undefined) break;
    rows.push(at);
    at += folded.has(node.span.id) ? node.below + 1 : 1;
  }
  return rows;
}

/** Ancestors of a span, which must unfold to show it. */
export function listAncestors({ nodes }: SpanTree, place: number): readonly string[] {
  const found: string[] = [];
  for (let at = nodes[place]?.parent ?? -1; at >= 0; at = nodes[at]?.parent ?? -1) {
    const id = nodes[at]?.span.id;
    if (id !== undefined) found.push(id);
  }
  return found;
}

/** @param by 1 forwards, -1 backwards; wraps around. -1 without a match. */
export function nextPlace(tree: SpanTree, from: number, by: 1 | -1, isWanted: (node: SpanNode) => boolean): number {
  const { length } = tree.nodes;
  for (let step = 1; step <= length; step++) {
    const place = (((from + by * step) % length) + length) % length;
    const node = tree.nodes[place];
    if (node !== undefined && isWanted(node)) return place;
  }
  return -1;
}
