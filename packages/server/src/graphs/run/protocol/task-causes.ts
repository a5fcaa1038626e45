// Task causes: the call or edge that started a task, for the `cause` of the namespace below it.
// Invariants:
//   - A task that a tool call started names the call, where the task has it in its input.
//   - Another task names the node before it, if the superstep before had tasks of one node only: the library does not
//     say which of several wrote to its trigger. The first superstep of a run has no cause.
//   - The order of their tasks distinguishes supersteps of a graph: all start before the first one ends.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Namespace } from "./child-lifecycle.ts";

export interface StartedTask {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly triggers?: unknown;
}

interface Superstep {
  /** Nodes of its tasks. */
  readonly nodes: Set<string>;
  readonly before: ReadonlySet<string>;
  isEnding: boolean;
}

export interface TaskCauses {
  /** @param graph namespace of the graph that has the task */
  started(graph: Namespace, task: StartedTask): void;
  ended(graph: Namespace, task: StartedTask): void;
  /** Cause of the namespace of a task in progress. */
  of(namespace: Namespace): JsonObject | null;
}

const joinNamespace = (namespace: Namespace): string => namespace.join("|");

export function createTaskCauses(): TaskCauses {
  const causes = new Map<string, JsonObject>();
  const supersteps = new Map<string, Superstep>();
  const findSuperstep = (graph: Namespace): Superstep => {
    const key = joinNamespace(graph);
    const known = supersteps.get(key);
    if (known?.isEnding === false) return known;
    const next: Superstep = { nodes: new Set(), before: known?.nodes ?? new Set(), isEnding: false };
    supersteps.set(key, next);
    return next;
  };
  return {
    started(graph, task) {
      const superstep = findSuperstep(graph);
      superstep.nodes.add(task.name);
      const cause = readToolCall(task.input) ?? nodeBefore(task.triggers, superstep.before);
      if (cause !== null) causes.set(joinNamespace([...graph, `${task.name}:${task.id}`]), cause);
    },
    ended(graph, task) {
      const path = joinNamespace([...graph, `${task.name}:${task.id}`]);
      const superstep = supersteps.get(joinNamespace(graph));
      if (superstep !== undefined) superstep.isEnding = true;
      causes.delete(path);
      supersteps.delete(path); // of a graph below the task
    },
    of: (namespace) => causes.get(joinNamespace(namespace)) ?? null,
  };
}

/** A tool node that is started for each call has the call in its input, under one of these names. */
function readToolCall(input: unknown): JsonObject | null {
  if (typeof input !== "object" || input === null) return null;
  const { lg_tool_call: own, tool_call: other } = input as Readonly<Record<string, unknown>>;
  const call = own ?? other;
  const id = typeof call === "object" && call !== null && "id" in call ? call.id : null;
  return typeof id === "string" ? { type: "toolCall", tool_call_id: id } : null;
}

const PUSHED = "__pregel_push";
const EDGE = /^branch:to:/;

function nodeBefore(triggers: unknown, before: ReadonlySet<string>): JsonObject | null {
  const [node, ...others] = before;
  if (node === undefined || others.length > 0 || !Array.isArray(triggers)) return null;
  if (triggers.includes(PUSHED)) return { type: "send", from_node: node };
  return triggers.some((one) => EDGE.test(String(one))) ? { type: "edge", from_node: node } : null;
}
