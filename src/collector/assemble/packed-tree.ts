// Packed tree: a quiet trace as one text. A tree of nodes takes about four times the memory, and the garbage collector
// visits each of its objects in every cycle. A late span unpacks its trace. Invariants:
//   packed-tree.1. Packing changes no place: an unpacked tree places every later span, and finds every duplicate, as the
//        tree would have done that was never packed.
//   packed-tree.2. A tree in which spans wait, or with runs that an SDK or a decision record names, stays unpacked.
// One line for each span: `p span parent depth time fingerprint` (placed), `f span parent` (filtered), `u span` (only
// children have arrived). The parent is empty if it is the root, and a dash if there is none.
import { SEGMENT_TIME_CHARS, uuidOfSpan, uuidOfTrace } from "./dotted-order.ts";
import { createNode, createTree, segmentOf, type Node, type Tree } from "./tree-node.ts";

export interface PackedTree {
  readonly key: string;
  readonly traceId: string;
  readonly tenant: string;
  readonly lastSeen: number;
  readonly listedAt: number;
  readonly spans: number;
  readonly root: RootText;
  readonly text: string;
}

/** The order of a root: `taken` or `promised`, its time, and its id unless that is the id of the trace. */
export type RootText = string;

const NONE = "-";

/** Reading or searching a larger text would hold up the next span for too long. */
const SPANS_MAX = 1000;

export function isPacked(tree: Tree | PackedTree): tree is PackedTree {
  return "text" in tree;
}

/** @returns null if the tree has to stay as it is (packed-tree.2) */
export function packTree(tree: Tree): PackedTree | null {
  const { byRunId, key, lastSeen, listedAt, nodes, tenant, traceId, waitingCount } = tree;
  const root = rootText(tree);
  if (root === null || byRunId !== null || waitingCount > 0 || nodes.size > SPANS_MAX) return null;
  const lines = [""]; // so that every line begins with a line break, which hasSpan searches
  for (const node of nodes.values()) {
    const line = lineOf(tree, node);
    if (line === null) return null;
    lines.push(line);
  }
  return { key, traceId, tenant, lastSeen, listedAt, spans: nodes.size, root, text: lines.join("\n") };
}

function lineOf(tree: Tree, node: Node): string | null {
  const { depth, fingerprint, parent, segment, spanId, state } = node;
  if (state === "unknown") return `u ${spanId}`;
  const above = parent === null ? NONE : parent === tree.root ? "" : parent.spanId;
  if (state === "filtered") return `f ${spanId} ${above}`;
  if (state !== "placed" || (node !== tree.root && !segment.endsWith(uuidOfSpan(spanId)))) return null;
  return `p ${spanId} ${above} ${depth} ${segment.slice(0, SEGMENT_TIME_CHARS)} ${fingerprint}`;
}

export function unpackTree(packed: PackedTree): Tree {
  const tree = createTree(packed.traceId, packed.tenant, packed.lastSeen);
  tree.listedAt = packed.listedAt;
  restoreRoot(tree, packed.root);
  const above = new Map<Node, string>();
  for (const line of packed.text.split("\n")) {
    if (line === "") continue;
    const [state, spanId = "", parent = "", depth, time = "", fingerprint] = line.split(" ");
    const node = createNode(spanId);
    tree.nodes.set(spanId, node);
    if (state === "u") continue;
    above.set(node, parent);
    node.state = state === "p" ? "placed" : "filtered";
    if (state === "f") continue;
    node.depth = Number(depth);
    node.fingerprint = Number(fingerprint);
    node.segment = segmentOf(time, uuidOfSpan(spanId));
    if (node.depth > 1) continue;
    node.segment = tree.root?.segment ?? node.segment;
    tree.root = node;
  }
  for (const [node, parent] of above) if (parent !== NONE) node.parent = tree.nodes.get(parent) ?? tree.root;
  return tree;
}

/** The span has arrived. */
export function hasSpan(packed: PackedTree, spanId: string): boolean {
  return packed.text.includes(`\np ${spanId} `) || packed.text.includes(`\nf ${spanId} `);
}

/** null: the tree has no root yet. */
export function rootText({ root, rootTaken, traceId }: Tree): RootText | null {
  if (root === null) return null;
  const { segment } = root;
  const isTrace = segment.endsWith(uuidOfTrace(traceId));
  return [rootTaken ? "taken" : "promised", isTrace ? segment.slice(0, SEGMENT_TIME_CHARS) : segment].join(" ");
}

export function restoreRoot(tree: Tree, text: RootText): void {
  const [state, order = ""] = text.split(" ");
  const root = createNode("");
  root.state = "promised";
  root.segment = order.length > SEGMENT_TIME_CHARS ? order : segmentOf(order, uuidOfTrace(tree.traceId));
  root.depth = 1;
  tree.root = root;
  tree.rootTaken = state === "taken";
}
