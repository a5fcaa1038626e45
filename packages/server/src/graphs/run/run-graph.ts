// Run graph: one attempt of one run, from its request to its outcome.
// The pieces:
//   attempt.ts        the state of an attempt, its saver and events, its result
//   graph-pass.ts     the graph runs once, to its pause or its end
//   end-thread.ts     a run that ends its thread instead
//   run-config.ts     the library's config
//   run-input.ts      the input, and the answers that are still unused
//   handed-answers.ts the answers as the library sees them
//   stream-events.ts  chunks as events for clients
//   take-back.ts      the writes and answers that a failed attempt leaves unused
//   run-error.ts      exceptions as errors of the run
//   interrupts/       the interrupts that a run leaves open, and their tasks
//   protocol/         chunks as events of the thread protocol
// Invariants:
//   - Every attempt ends in an outcome: runGraph never rejects.
//   - Events keep LangGraph's stream order, except those that show a pause (stream-events.ts).
import type { GraphOutcome, GraphRunResult } from "../../ports/ports.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import { rejectControlValues } from "../langgraph/control-values.ts";
import {
  type Attempt,
  type AttemptRequest,
  type OpenAttempt,
  buildStreamConfig,
  newAttempt,
  openAttempt,
  buildResult,
  withCallbacks,
} from "./attempt.ts";
import { endThread } from "./end-thread.ts";
import { runPasses } from "./graph-pass.ts";
import type { RunContext } from "./run-context.ts";
import { isInterruptMoved, isRefusedAnswer, runError } from "./run-error.ts";
import { type Progress, readProgress } from "./run-input.ts";
import { takeBack } from "./take-back.ts";

export async function runGraph(context: RunContext, request: AttemptRequest): Promise<GraphRunResult> {
  const attempt = newAttempt(context, request);
  try {
    return buildResult(attempt, await runToOutcome(attempt));
  } catch (error) {
    const inputRefused = await takeBack(attempt, error);
    return buildResult(attempt, toFailure(attempt, error, inputRefused));
  }
}

async function runToOutcome(attempt: Attempt): Promise<GraphOutcome> {
  const { run, signal } = attempt;
  const { started, unused } = await readAttemptProgress(attempt);
  attempt.unused = unused;
  const { update, goto, answers = [] } = run.request.command ?? {};
  rejectControlValues({ update, goto, answers: answers.map(({ value }) => value) }); // earlier versions accepted more
  if (signal.aborted) return { kind: "aborted" }; // cancelled before the process died
  const opened = openAttempt(attempt);
  const config = buildStreamConfig(opened, started);
  if (run.request.command?.givesUp !== true) return runPasses(opened, config, started);
  const values = await endThread(opened, withCallbacks(config, attempt.callbacks), started);
  return ended(opened, values);
}

async function readAttemptProgress({ context, run, unused }: Attempt): Promise<Progress> {
  if (run.attempt <= 1) return { started: false, unused };
  return context.read((tx) => readProgress(tx, context.codec, run, unused));
}

async function ended(attempt: OpenAttempt, values: unknown): Promise<GraphOutcome> {
  attempt.values = values;
  if (attempt.cause !== undefined) throw attempt.cause;
  attempt.events.chunk({ ns: [], mode: "values", payload: values });
  attempt.events.ended("completed");
  return { kind: "done", values };
}

function toFailure(attempt: Attempt, error: unknown, inputRefused: boolean): GraphOutcome {
  const { cause, signal, run, context } = attempt;
  if (signal.aborted) {
    attempt.events?.ended("interrupted");
    return { kind: "aborted" };
  }
  const failure = runError(cause ?? error, run, context.folder);
  attempt.events?.ended("failed", failure);
  return {
    kind: "failed",
    error: failure,
    storageFailed: isStorageFailure(cause ?? error),
    answerRefused: isInterruptMoved(cause) || (cause === undefined && isRefusedAnswer(error)),
    inputRefused,
  };
}
