// Assemble: gives every translated span its place in its trace (receive → decode → translate → assemble → batch → …).
// Holds the trees of all traces, ends waiting, and evicts old traces. The rules of one tree are in trace-tree.ts, its
// shape in tree-node.ts, places claimed by an SDK or a decision record in claimed-places.ts.
// Invariants:
//   assemble.1. Every added span is emitted once (again when it arrives with different content), counted as a
//        duplicate, or filtered. There is no other outcome.
//   assemble.2. Every emitted run keeps dotted-order.1–5, in any order of arrival.
//   assemble.3. Nothing waits longer than `spanTtlMs`, nor longer than `orphanTimeoutMs` after the last span of its
//        trace.
//   assemble.4. Memory is bounded: waiting bytes, nodes and pins each have a limit; reaching one releases the oldest
//        trace early (its spans are emitted, never dropped) and evicts everything except the order of its root.
//   assemble.5. After drain() nothing waits.
// Decisions (durable mode). A place depends on earlier spans and on time, so a replay after a crash could decide
// differently. The spool therefore writes `decisionOf(run)` of every emitted run to disk before the first upload of
// that run, keeps it while late spans of the trace may arrive (SPAN_TTL), and passes all decisions to `recall` at
// start, in the order written and before the first add(). A recalled span is emitted once more, in the same place. The
// orders of the children contain a promised root, so pins need no record.
import type { Clock } from "../../base/clock.ts";
import { arrive, release, type Arrival, type Emit } from "./trace-tree.ts";
import { pinOf, recallPlace, restorePin, type Pin } from "./claimed-places.ts";
import { createTree, type Tree } from "./tree-node.ts";
import type { TraceRun, UnplacedRun } from "../shared/trace-run.ts";

