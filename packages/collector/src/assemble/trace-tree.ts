// Trace tree: places the spans of one trace. assemble.ts applies the time limits. A span gets its place together with
// its parent; until then it waits at the parent's node, which may itself be unknown. Invariants:
//   - A place is final: a late ancestor gets its own place and moves no other span.
//   - Every placed run keeps dotted-order.1–5, because its order joins the placed nodes up to the one root.
//   - One span has the trace's own id: the first root. Later roots become its children.
//   - No order has more than DEPTH_MAX segments: deeper spans attach to the root, with their descendants.
//   - A trace at the backend has a root. When the parent of a span does not come in time, an added run without content
//     has the root's place, until the span that belongs there amends it. A local parent comes, and a limit or a stop
//     releases spans before their time: there only a remote parent counts as missing.
//   - A filtered span at the top leaves an empty root, once a span below it is placed: spans that have it in common
//     stay siblings.
//   - Usage of one call counts once, of a model run and the nearest model run below it with the same tokens
//     (twin-calls.ts).
//   - Work is linear in the spans: no recursion, and each chain is climbed once.
import { uuidV5 } from "@holdpoint/base/ids.ts";
import { idOfSegment, SEGMENT_TIME_CHARS, segmentTime, uuidOfSpan, uuidOfTrace } from "./dotted-order.ts";
import { takeDeclaredPlace } from "./declared-places.ts";
import {
  createNode,
  DEPTH_MAX,
  noteRunId,
  buildOrder,
  buildSegment,
  traceIdFor,
  type Node,
  type Tree,
} from "./tree-node.ts";
import type { RunContent, TraceRun, UnplacedRun } from "../shared/trace-run.ts";
import { addedRoot } from "./added-root.ts";
import { countedOnce, noteTwin } from "./twin-calls.ts";

/** `merged`: a duplicate of a span that still waits, which takes over its origins. */
export type Arrival = "placed" | "waiting" | "filtered" | "duplicate" | "merged" | "amended";

export type Emit = (run: TraceRun) => void;

/** Adds one span and emits every span that now has a place, parents first. */
export function arrive(tree: Tree, run: UnplacedRun, now: number, emit: Emit): Arrival {
  const time = segmentTime(run.start);
  if (tree.earliest === "" || time < tree.earliest) tree.earliest = time;
  const known = tree.nodes.get(run.spanId);
  if (known !== undefined && known.state !== "unknown") return arriveAgain(tree, known, run, emit);
  const node = known ?? createNode(run.spanId);
  if (known === undefined) tree.nodes.set(run.spanId, node);
  node.run = run;
  if (run.content !== null && takeDeclaredPlace(tree, node, run)) {
    node.run = null;
    arriveAgain(tree, node, run, emit);
    const children = node.children ?? [];
    node.children = null;
    for (const child of children) settle(tree, child, node, emit);
    return "placed";
  }
  const outcome: Arrival = run.content === null ? "filtered" : "placed";
  const parentless = run.parentSpanId === "" || run.parentSpanId === run.spanId;
  const knownParent = tree.nodes.get(run.parentSpanId);
  // A declared root does not wait for its parent, but attaches to a parent that is present.
  const top = run.isRoot && (!tree.rootClaimed || knownParent === undefined || knownParent.state === "unknown");
  if (parentless || top) {
    settle(tree, node, null, emit);
    return outcome;
  }
  const parent = knownParent ?? createNode(run.parentSpanId);
  if (parent.state === "placed" || parent.state === "promised" || parent.state === "filtered") {
    settle(tree, node, parent.state === "filtered" ? keptAbove(tree, parent, run) : parent, emit);
    return outcome;
  }
  tree.nodes.set(run.parentSpanId, parent);
  (parent.children ??= []).push(node);
  node.state = "waiting";
  node.waitsSince = Math.floor(now); // a small integer needs no allocation
  if (tree.waitingCount === 0) tree.oldestWait = now;
  tree.waitingCount += 1;
  tree.waitingBytes += estimateSize(run);
  return run.content === null ? "filtered" : "waiting";
}

