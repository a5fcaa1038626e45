// Trace table: the trees of all traces by trace and tenant, the sums over them, and the pins of evicted traces.
// Rules: assemble.3 and assemble.4 (assemble.ts).
import {
  isPacked,
  packTree,
  restoreRoot,
  rootText,
  unpackTree,
  type PackedTree,
  type RootText,
} from "./packed-tree.ts";
import { release, type Emit } from "./trace-tree.ts";
import { createTree, keyOf, type Tree } from "./tree-node.ts";

export interface AssembleLimits {
  /** SPAN_TTL: the longest wait, and the time after its last span that a trace stays in memory. */
  readonly spanTtlMs: number;
  /** ORPHAN_TIMEOUT_MS: time after the last span of a trace before its orphans are emitted without their parents. */
  readonly orphanTimeoutMs: number;
  readonly waitingBytesMax: number;
  /** Time after its last span that a trace is packed, once none of its spans waits. */
  readonly packAfterMs: number;
  /** Spans in memory, for late children to find their parents. About 80 bytes each when packed, otherwise 300. */
  readonly nodesMax: number;
  /** Evicted traces whose root order is still in memory. About 150 bytes each. */
  readonly pinsMax: number;
}

export const ASSEMBLE_LIMITS: AssembleLimits = {
  spanTtlMs: 300_000,
  orphanTimeoutMs: 10_000,
  packAfterMs: 1000,
  waitingBytesMax: 32 * 1024 * 1024,
  nodesMax: 100_000,
  pinsMax: 50_000,
};

/** The order of traces by last span is exact to within this time: a move costs more than a comparison. */
const ORDER_MS = 1000;

/** Traces packed for each new one: all traces of a burst in one go would hold up the next span for 0.1 s. */
const PACKED_AT_ONCE = 8;

export interface TraceTable {
  readonly limits: AssembleLimits;
  readonly emit: Emit;
  /** Least recently seen first, to within ORDER_MS. */
  readonly trees: Map<string, Tree | PackedTree>;
  /** Trees that may be packed once they are quiet; least recently seen first, to within ORDER_MS. */
  readonly unpacked: Set<Tree>;
  readonly pins: Map<string, RootText>;
  readonly waitingTrees: Set<Tree>;
  readonly waitingBytesOf: Map<string, number>;
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
    unpacked: new Set(),
    pins: new Map(),
    waitingTrees: new Set(),
    waitingBytesOf: new Map(),
    counts: { ...NO_COUNTS },
    last: null,
  };
}

export function treeOf(table: TraceTable, tenant: string, traceId: string, now: number): Tree {
  const { last, trees, unpacked } = table;
  const isLast = last !== null && last.traceId === traceId && last.tenant === tenant;
  let tree = isLast ? last : unpackedTree(table, keyOf(traceId, tenant));
  if (tree === null) {
    packQuiet(table, now);
    tree = createTree(traceId, tenant, now);
    const { key } = tree;
    trees.set(key, tree);
    unpacked.add(tree);
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
    unpacked.delete(tree);
    unpacked.add(tree);
  }
  tree.lastSeen = now;
  table.last = tree;
  return tree;
}

/** null: no span of the trace is in memory. */
function unpackedTree({ trees, unpacked }: TraceTable, key: string): Tree | null {
  const known = trees.get(key);
  if (known === undefined || !isPacked(known)) return known ?? null;
  const tree = unpackTree(known);
  trees.set(key, tree);
  unpacked.add(tree);
  return tree;
}

function packQuiet(table: TraceTable, now: number): void {
  let left = PACKED_AT_ONCE;
  for (const tree of table.unpacked) {
    if (left === 0 || now - tree.lastSeen < table.limits.packAfterMs) return;
    left -= 1;
    table.unpacked.delete(tree);
    const packed = packTree(tree);
    if (packed === null) continue; // it comes back with its next span, or when its spans no longer wait
    table.trees.set(tree.key, packed);
    if (table.last === tree) table.last = null;
  }
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

function hold({ counts, waitingBytesOf }: TraceTable, tenant: string, bytes: number): void {
  counts.waitingBytes += bytes;
  const left = (waitingBytesOf.get(tenant) ?? 0) + bytes;
  if (left === 0) waitingBytesOf.delete(tenant);
  else waitingBytesOf.set(tenant, left);
}

/** Emits the spans that wait since `limit` or earlier. */
export function releaseTree(table: TraceTable, tree: Tree, limit: number): void {
  table.counts.reRooted += within(table, tree, () => release(tree, limit, table.emit));
  table.unpacked.add(tree);
}

export function releaseAll(table: TraceTable): void {
  for (const tree of table.waitingTrees) releaseTree(table, tree, Infinity);
}

function forget(table: TraceTable, tree: Tree | PackedTree): void {
  const { counts, pins, trees, unpacked } = table;
  if (!isPacked(tree)) {
    releaseTree(table, tree, Infinity); // assemble.4: emitted, not dropped
    unpacked.delete(tree);
    if (table.last === tree) table.last = null;
  }
  trees.delete(tree.key);
  counts.nodes -= isPacked(tree) ? tree.spans : tree.nodes.size;
  const pin = isPacked(tree) ? tree.root : rootText(tree);
  if (pin === null) return;
  pins.set(tree.key, pin);
  if (pins.size <= table.limits.pinsMax) return;
  const oldest = pins.keys().next().value;
  if (oldest !== undefined) pins.delete(oldest);
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
    releaseTree(table, oldest, Infinity);
    counts.evicted += 1;
  }
  while (counts.nodes > limits.nodesMax) {
    const oldest = table.trees.values().next().value;
    if (oldest === undefined) break;
    forget(table, oldest);
    counts.evicted += 1;
  }
}
