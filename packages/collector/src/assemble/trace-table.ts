// Trace table: the trees of all traces by trace and tenant, the sums over them, and the pins of evicted traces.
// Rules: assemble.ts.
import { SEGMENT_TIME_CHARS, uuidOfTrace } from "./dotted-order.ts";
import { release, type Emit, type ReleaseRule } from "./trace-tree.ts";
import { createNode, createTree, buildTreeKey, buildSegment, type Tree } from "./tree-node.ts";

export interface AssembleLimits {
  /** SPAN_TTL: the longest wait, and the time after its last span that a trace stays in memory. */
  readonly spanTtlMs: number;
  /** Time after the last span of a trace before its orphans are emitted without their parents. */
  readonly orphanTimeoutMs: number;
  readonly waitingBytesMax: number;
  /** Spans in memory, for late children to find their parents. About 300 bytes each. */
  readonly nodesMax: number;
  /** Evicted traces whose root order is still in memory. About 150 bytes each. */
  readonly pinsMax: number;
}

export const ASSEMBLE_LIMITS: AssembleLimits = {
  spanTtlMs: 300_000,
  orphanTimeoutMs: 10_000,
  waitingBytesMax: 32 * 1024 * 1024,
  nodesMax: 100_000,
  pinsMax: 50_000,
};

/** The order of traces by last span is exact to within this time: a move costs more than a comparison. */
const ORDER_MS = 1000;

export interface TraceTable {
  readonly limits: AssembleLimits;
  readonly emit: Emit;
  /** Least recently seen first, to within ORDER_MS. */
  readonly trees: Map<string, Tree>;
  readonly pins: Map<string, Pin>;
  readonly waitingTrees: Set<Tree>;
  readonly countWaitingBytes: Map<string, number>;
  readonly counts: Counts;
  /** The tree of the previous span: spans of a trace arrive in groups. */
  last: Tree | null;
}

interface Counts {
  waiting: number;
  waitingBytes: number;
  nodes: number;
  duplicates: number;
  filtered: number;
  amended: number;
  reRooted: number;
  evicted: number;
}

export const NO_COUNTS: Readonly<Counts> = {
  waiting: 0,
  waitingBytes: 0,
  nodes: 0,
  duplicates: 0,
  filtered: 0,
  amended: 0,
  reRooted: 0,
  evicted: 0,
};

export function createTraceTable(limits: AssembleLimits, emit: Emit): TraceTable {
  return {
    limits,
    emit,
    trees: new Map(),
    pins: new Map(),
    waitingTrees: new Set(),
    countWaitingBytes: new Map(),
    counts: { ...NO_COUNTS },
    last: null,
  };
}

export function findTree(table: TraceTable, tenant: string, traceId: string, now: number): Tree {
  const { last, trees } = table;
  const isLast = last !== null && last.traceId === traceId && last.tenant === tenant;
  let tree = isLast ? last : trees.get(buildTreeKey(traceId, tenant));
  if (tree === undefined) {
    tree = createTree(traceId, tenant, now);
    const { key } = tree;
    trees.set(key, tree);
    const pin = table.pins.get(key);
    if (pin !== undefined) {
      restoreRoot(tree, pin);
      table.pins.delete(key);
    }
    forgetOld(table, now);
  } else if (now - tree.listedAt >= ORDER_MS) {
    tree.listedAt = now;
    trees.delete(tree.key);
    trees.set(tree.key, tree);
  }
  tree.lastSeen = now;
  table.last = tree;
  return tree;
}

/** Runs `change` on a tree and updates the sums. */
export function within<T>(table: TraceTable, tree: Tree, change: () => T): T {
  const { counts, waitingTrees } = table;
  const { waitingCount, waitingBytes } = tree;
  const nodes = tree.nodes.size;
  const result = change();
  counts.waiting += tree.waitingCount - waitingCount;
  if (tree.waitingBytes !== waitingBytes) hold(table, tree.tenant, tree.waitingBytes - waitingBytes);
  counts.nodes += tree.nodes.size - nodes;
  if (tree.waitingCount === 0) {
    if (waitingCount > 0) waitingTrees.delete(tree);
  } else if (waitingCount === 0) waitingTrees.add(tree);
  return result;
}

function hold({ counts, countWaitingBytes }: TraceTable, tenant: string, bytes: number): void {
  counts.waitingBytes += bytes;
  const left = (countWaitingBytes.get(tenant) ?? 0) + bytes;
  if (left === 0) countWaitingBytes.delete(tenant);
  else countWaitingBytes.set(tenant, left);
}

/** Emits the spans that wait since `limit` or earlier. */
export function releaseTree(table: TraceTable, tree: Tree, rule: ReleaseRule = EARLY): void {
  table.counts.reRooted += within(table, tree, () => release(tree, rule, table.emit));
}

const EARLY: ReleaseRule = { limit: Infinity, isDue: false };

export function releaseAll(table: TraceTable): void {
  for (const tree of table.waitingTrees) releaseTree(table, tree);
}

function forget(table: TraceTable, tree: Tree): void {
  const { counts, pins, trees } = table;
  releaseTree(table, tree); // emitted, not dropped
  if (table.last === tree) table.last = null;
  trees.delete(tree.key);
  counts.nodes -= tree.nodes.size;
  const pin = findPin(tree);
  if (pin === null) return;
  pins.set(tree.key, pin);
  if (pins.size <= table.limits.pinsMax) return;
  const oldest = pins.keys().next().value;
  if (oldest !== undefined) pins.delete(oldest);
}

/** The root of an evicted trace: `taken`, `shown` or `promised`, its time, and its id unless that is the id of the trace. */
type Pin = string;

/** null: the tree has no root yet. */
function findPin({ root, rootShown, rootClaimed, traceId }: Tree): Pin | null {
  if (root === null) return null;
  const { segment } = root;
  const isTrace = segment.endsWith(uuidOfTrace(traceId));
  return [
    rootClaimed ? "taken" : rootShown ? "shown" : "promised",
    isTrace ? segment.slice(0, SEGMENT_TIME_CHARS) : segment,
  ].join(" ");
}

function restoreRoot(tree: Tree, pin: Pin): void {
  const [state, order = ""] = pin.split(" ");
  const root = createNode("");
  root.state = "promised";
  root.segment = order.length > SEGMENT_TIME_CHARS ? order : buildSegment(order, uuidOfTrace(tree.traceId));
  root.depth = 1;
  tree.root = root;
  tree.rootClaimed = state === "taken";
  tree.rootShown = state === "shown";
}

function forgetOld(table: TraceTable, now: number): void {
  for (const tree of table.trees.values()) {
    if (now - tree.lastSeen < table.limits.spanTtlMs) return;
    forget(table, tree);
  }
}

export function keepLimits(table: TraceTable): void {
  const { counts, limits } = table;
  while (counts.waitingBytes > limits.waitingBytesMax) {
    const oldest = table.waitingTrees.values().next().value;
    if (oldest === undefined) break;
    releaseTree(table, oldest);
    counts.evicted += 1;
  }
  while (counts.nodes > limits.nodesMax) {
    const oldest = table.trees.values().next().value;
    if (oldest === undefined) break;
    forget(table, oldest);
    counts.evicted += 1;
  }
}
