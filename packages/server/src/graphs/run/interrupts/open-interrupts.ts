// Open interrupts: the interrupts that a run leaves open, each with its task.
// The run checkpointer knows the task ids and the namespace of their graph. The namespace of a task comes from the
// engine if the run was watched (task-watch.ts). Otherwise it is built from a node's name and checked against the hash
// in the interrupt's id.
// Invariants:
//   open-interrupts.1. Of all tasks an interrupt passed on its way out, it belongs to the one whose namespace yields
//        its id.
//   - Without a match it belongs to the innermost task: it was thrown there, or comes from a remote graph or from one
//     without checkpoints. It has no id, or one that the task knows nothing of, so the server counts its answers: each
//     time the task throws it again is a new interrupt.
//   - The order is that of tasks: sent ones by position, then nodes in graph order.
import type { OpenInterrupt } from "../../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AnswerPlaces } from "../../checkpoints/answer-places.ts";
import type { Codec } from "../../checkpoints/codec/value-codec.ts";
import type { InterruptIds } from "../../langgraph/interrupt-ids.ts";
import type { PendingGraph, RaisedInterrupt } from "../../checkpoints/pending-tasks.ts";
import { callNamespace, thrownPlace, toolPlace } from "../../langgraph/question-places.ts";
import { nodeNames, nodeOfTask, listPlaces, type Place, type TaskPlaces } from "./task-places.ts";

export interface QuestionSources extends TaskPlaces {
  readonly ids: InterruptIds;
  readonly codec: Codec;
  readonly places: Pick<AnswerPlaces, "callsIn">;
}

export interface OpenQuestions {
  readonly questions: readonly OpenInterrupt[];
  /** Several tasks of one graph raised the same interrupt, and the origin is unknown: only a watched run shows it. */
  readonly doubtful: boolean;
}

interface Candidate {
  readonly question: Omit<OpenInterrupt, "position">;
  readonly raised: RaisedInterrupt;
  readonly verified: boolean;
  readonly order: readonly Place[];
}

export function openQuestions(sources: QuestionSources): OpenQuestions {
  const candidates = [...sources.graphs].flatMap(([graphNs, graph]) =>
    [...graph.tasks].flatMap(([taskId, task]) =>
      task.interrupts.map((raised, at) => locate(sources, { graphNs, graph, taskId, at }, raised)),
    ),
  );
  let doubtful = false;
  const found: Candidate[] = [];
  for (const same of Map.groupBy(candidates, ({ raised }) => raised.id ?? raised).values()) {
    const owner = same.find(({ verified }) => verified); // open-interrupts.1
    const deepest = Math.max(...same.map(({ question }) => countDepth(question.graphNs)));
    const inner = same.filter(({ question }) => countDepth(question.graphNs) === deepest);
    doubtful ||= owner === undefined && inner.length > 1;
    const chosen = owner ?? inner[0];
    if (chosen !== undefined) found.push(chosen);
  }
  const questions = found
    .sort((a, b) => compareOrder(a.order, b.order))
    .map(({ question }, position) => ({ ...question, position }));
  return { questions, doubtful };
}

interface AskingTask {
  readonly graphNs: string;
  readonly graph: PendingGraph;
  readonly taskId: string;
  /** Position of the interrupt in the task. */
  readonly at: number;
}

function locate(
  sources: QuestionSources,
  { graphNs, graph, taskId, at }: AskingTask,
  raised: RaisedInterrupt,
): Candidate {
  const { ids, codec, watch, places } = sources;
  const inGraph = (name: string): string => (graphNs === "" ? `${name}:${taskId}` : `${graphNs}|${name}:${taskId}`);
  const named = nodeNames(sources.fingerprint, graphNs, graph).map(inGraph);
  const watched = watch?.of(taskId)?.ns;
  const possible = watched === undefined ? named : [watched];
  const savedBy = (place: string): number => graph.tasks.get(place)?.answersSaved ?? 0;
  const found = [0, ...places.callsIn(taskId)].flatMap((call) => {
    const index = savedBy(toolPlace(taskId, call));
    const isHere = (ns: string): boolean =>
      raised.id !== undefined && ids.isIdAt(raised.id, callNamespace(ns, call), index);
    const ns = possible.find(isHere);
    return ns === undefined ? [] : [{ ns, call }];
  });
  const verified = found[0];
  const ns = verified?.ns ?? watched ?? inGraph(nodeOfTask(sources.fingerprint, graphNs, graph, taskId) ?? "task");
  const place =
    verified === undefined ? thrownPlace(taskId, raised.id ?? String(at)) : toolPlace(taskId, verified.call);
  const index = savedBy(place);
  const libraryId = raised.id ?? ids.firstId(`${ns}|thrown|${at}`);
  const thrownId = index === 0 ? libraryId : ids.firstId(`${libraryId}|${index}`);
  return {
    raised,
    question: {
      interruptId: verified === undefined ? thrownId : ids.interruptId(libraryId, index),
      libraryId,
      taskId: place,
      graphNs,
      checkpointId: graph.checkpointId,
      index,
      ns: ns.split("|"),
      value: codec.toClientJson(raised.value),
      responseSchema: (raised.response_schema as JsonObject | undefined) ?? null,
    },
    verified: verified !== undefined,
    order: listPlaces(sources, callNamespace(ns, verified?.call ?? 0)),
  };
}

function countDepth(graphNs: string): number {
  return graphNs === "" ? 0 : graphNs.split("|").length;
}

function compareOrder(a: readonly Place[], b: readonly Place[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [a[at] ?? [0, 0], b[at] ?? [0, 0]];
    if (left[0] !== right[0]) return left[0] - right[0];
    if (left[1] !== right[1]) return left[1] - right[1];
  }
  return a.length - b.length;
}
