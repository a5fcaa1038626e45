// Tree nodes: one span's place in its trace, and one trace's nodes. They outlive the emitted span.
import { uuidOfTrace } from "./dotted-order.ts";
import type { UnplacedRun } from "../shared/trace-run.ts";

/** Real traces are far less deep, and the total length of all orders of a chain grows with its square. */
export const DEPTH_MAX = 128;

export interface Node {
  readonly spanId: string;
  /**
   * `unknown`: only children have arrived. `promised`: has a place from a record or an SDK's declaration, but no span
   * yet.
   */
  state: "unknown" | "waiting" | "placed" | "promised" | "filtered";
  /** While waiting. */
  run: UnplacedRun | null;
  /** Monotonic ms. */
  waitsSince: number;
  /** Children that wait for this node. */
  children: Node[] | null;
  /** Once placed: the node above. Once filtered: the nearest kept node above, null when there is none. */
  parent: Node | null;
  segment: string;
  depth: number;
  fingerprint: number;
  /** Once placed: its tokens, as twin-calls.ts writes them. */
  counts: string;
  /** A run below it has the same call. */
  hasTwin: boolean;
  /** A run above or below it has the same call, and its usage. */
  twin: Twin | null;
  /** Tokens of the calls below it, while its own are not known. */
  callsBelow: string[] | null;
}

export interface Twin {
  readonly place: "above" | "below";
  readonly hasCost: boolean;
}

export interface Tree {
  readonly key: string;
  readonly traceId: string;
  readonly tenant: string;
  readonly nodes: Map<string, Node>;
  /** Only for recalled traces and for SDKs that name their runs; null for all others. */
  byRunId: Map<string, Node> | null;
  root: Node | null;
  /** False while the root is only pinned: children use its order, its span has not arrived. */
  rootClaimed: boolean;
  /** The backend has an added run in the root's place. */
  rootShown: boolean;
  /** The next run that is placed needs a root at the backend. */
  needsRoot: boolean;
  /** The filtered span at the top, before any span below it. */
  vacant: UnplacedRun | null;
  /** Smallest segment time so far: the start of a pinned root. */
  earliest: string;
  waitingCount: number;
  waitingBytes: number;
  /** Lower bound of `waitsSince` of all waiting nodes. */
  oldestWait: number;
  lastSeen: number;
  /** Time of the last move to the newest end of the list of traces. */
  listedAt: number;
}

/** Segments and keys live as long as their trace: `join` makes one flat string, `+` would keep the parts alive as well. */
function flat(...parts: readonly string[]): string {
  return parts.join("");
}

export function buildTreeKey(traceId: string, tenant: string): string {
  return flat(traceId, tenant);
}

export function createTree(traceId: string, tenant: string, now: number): Tree {
  return {
    key: buildTreeKey(traceId, tenant),
    traceId,
    tenant,
    nodes: new Map(),
    byRunId: null,
    root: null,
    rootClaimed: false,
    rootShown: false,
    needsRoot: false,
    vacant: null,
    earliest: "",
    waitingCount: 0,
    waitingBytes: 0,
    oldestWait: 0,
    lastSeen: now,
    listedAt: now,
  };
}

export function createNode(spanId: string): Node {
  return {
    spanId,
    state: "unknown",
    run: null,
    waitsSince: 0,
    children: null,
    parent: null,
    segment: "",
    depth: 0,
    fingerprint: 0,
    counts: "",
    hasTwin: false,
    twin: null,
    callsBelow: null,
  };
}

export function buildOrder(node: Node): string {
  let order = node.segment;
  for (let above = node.parent; above !== null; above = above.parent) order = `${above.segment}.${order}`; // ≤ DEPTH_MAX
  return order;
}

export function traceIdFor(run: UnplacedRun): string {
  return run.declared !== null && run.declared.traceId !== "" ? run.declared.traceId : uuidOfTrace(run.traceId);
}

export function buildSegment(time: string, id: string): string {
  return flat(time, id);
}

export function noteRunId(tree: Tree, runId: string, node: Node): void {
  (tree.byRunId ??= new Map()).set(runId, node);
}
