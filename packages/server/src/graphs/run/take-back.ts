// Take back: what an attempt leaves behind that ends without a pause or a result. Writes that no checkpoint has taken go
// (run-checkpointer.ts), and the answers that were not used are asked for again.
// Invariants:
//   - An attempt that another one continues takes nothing back.
//   - A state that refuses the results of the newest step would refuse every read: those results go, with the answers
//     that led to them.
//   - An input that the state refuses leaves nothing behind: not even the checkpoint that holds it.
import type { CarriedAnswer } from "../../model/model.ts";
import type { UnusedAnswer } from "../../ports/ports.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";
import { withCheckpointer } from "../langgraph/compiled-graph.ts";
import { parsePlace } from "../langgraph/question-places.ts";
import type { Attempt } from "./attempt.ts";
import { unusedAnswers } from "./run-input.ts";

/** Ends of an attempt that are no end of its run, or that undo all of it. */
const GOES_ON: ReadonlySet<unknown> = new Set([
  "shutdown",
  "taken_over",
  "deleted",
  "write_failed",
  "rollback",
  "no_room",
]);

/** @returns true if the state refuses the run's input */
export async function takeBack(attempt: Attempt, error: unknown): Promise<boolean> {
  const { saver, signal, cause, unused, run } = attempt;
  if (saver === null) return false;
  const goesOn = signal.aborted ? GOES_ON.has(signal.reason) : isStorageFailure(cause ?? error);
  const refused = !goesOn && !signal.aborted && cause === undefined && (await refusesResults(attempt, saver));
  attempt.unused = refused ? atNewest(saver, unused) : unusedAnswers(saver, unused).map((one) => failedAt(saver, one));
  if (!goesOn) saver.drop(refused);
  const root = saver.pending.graphs().get("");
  return refused && run.input !== null && root?.written === true && root.isInput;
}

async function refusesResults({ graph, run }: Attempt, saver: RunSaver): Promise<boolean> {
  const graphs = [...saver.pending.graphs().values()];
  if (!graphs.some(({ tasks }) => [...tasks.values()].some(({ finished }) => finished))) return false;
  const view = withCheckpointer(graph, saver.checkpointer);
  try {
    await view.getState({ configurable: { thread_id: run.threadId } }, { subgraphs: true });
    return false;
  } catch (error) {
    return !isStorageFailure(error);
  }
}

function atNewest(saver: RunSaver, answers: readonly CarriedAnswer[]): readonly UnusedAnswer[] {
  const graphs = saver.pending.graphs();
  return answers
    .filter(({ graphNs, checkpointId }) => (graphs.get(graphNs)?.checkpointId ?? checkpointId) === checkpointId)
    .map((answer) => ({ ...answer, threw: true }));
}

function failedAt(saver: RunSaver, answer: CarriedAnswer): UnusedAnswer {
  const task = saver.pending.graphs().get(answer.graphNs)?.tasks.get(parsePlace(answer.taskId).taskId);
  return task?.failed === true ? { ...answer, threw: true } : answer;
}
