// Handed answers: the answers of a run as the library has them while it runs.
// The library keeps the map that it was handed, and looks into it whenever it makes a task: also when a subgraph is
// started anew by the retry policy of a node. By then the answer may have been used, and the task asks its next question.
// Invariant handed-answers.1: an answer that a task has saved is not in the map any more: it cannot reach a later question.
import type { CarriedAnswer } from "../../agent/model/model.ts";
import { unusedAnswers } from "./run-input.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";

export interface HandedAnswers {
  /** The map to hand to the library; null when there is no answer. */
  hand(answers: readonly CarriedAnswer[]): Record<string, unknown> | null;
  /** Call after each write of the run. */
  withdraw(saver: RunSaver): void;
  /** Task id → number of its saved answers that count, while the one after them is in the map. */
  readonly kept: ReadonlyMap<string, number>;
}

export function createHandedAnswers(): HandedAnswers {
  const kept = new Map<string, number>();
  let answers: readonly CarriedAnswer[] = [];
  let map: Record<string, unknown> = {};
  return {
    kept,
    /** Always the map form: the library takes a bare `false`, `0`, `""` or `null` for no answer at all. */
    hand(given) {
      answers = given;
      map = Object.fromEntries(given.map(({ libraryId, value }) => [libraryId, value]));
      kept.clear();
      for (const { taskId, index } of given) kept.set(taskId, index);
      return given.length === 0 ? null : map;
    },
    withdraw(saver) {
      if (answers.length === 0) return;
      const left = unusedAnswers(saver, answers);
      if (left.length === answers.length) return;
      for (const answer of answers) {
        if (left.includes(answer)) continue;
        delete map[answer.libraryId]; // handed-answers.1
        kept.delete(answer.taskId);
      }
      answers = left;
    },
  };
}
