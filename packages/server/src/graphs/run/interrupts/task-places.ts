// Task places: the position of a task among its siblings, level by level, so that interrupts have a stable order.
// Sent and called tasks come first, by position; then nodes, in graph order.
import type { Fingerprint } from "../../../model/model.ts";
import { uuidV5 } from "@holdpoint/base/ids.ts";
import type { PendingGraph } from "../../checkpoints/pending-tasks.ts";
import type { TaskWatch } from "./task-watch.ts";

export interface TaskPlaces {
  readonly graphs: ReadonlyMap<string, PendingGraph>;
  readonly fingerprint: Fingerprint;
  /** Null for an unwatched run. */
  readonly watch: TaskWatch | null;
}

/** First the kind of task, then its position within the kind. */
export type Place = readonly [kind: number, position: number];

const SENT = 0;
const NODE = 1;

/** Possible node names of a task of this graph. */
export function nodeNames(fingerprint: Fingerprint, graphNs: string, graph: PendingGraph): readonly string[] {
  const names = new Set(fingerprint.nodes[nodePath(graphNs)] ?? []);
  for (const channel of graph.channelNames) if (channel.startsWith("branch:to:")) names.add(channel.slice(10));
  for (const { node } of graph.sends) names.add(node);
  return [...names];
}

/** LangGraph derives the id of a node's task from what triggers the node. @returns null for a called task */
export function nodeOfTask(
  fingerprint: Fingerprint,
  graphNs: string,
  graph: PendingGraph,
  taskId: string,
): string | null {
  const isTaskName = (name: string): boolean => {
    const ns = graphNs === "" ? name : `${graphNs}|${name}`;
    const idBy = (trigger: string): string =>
      uuidV5(JSON.stringify([ns, String(graph.step), name, "__pregel_pull", [trigger]]), graph.checkpointId);
    const sent = graph.sends.some(({ node }, at) => node === name && sentTaskId(ns, graph, name, at) === taskId);
    return sent || [`branch:to:${name}`, "__start__"].some((trigger) => idBy(trigger) === taskId);
  };
  return nodeNames(fingerprint, graphNs, graph).find(isTaskName) ?? null;
}

function sentTaskId(ns: string, graph: PendingGraph, name: string, at: number): string {
  return uuidV5(JSON.stringify([ns, String(graph.step), name, "__pregel_push", String(at)]), graph.checkpointId);
}

/** For every task on the path to this one. */
export function listPlaces(places: TaskPlaces, ns: string): readonly Place[] {
  const parts = ns.split("|");
  return parts.flatMap((part, at) => {
    const [name = "", taskId] = part.split(":");
    if (taskId === undefined) return [[NODE, Number(name)] as const]; // the nth graph called by a node
    const graphNs = parts.slice(0, at).join("|");
    const path = places.watch?.of(taskId)?.path;
    const nodes = places.fingerprint.nodes[nodePath(graphNs)] ?? [];
    if (path !== undefined) return placesInPath(path, nodes);
    const graph = places.graphs.get(graphNs);
    if (graph === undefined) return [[NODE, nodes.indexOf(name)] as const];
    return [placeIn(places.fingerprint, graphNs, graph, { name, taskId })];
  });
}

/** The path of a graph below the root, as in fingerprints. */
function nodePath(graphNs: string): string {
  return graphNs
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
}

function placesInPath(path: readonly unknown[], nodes: readonly string[]): readonly Place[] {
  const [kind, first, second] = path;
  if (kind === "__pregel_pull") return [[NODE, nodes.indexOf(String(first))]];
  if (Array.isArray(first)) return [...placesInPath(first, nodes), [SENT, Number(second)]]; // called by a task
  return [[SENT, Number(first)]];
}

/** LangGraph derives the id of a sent task from its position. */
function placeIn(
  fingerprint: Fingerprint,
  graphNs: string,
  graph: PendingGraph,
  { name, taskId }: { readonly name: string; readonly taskId: string },
): Place {
  const taskNs = graphNs === "" ? name : `${graphNs}|${name}`;
  const isSent = ({ node }: { readonly node: string }, at: number): boolean =>
    node === name && sentTaskId(taskNs, graph, name, at) === taskId;
  const sent = graph.sends.findIndex(isSent);
  return sent >= 0 ? [SENT, sent] : [NODE, nodeNames(fingerprint, graphNs, graph).indexOf(name)];
}
