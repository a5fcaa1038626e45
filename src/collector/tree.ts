// Tree: the spans of one trace on their way to their places. Knows no time limits: assemble.ts says when waiting is over.
// A span is placed as soon as its parent is; until then it waits at its parent's node, which may itself be unknown.
// Invariants:
//   TT1. A place is decided once and never contradicted: a late ancestor finds its own place without moving anything.
//   TT2. Every placed run keeps DO1–DO5, because its order is made by walking up placed nodes to the one root.
//   TT3. One span has the trace's own id: the first root. Later roots become its children.
//   TT4. No order has more than DEPTH_MAX segments: deeper spans begin again under the root, with their descendants.
//   TT5. Work is linear in the spans: nothing recurses, no chain is climbed twice.
import { uuidV5 } from "../base/ids.ts";
import {
  idOfSegment,
  readDottedOrder,
  SEGMENT_TIME_CHARS,
  segmentTime,
  uuidOfSpan,
  uuidOfTrace,
} from "./dotted-order.ts";
import type { TraceRun, UnplacedRun } from "./translate/trace-run.ts";

/** No honest trace is this deep, and the sum of all orders of a chain grows with its square. */
export const DEPTH_MAX = 128;

interface Node {
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

export type Arrival = "placed" | "waiting" | "filtered" | "duplicate" | "amended";

export function createTree(key: string, now: number): Tree {
  return {
    key,
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

export type Emit = (run: TraceRun) => void;

/** One span arrives. Everything that can be placed because of it is emitted, parents first. */
export function arrive(tree: Tree, run: UnplacedRun, now: number, emit: Emit): Arrival {
  const time = segmentTime(run.start);
  if (tree.earliest === "" || time < tree.earliest) tree.earliest = time;
  const known = tree.nodes.get(run.spanId);
  if (known !== undefined && known.state !== "unknown") return arriveAgain(tree, known, run, emit);
  const node = known ?? createNode(run.spanId);
  if (known === undefined) tree.nodes.set(run.spanId, node);
  node.run = run;
  if (run.content !== null && placeAsClaimed(tree, node, run, emit)) return "placed";
  const outcome: Arrival = run.content === null ? "filtered" : "placed";
  const parentless = run.parentSpanId === "" || run.parentSpanId === run.spanId;
  if (parentless || (run.isRoot && !tree.rootTaken)) {
    settle(tree, node, null, emit); // TT3
    return outcome;
  }
  const parent = tree.nodes.get(run.parentSpanId) ?? createNode(run.parentSpanId);
  if (parent.state === "placed" || parent.state === "promised" || parent.state === "filtered") {
    settle(tree, node, parent.state === "filtered" ? parent.parent : parent, emit);
    return outcome;
  }
  tree.nodes.set(run.parentSpanId, parent);
  (parent.children ??= []).push(node);
  node.state = "waiting";
  node.waitsSince = now;
  if (tree.waitingCount === 0) tree.oldestWait = now;
  tree.waitingCount += 1;
  tree.waitingBytes += sizeOf(run);
  return run.content === null ? "filtered" : "waiting";
}

/** The same span a second time: the same content is ignored, other content amends what was uploaded. */
function arriveAgain(tree: Tree, node: Node, run: UnplacedRun, emit: Emit): Arrival {
  if (run.content === null || node.state === "filtered") return "duplicate";
  const print = fingerprint(run);
  if (node.state === "promised") {
    node.state = "placed";
    node.fingerprint = print;
    if (node === tree.root) tree.rootTaken = true;
    emitAt(tree, node, run, false, emit);
    return "placed";
  }
  if (node.state === "waiting") {
    const before = node.run;
    if (before === null || fingerprint(before) === print) return "duplicate";
    tree.waitingBytes += sizeOf(run) - sizeOf(before);
    node.run = run;
    return "duplicate"; // the older one was never uploaded
  }
  if (node.fingerprint === print) return "duplicate";
  node.fingerprint = print;
  emitAt(tree, node, run, true, emit);
  return "amended";
}

/**
 * Ends the waiting of every span that waits since `limit` or longer, and of those above and below it. The topmost one
 * whose parent never came goes under the root, in a ring the earliest one does; the rest keeps its true hierarchy.
 * Returns how many were re-rooted.
 */
export function release(tree: Tree, limit: number, emit: Emit): number {
  let reRooted = 0;
  let oldest = Infinity;
  for (const node of tree.nodes.values()) {
    if (node.state !== "waiting") continue;
    if (node.waitsSince > limit) {
      oldest = Math.min(oldest, node.waitsSince);
      continue;
    }
    const top = topOf(tree, node);
    if (top.run === null) continue;
    settle(tree, top, pinRoot(tree, top.run), emit);
    reRooted += 1;
  }
  tree.oldestWait = oldest;
  return reRooted;
}

/** Climbs waiting parents. Everything on the way is placed right after, so each node is climbed over once (TT5). */
function topOf(tree: Tree, from: Node): Node {
  const seen = new Set<Node>();
  let at = from;
  while (!seen.has(at)) {
    seen.add(at);
    const above = tree.nodes.get(at.run?.parentSpanId ?? "");
    if (above === undefined || above.state !== "waiting") return at;
    at = above;
  }
  let first = at; // a ring: `at` is on it
  for (let next = parentOf(tree, at); next !== at; next = parentOf(tree, next)) if (earlier(next, first)) first = next;
  return first;
}

function parentOf(tree: Tree, node: Node): Node {
  return tree.nodes.get(node.run?.parentSpanId ?? "") ?? node;
}

function earlier(a: Node, b: Node): boolean {
  const left = a.run?.start ?? { sec: 0, nano: 0 };
  const right = b.run?.start ?? { sec: 0, nano: 0 };
  return left.sec !== right.sec
    ? left.sec < right.sec
    : left.nano !== right.nano
      ? left.nano < right.nano
      : a.spanId < b.spanId;
}

/** Puts `node` below `above` (null: at the top), then everything that waited for it, without recursion (TT5). */
function settle(tree: Tree, node: Node, above: Node | null, emit: Emit): void {
  const stack: { readonly node: Node; readonly above: Node | null }[] = [{ node, above }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node: one, above: under } = next;
    const run = one.run;
    if (run === null) continue;
    if (one.state === "waiting") {
      tree.waitingCount -= 1;
      tree.waitingBytes -= sizeOf(run);
    }
    one.run = null;
    if (run.content === null) {
      one.state = "filtered";
      one.parent = under;
    } else {
      place(tree, one, run, under);
      emitAt(tree, one, run, false, emit);
    }
    const children = one.children;
    one.children = null;
    if (children === null) continue;
    // With no kept node above, the earliest child becomes the root: sort, so that this does not hang on the order of arrival.
    if (one.state === "filtered" && under === null) children.sort((a, b) => (earlier(a, b) ? -1 : 1));
    const below = one.state === "filtered" ? under : one;
    // A ring closes on itself: the node that was taken out of it first is placed already.
    for (const child of children.reverse()) if (child.state === "waiting") stack.push({ node: child, above: below });
  }
}

function place(tree: Tree, node: Node, run: UnplacedRun, above: Node | null): void {
  node.state = "placed";
  node.fingerprint = fingerprint(run);
  if (above === null && !tree.rootTaken) {
    const pinned = tree.root;
    node.segment = pinned?.segment ?? segmentTime(run.start) + traceIdFor(run); // TT1: the pin holds
    node.parent = null;
    node.depth = 1;
    tree.root = node;
    tree.rootTaken = true;
    if (pinned !== null || run.claims !== null) tree.byRunId.set(idOfSegment(node.segment), node);
    return;
  }
  const parent = above === null || above.depth >= DEPTH_MAX ? pinRoot(tree, run) : above; // TT3, TT4
  const time = segmentTime(run.start);
  const parentTime = parent.segment.slice(0, SEGMENT_TIME_CHARS);
  // A child that began before its parent (clock skew) sorts with its parent; its own start_time stays as sent.
  node.segment = (time < parentTime ? parentTime : time) + runIdFor(tree, run, parent);
  node.parent = parent;
  node.depth = parent.depth + 1;
  if (run.claims !== null) tree.byRunId.set(idOfSegment(node.segment), node);
}

/** The root's node; when no root came yet, one is pinned that the real root will take over (TT1). */
function pinRoot(tree: Tree, cause: UnplacedRun): Node {
  if (tree.root !== null) return tree.root;
  const pinned = createNode("");
  pinned.state = "promised";
  pinned.segment = tree.earliest + traceIdFor(cause);
  pinned.depth = 1;
  tree.root = pinned;
  return pinned;
}

function traceIdFor(run: UnplacedRun): string {
  return run.claims !== null && run.claims.traceId !== "" ? run.claims.traceId : uuidOfTrace(run.traceId);
}

/** The run's id below the root: what its SDK calls it, else its span id. Never the trace's, its parent's, or another run's. */
function runIdFor(tree: Tree, run: UnplacedRun, parent: Node): string {
  const taken = (id: string): boolean =>
    id === idOfSegment(tree.root?.segment ?? "") || id === idOfSegment(parent.segment);
  const claimed = run.claims?.runId ?? "";
  if (claimed !== "" && !taken(claimed) && !tree.byRunId.has(claimed)) return claimed;
  const padded = uuidOfSpan(run.spanId);
  return taken(padded) ? uuidV5(run.spanId, uuidOfTrace(run.traceId)) : padded; // 64-bit trace ids: root span id = trace id
}

function emitAt(tree: Tree, node: Node, run: UnplacedRun, amends: boolean, emit: Emit): void {
  if (run.content === null) return;
  emit({
    tenant: run.tenant,
    span: run,
    id: idOfSegment(node.segment),
    traceId: idOfSegment(tree.root?.segment ?? node.segment),
    parentRunId: node.parent === null ? "" : idOfSegment(node.parent.segment),
    dottedOrder: orderOf(node),
    amends,
    content: run.content,
  });
}

function orderOf(node: Node): string {
  let order = node.segment;
  for (let above = node.parent; above !== null; above = above.parent) order = `${above.segment}.${order}`; // ≤ DEPTH_MAX
  return order;
}

/** An SDK that names its runs also says where they belong; believed when it fits what has been decided (TT1). */
function placeAsClaimed(tree: Tree, node: Node, run: UnplacedRun, emit: Emit): boolean {
  const claims = run.claims;
  if (claims === null) return false;
  const promised = tree.byRunId.get(claims.runId);
  if (promised !== undefined && promised.state !== "promised") return false; // another span has this id
  const segments = readDottedOrder(promised === undefined ? claims.dottedOrder : orderOf(promised), DEPTH_MAX);
  if (segments === null || idOfSegment(segments.at(-1) ?? "") !== claims.runId) return false;
  if (tree.root === null && idOfSegment(segments[0] ?? "") !== traceIdFor(run)) return false;
  if (segments.length === 1 && tree.rootTaken) return false;
  if (!promise(tree, node, segments)) return false;
  const children = node.children ?? [];
  node.children = null;
  node.run = null;
  arriveAgain(tree, node, run, emit);
  for (const child of children) settle(tree, child, node, emit);
  return true;
}

/**
 * Promises `node` the place that `segments` describe, and nodes to its ancestors that have not come yet.
 * False: it contradicts what has been decided.
 */
function promise(tree: Tree, node: Node, segments: readonly string[]): boolean {
  const ids = segments.map(idOfSegment);
  if (new Set(ids).size !== ids.length) return false;
  const own = segments.length - 1;
  if (own === 0 && tree.root !== null && tree.root.segment !== segments[0]) return false;
  let at = own - 1;
  let above: Node | null = null;
  for (; at >= 0 && above === null; at--) above = (at === 0 ? tree.root : tree.byRunId.get(ids[at] ?? "")) ?? null;
  if (above !== null && orderOf(above) !== segments.slice(0, at + 2).join(".")) return false;
  for (let next = at + (above === null ? 1 : 2); next <= own; next++) {
    const one: Node = next === own ? node : createNode("");
    one.state = "promised";
    one.segment = segments[next] ?? "";
    one.parent = above;
    one.depth = next + 1;
    tree.byRunId.set(ids[next] ?? "", one);
    if (next === 0) tree.root = one;
    above = one;
  }
  return true;
}

/** A decision of an earlier process. Afterwards its span, its children and its root find the same places again. */
export function recallPlace(tree: Tree, spanId: string, dottedOrder: string): boolean {
  const segments = readDottedOrder(dottedOrder, DEPTH_MAX);
  if (segments === null || tree.nodes.has(spanId)) return false;
  const node = createNode(spanId);
  if (!promise(tree, node, segments)) return false;
  tree.nodes.set(spanId, node);
  if (segments.length === 1) tree.rootTaken = true; // by this span, also while it has not come again
  return true;
}

/** What outlives a forgotten tree: enough to keep its root's promise. */
export interface Pin {
  readonly segment: string;
  readonly taken: boolean;
}

export function pinOf(tree: Tree): Pin | null {
  return tree.root === null ? null : { segment: tree.root.segment, taken: tree.rootTaken };
}

export function restorePin(tree: Tree, pin: Pin): void {
  const root = createNode("");
  root.state = "promised";
  root.segment = pin.segment;
  root.depth = 1;
  tree.root = root;
  tree.rootTaken = pin.taken;
}

function createNode(spanId: string): Node {
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

function sizeOf(run: UnplacedRun): number {
  return WAITING_OVERHEAD + (run.content?.size ?? 0);
}

/** What a waiting span costs besides its text. */
const WAITING_OVERHEAD = 512;

/** Tells a re-sent span from a changed one. Lengths and times are enough: a changed span has a later end or other text. */
function fingerprint(run: UnplacedRun): number {
  const content = run.content;
  if (content === null) return 0;
  let print = content.size;
  for (const part of [content.inputs, content.outputs, content.extra, content.events, content.error, content.name])
    print = (Math.imul(print, 31) + part.length) | 0;
  for (let at = 17; at < content.endTime.length; at++)
    print = (Math.imul(print, 31) + content.endTime.charCodeAt(at)) | 0;
  return print;
}