/** The same span again: equal content has no effect, different content amends the uploaded run. */
function arriveAgain(tree: Tree, node: Node, run: UnplacedRun, emit: Emit): Arrival {
  if (!isKept(run) || node.state === "filtered") return "duplicate";
  const print = fingerprint(run);
  if (node.state === "promised") {
    // What the spool replays has not reached a batch of the earlier process; what a sender repeats has.
    const isStored = node.fingerprint !== 0 && !run.origins.some(({ request }) => request.isReplay === true);
    if (isStored && node.fingerprint === print) return "duplicate";
    node.state = "placed";
    node.fingerprint = print;
    const isShown = isStored || (node === tree.root && tree.rootShown);
    if (node === tree.root) tree.rootClaimed = true;
    noteTwin(node, run.content);
    emit(placedRun(tree, node, run, isShown));
    return isStored ? "amended" : "placed";
  }
  if (node.state === "waiting") {
    const before = node.run;
    if (before === null) return "duplicate";
    const kept = fingerprint(before) === print ? before : run; // the newer content replaces the older
    if (run.origins.length > 0) kept.origins = [...before.origins, ...run.origins];
    kept.prints = [...(before.prints ?? []), ...(run.prints ?? [])];
    if (kept === before) return "merged";
    tree.waitingBytes += estimateSize(run) - estimateSize(before);
    node.run = run;
    return "merged";
  }
  if (node.fingerprint === print) return "duplicate";
  node.fingerprint = print;
  noteTwin(node, run.content);
  emit(placedRun(tree, node, run, true));
  return "amended";
}

export interface ReleaseRule {
  /** Monotonic ms; Infinity: all. */
  readonly limit: number;
  /** Their time is over: what has not come does not come. */
  readonly isDue: boolean;
}

/**
 * Releases every span that waits since `limit` or longer, with its ancestors and descendants. The topmost span with a
 * missing parent attaches to the root (in a ring, the earliest span does); the others keep their hierarchy.
 * Returns how many were re-rooted.
 */
export function release(tree: Tree, { limit, isDue }: ReleaseRule, emit: Emit): number {
  let reRooted = 0;
  let oldest = Infinity;
  for (const node of tree.nodes.values()) {
    if (node.state !== "waiting") continue;
    if (node.waitsSince > limit) {
      oldest = Math.min(oldest, node.waitsSince);
      continue;
    }
    const top = findTop(tree, node);
    if (top.run === null) continue;
    const { parentIs } = top.run;
    tree.needsRoot ||= isDue ? parentIs !== "local" : parentIs === "remote";
    settle(tree, top, pinRoot(tree, top.run), emit);
    reRooted += 1;
  }
  tree.oldestWait = oldest;
  return reRooted;
}

/** Climbs waiting parents. All of them get their places right after: each node is climbed once. */
function findTop(tree: Tree, from: Node): Node {
  const seen = new Set<Node>();
  let at = from;
  while (!seen.has(at)) {
    seen.add(at);
    const above = tree.nodes.get(at.run?.parentSpanId ?? "");
    if (above === undefined || above.state !== "waiting") return at;
    at = above;
  }
  let first = at; // a ring: `at` is on it
  for (let next = findParent(tree, at); next !== at; next = findParent(tree, next))
    if (earlier(next, first)) first = next;
  return first;
}

function findParent(tree: Tree, node: Node): Node {
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

/**
 * Puts `node` below `above` (null: at the top), then every span that waited for it, without recursion.
 */
function settle(tree: Tree, node: Node, above: Node | null, emit: Emit): void {
  const stack: { readonly node: Node; readonly above: Node | null }[] = [{ node, above }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node: one, above: under } = next;
    const run = one.run;
    if (run === null) continue; // a ring closes on itself: its first node has a place already
    if (one.state === "waiting") {
      tree.waitingCount -= 1;
      tree.waitingBytes -= estimateSize(run);
    }
    one.run = null;
    if (isKept(run)) {
      place(tree, one, run, under);
      noteTwin(one, run.content);
      if (one !== tree.root) showRoot(tree, run, emit);
      emit(placedRun(tree, one, run, one === tree.root && tree.rootShown));
    } else {
      one.state = "filtered";
      one.parent = under;
      if (under === null && tree.root === null) tree.vacant ??= run;
      if (under === null) takeRoot(tree, run, emit);
    }
    const children = one.children;
    one.children = null;
    if (children === null) continue;
    const below = one.state === "filtered" ? keptAbove(tree, one, run) : one;
    for (const child of children.reverse()) stack.push({ node: child, above: below });
  }
}

