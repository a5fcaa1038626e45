// Tree nodes: one span's place in its trace, and one trace's nodes. What is kept of a span after it has been emitted.
import { uuidOfTrace } from "./dotted-order.ts";
import type { UnplacedRun } from "../shared/trace-run.ts";

/** No honest trace is this deep, and the sum of all orders of a chain grows with its square. */
export const DEPTH_MAX = 128;

export interface Node {
  readonly spanId: string;
  /** `unknown`: only its children have been seen. `promised`: placed by a record or an SDK's claim, its span not seen yet. */
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
}

export interface Tree {
  readonly key: string;
  readonly tenant: string;
  readonly nodes: Map<string, Node>;
  /** Only for traces whose SDK names its runs, and for recalled ones. */
  readonly byRunId: Map<string, Node>;
  root: Node | null;
  /** False while the root is only pinned: its order is promised, its span has not come. */
  rootTaken: boolean;
  /** Smallest segment time seen: where a pinned root begins. */
  earliest: string;
  waitingCount: number;
  waitingBytes: number;
  /** Nothing in here waits for longer than since then. */
  oldestWait: number;
  lastSeen: number;
  /** When it last moved to the young end of the list of traces. */
  listedAt: number;
}

export function createTree(key: string, tenant: string, now: number): Tree {
  return {
    key,
    tenant,
    nodes: new Map(),
    byRunId: new Map(),
    root: null,
    rootTaken: false,
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
  };
}

export function orderOf(node: Node): string {
  let order = node.segment;
  for (let above = node.parent; above !== null; above = above.parent) order = `${above.segment}.${order}`; // ≤ DEPTH_MAX
  return order;
}

export function traceIdFor(run: UnplacedRun): string {
  return run.claims !== null && run.claims.traceId !== "" ? run.claims.traceId : uuidOfTrace(run.traceId);
}

/** Segments are kept as long as their trace: `join` makes one flat string, `+` would keep the pieces alive as well. */
export function segmentOf(time: string, id: string): string {
  return [time, id].join("");
}
