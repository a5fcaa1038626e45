// Assemble: gives every translated span its place in its trace (receive → decode → translate → assemble → batch → …).
// Routes each span to its tree and sweeps the trees after their timeouts. Invariants:
//   - Every added span is emitted once (again when it arrives with different content), counted as a duplicate, or
//     filtered. There is no other outcome.
//   - Every emitted run keeps dotted-order.1–5, in any order of arrival.
//   - Nothing waits longer than `spanTtlMs`, nor longer than `orphanTimeoutMs` after the last span of its trace. Both
//     are measured until `quietUntil()`: no wait ends in the middle of a request.
//   - Memory is bounded: waiting bytes, nodes and pins each have a limit; reaching one releases the oldest trace early
//     (its spans are emitted, never dropped) and evicts everything except the order of its root.
//   - After drain() nothing waits.
// Decisions (durable mode). A place depends on earlier spans and on time, so a replay after a crash could decide
// differently. The spool therefore writes `toDecision(run)` of every emitted run to disk before the first upload of
// that run, keeps it while late spans of the trace may arrive (SPAN_TTL), and passes all decisions to `recall` at
// start, in the order written and before the first add(). Assembly emits a recalled span that the spool replays once
// more, in the same place; one that its sender repeats is a duplicate.
// The orders of the children contain a promised root, so pins need no record. The pieces:
//   trace-table.ts      the trees of all traces, their sums, limits and pins
//   trace-tree.ts       the rules of one tree
//   tree-node.ts        the shape of one tree
//   declared-places.ts   places declared by an SDK or a decision record
//   dotted-order.ts     the order string of a place, and its rules
import type { Clock } from "@holdpoint/base/clock.ts";
import type { TraceRun, TraceRunPlace, UnplacedRun } from "../shared/trace-run.ts";
import { recallPlace } from "./declared-places.ts";
import { arrive, type Arrival, type Emit } from "./trace-tree.ts";
import { buildTreeKey } from "./tree-node.ts";
import {
  createTraceTable,
  keepLimits,
  releaseAll,
  releaseTree,
  findTree,
  within,
  type AssembleLimits,
  type TraceTable,
} from "./trace-table.ts";

/** One run's place, in the form that the spool stores. `tenant` is `Tenant.id`, never a key. */
export interface Decision extends Omit<TraceRunPlace, "id" | "prints"> {
  readonly tenant: string;
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
  /** The span has arrived, and its trace is in memory. */
  isKnown(tenant: string, traceId: string, spanId: string): boolean;
  /** Emits all waiting spans. The assembler stays usable. */
  drain(): void;
  waitingBytes(): number;
  countWaitingBytes(tenant: string): number;
  stats(): AssembleStats;
}

/** Interval of the sweep: a quarter of the shortest wait, within these bounds. */
const SWEEP_MS_MIN = 25;
const SWEEP_MS_MAX = 1000;

export function toDecision(run: TraceRun): Decision {
  return {
    tenant: run.tenant.id,
    traceId: run.span.traceId,
    spanId: run.span.spanId,
    dottedOrder: run.dottedOrder,
    fingerprint: run.fingerprint,
    counts: run.counts,
  };
}

export interface AssemblePorts {
  /** Monotonic ms: the end of every quiet time (pipeline.6). */
  readonly quietUntil: () => number;
  readonly clock: Clock;
  readonly emit: Emit;
}

interface Assembling {
  readonly ports: AssemblePorts;
  readonly table: TraceTable;
  readonly sweepMs: number;
  cancelSweep: (() => void) | null;
}

export function createAssembler(limits: AssembleLimits, ports: AssemblePorts): Assembler {
  const table = createTraceTable(limits, ports.emit);
  const shortestMs = Math.min(limits.orphanTimeoutMs, limits.spanTtlMs);
  const state: Assembling = {
    ports,
    table,
    sweepMs: Math.min(SWEEP_MS_MAX, Math.max(SWEEP_MS_MIN, shortestMs / 4)),
    cancelSweep: null,
  };
  return {
    add: (run) => add(state, run),
    recall(decision) {
      const tree = findTree(table, decision.tenant, decision.traceId, ports.clock.monotonic());
      within(table, tree, () => recallPlace(tree, decision));
      if (table.counts.nodes > limits.nodesMax) keepLimits(table);
    },
    isKnown(tenant, traceId, spanId) {
      const tree = table.trees.get(buildTreeKey(traceId, tenant));
      const node = tree?.nodes.get(spanId);
      return node !== undefined && node.state !== "unknown" && node.state !== "promised";
    },
    drain() {
      state.cancelSweep?.();
      state.cancelSweep = null;
      releaseAll(table);
    },
    waitingBytes: () => table.counts.waitingBytes,
    countWaitingBytes: (tenant) => table.countWaitingBytes.get(tenant) ?? 0,
    stats: () => ({ ...table.counts, traces: table.trees.size }),
  };
}

function add(state: Assembling, run: UnplacedRun): Arrival {
  const { ports, table } = state;
  const { counts, limits } = table;
  const now = ports.clock.monotonic();
  const tree = findTree(table, run.tenant.id, run.traceId, now);
  const arrival = within(table, tree, () => arrive(tree, run, now, table.emit));
  if (arrival === "duplicate" || arrival === "merged") counts.duplicates += 1;
  else if (arrival === "filtered") counts.filtered += 1;
  else if (arrival === "amended") counts.amended += 1;
  if (counts.nodes > limits.nodesMax || counts.waitingBytes > limits.waitingBytesMax) keepLimits(table);
  planSweep(state);
  // A limit may have released this span already.
  return arrival === "waiting" && tree.nodes.get(run.spanId)?.state !== "waiting" ? "placed" : arrival;
}

function planSweep(state: Assembling): void {
  if (state.cancelSweep === null && state.table.waitingTrees.size > 0)
    state.cancelSweep = state.ports.clock.after(state.sweepMs, () => sweep(state));
}

function sweep(state: Assembling): void {
  const { table } = state;
  const { orphanTimeoutMs, spanTtlMs } = table.limits;
  state.cancelSweep = null;
  const now = state.ports.quietUntil();
  for (const tree of table.waitingTrees) {
    if (now - tree.lastSeen >= orphanTimeoutMs) releaseTree(table, tree, { limit: Infinity, isDue: true });
    else if (now - tree.oldestWait >= spanTtlMs) releaseTree(table, tree, { limit: now - spanTtlMs, isDue: true });
  }
  planSweep(state);
}