function place(tree: Tree, node: Node, run: UnplacedRun, above: Node | null): void {
  node.state = "placed";
  node.fingerprint = fingerprint(run);
  if (above === null && !tree.rootClaimed) {
    const pinned = tree.root;
    node.segment = pinned?.segment ?? buildSegment(segmentTime(run.start), traceIdFor(run)); // the pin holds
    node.callsBelow = pinned?.callsBelow ?? null;
    node.parent = null;
    node.depth = 1;
    tree.root = node;
    tree.rootClaimed = true;
    if (pinned !== null || run.declared !== null) noteRunId(tree, idOfSegment(node.segment), node);
    return;
  }
  const parent = above === null || above.depth >= DEPTH_MAX ? pinRoot(tree, run) : above;
  const time = segmentTime(run.start);
  const parentTime = parent.segment.slice(0, SEGMENT_TIME_CHARS);
  // A child that began before its parent (clock skew) sorts with its parent; its own start_time stays unchanged.
  node.segment = buildSegment(time < parentTime ? parentTime : time, runIdFor(tree, run, parent));
  node.parent = parent;
  node.depth = parent.depth + 1;
  if (run.declared !== null) noteRunId(tree, idOfSegment(node.segment), node);
}

/** The node to which children of a filtered one attach. */
function keptAbove(tree: Tree, filtered: Node, cause: UnplacedRun): Node {
  if (filtered.parent !== null) return filtered.parent;
  tree.needsRoot = true;
  return pinRoot(tree, cause);
}

/** The trace has a root at the backend before a run below it. */
function showRoot(tree: Tree, cause: KeptRun, emit: Emit): void {
  const { root, vacant } = tree;
  if (!tree.needsRoot || tree.rootClaimed || tree.rootShown || root === null) return;
  if (vacant !== null) return takeRoot(tree, vacant, emit);
  emit(addedRoot(root, cause, false));
  tree.rootShown = true;
}

/** The root is this filtered span's: other roots go below it. */
function takeRoot(tree: Tree, run: UnplacedRun, emit: Emit): void {
  if (tree.root === null || tree.rootClaimed) return;
  emit(addedRoot(tree.root, run, tree.rootShown));
  tree.rootClaimed = true;
  tree.vacant = null;
}

/** The root's node. Before the root arrives, a pinned node that the real root takes over. */
function pinRoot(tree: Tree, cause: UnplacedRun): Node {
  if (tree.root !== null) return tree.root;
  const pinned = createNode("");
  pinned.state = "promised";
  pinned.segment = buildSegment(tree.earliest, traceIdFor(cause));
  pinned.depth = 1;
  tree.root = pinned;
  return pinned;
}

/**
 * The run's id below the root: the SDK's id, else the span id. Never the id of the trace, the parent, or another run.
 */
function runIdFor(tree: Tree, run: UnplacedRun, parent: Node): string {
  const isInUse = (id: string): boolean => parent.segment.endsWith(id) || (tree.root?.segment.endsWith(id) ?? false);
  const declared = run.declared?.runId ?? "";
  if (declared !== "" && !isInUse(declared) && tree.byRunId?.has(declared) !== true) return declared;
  const padded = uuidOfSpan(run.spanId);
  return isInUse(padded) ? uuidV5(run.spanId, uuidOfTrace(run.traceId)) : padded; // 64-bit trace ids: root span id = trace id
}

type KeptRun = UnplacedRun & { readonly content: RunContent };

const isKept = (run: UnplacedRun): run is KeptRun => run.content !== null;

function placedRun(tree: Tree, node: Node, run: KeptRun, amends: boolean): TraceRun {
  return {
    tenant: run.tenant,
    span: run,
    id: idOfSegment(node.segment),
    traceId: idOfSegment(tree.root?.segment ?? node.segment),
    parentRunId: node.parent === null ? "" : idOfSegment(node.parent.segment),
    dottedOrder: buildOrder(node),
    fingerprint: node.fingerprint,
    counts: node.counts,
    amends,
    content: countedOnce(node, run.content),
  };
}

function estimateSize(run: UnplacedRun): number {
  return WAITING_OVERHEAD + BYTES_A_CHARACTER * (run.content?.size ?? 0);
}

/** Memory of a waiting span besides its text: measured at 1,200 to 1,500 bytes with its node. */
const WAITING_OVERHEAD = 1280;
/** One for Latin text and one for its source strings; two for all other text. */
const BYTES_A_CHARACTER = 2;

/** Distinguishes a re-sent span from a changed one. Lengths and times suffice: a change moves the end or the text. */
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
