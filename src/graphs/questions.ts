// Questions: the interrupts that a run has left open, each with its whole path, verified against the library's hash.
// The saver knows namespaces and task ids, but not which node a task belongs to; the hash in the interrupt's id tells:
// of all node names possible at that place, one gives that id.
// Invariants:
//   QU1. `ns` joined with "|" hashes to the library's id, whenever the library made the id from it.
//   QU2. A question belongs to the innermost task that raised it; the tasks it passed on its way out do not count.
//   QU3. Order is the order of tasks: sent ones by position, then nodes in the order of the graph.
import type { Fingerprint } from "../agent/model.ts";
import type { Question } from "../agent/ports.ts";
import { uuidV5 } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Codec } from "./codec.ts";
import type { InterruptIds } from "./interrupt-ids.ts";
import type { PendingGraph, PendingTask, RaisedInterrupt } from "./pending-tasks.ts";

interface Candidate {
  readonly question: Omit<Question, "position">;
  readonly depth: number;
  readonly order: readonly (readonly [number, number])[];
}

export function openQuestions(
  graphs: ReadonlyMap<string, PendingGraph>,
  fingerprint: Fingerprint,
  taskNames: ReadonlyMap<string, string>,
  ids: InterruptIds,
  codec: Codec,
): readonly Question[] {
  const found = new Map<string, Candidate>();
  for (const [graphNs, graph] of graphs) {
    for (const [taskId, task] of graph.tasks) {
      for (const interrupt of task.interrupts) {
        const candidate = locate(graphNs, graph, taskId, task, interrupt);
        const other = found.get(candidate.question.libraryId);
        if (other === undefined || candidate.depth > other.depth) found.set(candidate.question.libraryId, candidate); // QU2
      }
    }
  }
  return [...found.values()]
    .sort((a, b) => compareOrder(a.order, b.order)) // QU3
    .map(({ question }, position) => ({ ...question, position }));

  function locate(
    graphNs: string,
    graph: PendingGraph,
    taskId: string,
    task: PendingTask,
    interrupt: RaisedInterrupt,
  ): Candidate {
    const parents = graphNs === "" ? [] : graphNs.split("|");
    const names = nodeNames(graphNs, graph, fingerprint, taskNames.get(taskId));
    const name = names.find((node) => ids.libraryId([...parents, `${node}:${taskId}`]) === interrupt.id); // QU1
    const ns = [...parents, `${name ?? taskNames.get(taskId) ?? "task"}:${taskId}`];
    const libraryId = interrupt.id ?? ids.libraryId(ns);
    const index = task.answersSaved;
    return {
      question: {
        interruptId: ids.interruptId(libraryId, index),
        libraryId,
        taskId,
        graphNs,
        checkpointId: graph.checkpointId,
        index,
        ns,
        value: codec.toWire(interrupt.value),
        responseSchema: (interrupt.response_schema as JsonObject | undefined) ?? null,
      },
      depth: name === undefined ? -1 : ns.length,
      order: [...parents.map((part) => placeOfParent(part)), placeOf(graphNs, graph, taskId, name, names)],
    };
  }

  function placeOfParent(part: string): readonly [number, number] {
    const [name = "", taskId = ""] = part.split(":");
    const root = graphs.get("");
    return root === undefined ? [0, 0] : placeOf("", root, taskId, name, nodeNames("", root, fingerprint, undefined));
  }
}

function nodeNames(
  graphNs: string,
  graph: PendingGraph,
  fingerprint: Fingerprint,
  streamed: string | undefined,
): readonly string[] {
  const path = graphNs
    .split("|")
    .map((part) => part.split(":")[0])
    .join("|");
  const names = new Set(fingerprint.nodes[path] ?? []);
  for (const channel of graph.channelNames) if (channel.startsWith("branch:to:")) names.add(channel.slice(10));
  for (const { node } of graph.sends) names.add(node);
  if (streamed !== undefined) names.add(streamed);
  return [...names];
}

/** Sent tasks come first, by position; the library derives their ids from it. */
function placeOf(
  graphNs: string,
  graph: PendingGraph,
  taskId: string,
  name: string | undefined,
  names: readonly string[],
): readonly [number, number] {
  if (name === undefined) return [2, 0];
  const taskNs = graphNs === "" ? name : `${graphNs}|${name}`;
  const sent = graph.sends.findIndex(
    ({ node }, at) =>
      node === name &&
      uuidV5(JSON.stringify([taskNs, String(graph.step), name, "__pregel_push", String(at)]), graph.checkpointId) ===
        taskId,
  );
  return sent >= 0 ? [0, sent] : [1, names.indexOf(name)];
}

function compareOrder(a: Candidate["order"], b: Candidate["order"]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [a[at] ?? [0, 0], b[at] ?? [0, 0]];
    if (left[0] !== right[0]) return left[0] - right[0];
    if (left[1] !== right[1]) return left[1] - right[1];
  }
  return a.length - b.length;
}
