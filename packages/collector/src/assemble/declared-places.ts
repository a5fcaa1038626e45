// Declared places: places from an SDK that names its runs and their order, or from the decision record of an earlier
// process. A declaration never contradicts an earlier decision: a place is final (trace-tree.ts).
import { idOfSegment, readDottedOrder } from "./dotted-order.ts";
import { createNode, DEPTH_MAX, noteRunId, buildOrder, traceIdFor, type Node, type Tree } from "./tree-node.ts";
import type { TraceRunPlace, UnplacedRun } from "../shared/trace-run.ts";
import { noteCounts } from "./twin-calls.ts";

type RecalledRun = Pick<TraceRunPlace, "spanId" | "dottedOrder" | "fingerprint" | "counts">;

/**
 * Applies the place declared by the SDK. False: nothing is declared, or the declaration contradicts an earlier
 * decision.
 */
export function takeDeclaredPlace(tree: Tree, node: Node, run: UnplacedRun): boolean {
  const declared = run.declared;
  if (declared === null) return false;
  const promised = tree.byRunId?.get(declared.runId);
  if (promised !== undefined && (promised.state !== "promised" || promised.spanId !== "")) return false; // another span's
  const segments = readDottedOrder(promised === undefined ? declared.dottedOrder : buildOrder(promised), DEPTH_MAX);
  if (segments === null || idOfSegment(segments.at(-1) ?? "") !== declared.runId) return false;
  if (tree.root === null && idOfSegment(segments[0] ?? "") !== traceIdFor(run)) return false;
  if (segments.length === 1 && tree.rootClaimed) return false;
  return promise(tree, node, segments);
}

/**
 * Promises a place to the node, and to each missing segment above it.
 * @returns false if the segments contradict an earlier decision: then nothing has changed
 */
function promise(tree: Tree, node: Node, segments: readonly string[]): boolean {
  const ids = segments.map(idOfSegment);
  if (new Set(ids).size !== ids.length) return false;
  const own = segments.length - 1;
  if (own === 0 && tree.root !== null && tree.root.segment !== segments[0]) return false;
  if (tree.root !== null && idOfSegment(tree.root.segment) !== ids[0]) return false;
  let above: Node | null = null;
  let at = own - 1;
  for (; at >= 0; at--) {
    above = (at === 0 ? tree.root : tree.byRunId?.get(ids[at] ?? "")) ?? null;
    if (above !== null) break;
  }
  if (above !== null && above.depth + own - at > DEPTH_MAX) return false;
  for (let next = at + 1; next <= own; next++) {
    const one: Node = next === own ? node : createNode("");
    one.state = "promised";
    one.segment = segments[next] ?? "";
    one.parent = above;
    one.depth = (above?.depth ?? 0) + 1;
    noteRunId(tree, ids[next] ?? "", one);
    if (next === 0) tree.root = one;
    above = one;
  }
  return true;
}

/**
 * Applies a decision of an earlier process, so that the span, its children and its root get the same places again, and
 * a span that its sender repeats is known.
 */
export function recallPlace(tree: Tree, { spanId, dottedOrder, fingerprint = 0, counts = "" }: RecalledRun): boolean {
  const segments = readDottedOrder(dottedOrder, DEPTH_MAX);
  if (segments === null) return false;
  const isRoot = segments.length === 1;
  if (spanId === "") return recallAddedRoot(tree, segments[0] ?? "");
  const known = tree.nodes.get(spanId);
  if (known !== undefined) {
    recallContent(known, fingerprint, counts);
    // Forgotten in between, the span came back as the root: the trace's id is used.
    if (isRoot && segments[0] === tree.root?.segment) tree.rootClaimed = true;
    return false;
  }
  if (isRoot && tree.rootClaimed) return false;
  const node = createNode(spanId);
  if (!promise(tree, node, segments)) return false;
  tree.nodes.set(spanId, node);
  recallContent(node, fingerprint, counts);
  if (isRoot) tree.rootClaimed = true; // by this span, even before it arrives again
  return true;
}

function recallContent(node: Node, fingerprint: number, counts: string): void {
  node.fingerprint = fingerprint;
  noteCounts(node, counts);
}

/** A root that the collector added: the span that takes its place amends it. */
function recallAddedRoot(tree: Tree, segment: string): boolean {
  if (tree.root === null) {
    tree.root = createNode("");
    tree.root.state = "promised";
    tree.root.segment = segment;
    tree.root.depth = 1;
  }
  tree.rootShown = !tree.rootClaimed && tree.root.segment === segment;
  return tree.rootShown;
}