export interface AssembleLimits {
  /** SPAN_TTL: the longest wait, and the time after its last span that a trace stays in memory. */
  readonly spanTtlMs: number;
  /** ORPHAN_TIMEOUT_MS: time after the last span of a trace before its orphans are emitted without their parents. */
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

/** One run's place, in the form that the spool stores. `tenant` is `Tenant.id`, never a key. */
export interface Decision {
  readonly tenant: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly dottedOrder: string;
}

export interface AssembleStats {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly traces: number;
  readonly nodes: number;
  readonly duplicates: number;
  readonly filtered: number;
  readonly amended: number;
  /** Spans attached to the root because their parent did not arrive (in time). */
  readonly reRooted: number;
  /** Traces evicted to stay within a limit. */
  readonly evicted: number;
}

export interface Assembler {
  add(run: UnplacedRun): Arrival;
  recall(decision: Decision): void;
  /** Emits all waiting spans. The assembler stays usable. */
  drain(): void;
  waitingBytes(): number;
  waitingBytesOf(tenant: string): number;
  stats(): AssembleStats;
}

/** Interval of the sweep: a quarter of the shortest wait, within these bounds. */
const SWEEP_MS_MIN = 25;
const SWEEP_MS_MAX = 1000;
/** The order of traces by last span is exact to within this time: a move costs more than a comparison. */
const ORDER_MS = 1000;

export function decisionOf(run: TraceRun): Decision {
  return {
    tenant: run.tenant.id,
    traceId: run.span.traceId,
    spanId: run.span.spanId,
    dottedOrder: run.dottedOrder,
  };
}

export function createAssembler(
  limits: AssembleLimits,
  ports: { readonly clock: Clock; readonly emit: Emit },
): Assembler {
  const { clock, emit } = ports;
  /** Least recently seen first, to within ORDER_MS. */
  const trees = new Map<string, Tree>();
  const pins = new Map<string, Pin>();
  const waitingTrees = new Set<Tree>();
  const waitingBytesOf = new Map<string, number>();
  const counts = {
    waiting: 0,
    waitingBytes: 0,
    nodes: 0,
    duplicates: 0,
    filtered: 0,
    amended: 0,
    reRooted: 0,
    evicted: 0,
  };
  const shortestMs = Math.min(limits.orphanTimeoutMs, limits.spanTtlMs);
  const sweepMs = Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, shortestMs / 4));
  let last: Tree | null = null;
  let cancelSweep: (() => void) | null = null;

  function treeOf(tenant: string, traceId: string, now: number): Tree {
    const key = traceId + tenant;
    let tree = last !== null && last.key === key ? last : trees.get(key); // spans of a trace arrive in groups
    if (tree === undefined) {
      tree = createTree(key, tenant, now);
      trees.set(key, tree);
      const pin = pins.get(key);
      if (pin !== undefined) {
        restorePin(tree, pin);
        pins.delete(key);
      }
      forgetOld(now);
    } else if (now - tree.listedAt >= ORDER_MS) {
      tree.listedAt = now;
      trees.delete(key);
      trees.set(key, tree);
    }
    tree.lastSeen = now;
    last = tree;
    return tree;
  }

  /** Runs `change` on a tree and updates the sums. */
  function within<T>(tree: Tree, change: () => T): T {
    const { waitingCount, waitingBytes } = tree;
    const nodes = tree.nodes.size;
    const result = change();
    counts.waiting += tree.waitingCount - waitingCount;
    if (tree.waitingBytes !== waitingBytes) hold(tree.tenant, tree.waitingBytes - waitingBytes);
    counts.nodes += tree.nodes.size - nodes;
    if (tree.waitingCount === 0) {
      if (waitingCount > 0) waitingTrees.delete(tree);
    } else if (waitingCount === 0) waitingTrees.add(tree);
    return result;
  }

  function hold(tenant: string, bytes: number): void {
    counts.waitingBytes += bytes;
    const left = (waitingBytesOf.get(tenant) ?? 0) + bytes;
    if (left === 0) waitingBytesOf.delete(tenant);
    else waitingBytesOf.set(tenant, left);
  }

  function releaseTree(tree: Tree, limit: number): void {
    counts.reRooted += within(tree, () => release(tree, limit, emit));
  }

  function forget(tree: Tree): void {
    releaseTree(tree, Infinity); // assemble.4: emitted, not dropped
    trees.delete(tree.key);
    counts.nodes -= tree.nodes.size;
    if (last === tree) last = null;
    const pin = pinOf(tree);
    if (pin === null) return;
    pins.set(tree.key, pin);
    if (pins.size <= limits.pinsMax) return;
    const oldest = pins.keys().next().value;
    if (oldest !== undefined) pins.delete(oldest);
  }

  function forgetOld(now: number): void {
    for (const tree of trees.values()) {
      if (now - tree.lastSeen < limits.spanTtlMs) return;
      forget(tree);
    }
  }

  function keepLimits(): void {
    while (counts.waitingBytes > limits.waitingBytesMax) {
      const oldest = waitingTrees.values().next().value;
      if (oldest === undefined) break;
      releaseTree(oldest, Infinity);
      counts.evicted += 1;
    }
    while (counts.nodes > limits.nodesMax) {
      const oldest = trees.values().next().value;
      if (oldest === undefined) break;
      forget(oldest);
      counts.evicted += 1;
    }
  }

  function sweep(): void {
    cancelSweep = null;
    const now = clock.monotonic();
    for (const tree of waitingTrees) {
      if (now - tree.lastSeen >= limits.orphanTimeoutMs) releaseTree(tree, Infinity);
      else if (now - tree.oldestWait >= limits.spanTtlMs) releaseTree(tree, now - limits.spanTtlMs); // assemble.3
    }
    planSweep();
  }

  function planSweep(): void {
    if (cancelSweep === null && waitingTrees.size > 0) cancelSweep = clock.after(sweepMs, sweep);
  }

  return {
    add(run) {
      const now = clock.monotonic();
      const tree = treeOf(run.tenant.id, run.traceId, now);
      const arrival = within(tree, () => arrive(tree, run, now, emit));
      if (arrival === "duplicate" || arrival === "merged") counts.duplicates += 1;
      else if (arrival === "filtered") counts.filtered += 1;
      else if (arrival === "amended") counts.amended += 1;
      if (counts.nodes > limits.nodesMax || counts.waitingBytes > limits.waitingBytesMax) keepLimits();
      planSweep();
      // A limit may have released this span already: then it does not wait.
      return arrival === "waiting" && tree.nodes.get(run.spanId)?.state !== "waiting" ? "placed" : arrival;
    },
    recall(decision) {
      const tree = treeOf(decision.tenant, decision.traceId, clock.monotonic());
      within(tree, () => recallPlace(tree, decision.spanId, decision.dottedOrder));
      if (counts.nodes > limits.nodesMax) keepLimits();
    },
    drain() {
      cancelSweep?.();
      cancelSweep = null;
      for (const tree of waitingTrees) releaseTree(tree, Infinity); // assemble.5
    },
    waitingBytes: () => counts.waitingBytes,
    waitingBytesOf: (tenant) => waitingBytesOf.get(tenant) ?? 0,
    stats: () => ({ ...counts, traces: trees.size }),
  };
}
