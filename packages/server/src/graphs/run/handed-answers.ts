// Handed answers: the answers of a run as LangGraph sees them while it runs.
// LangGraph keeps the map it was given and reads it for every new task, also when a node's retry policy restarts a
// subgraph. By then the task may have used the answer, and raises its next interrupt.
// Invariant handed-answers.1: the map contains no answer that a task has saved, so it cannot reach a later interrupt.
import type { CarriedAnswer } from "../../model/model.ts";
import { unusedAnswers } from "./run-input.ts";
import type { RunSaver } from "../checkpoints/run-checkpointer.ts";

export interface HandedAnswers {
  /** The map for LangGraph; null without an answer. */
  hand(answers: readonly CarriedAnswer[]): Record<string, unknown> | null;
  /** Call after each write of the run. */
  withdraw(saver: RunSaver): void;
  /** Task id → number of its valid saved answers, while the map has the next one. */
  readonly kept: ReadonlyMap<string, number>;
}

export function createHandedAnswers(): HandedAnswers {
  const kept = new Map<string, number>();
  let answers: readonly CarriedAnswer[] = [];
  let map: Record<string, unknown> = {};
  return {
    kept,
    /** Always the map form: LangGraph takes a bare `false`, `0`, `""` or `null` for no answer. */
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
