// Finish: the one transaction that ends a run: its last checkpoints, its status, the thread's status, the questions.
// Invariants:
//   finish-run.1. A pause is stored whole before anybody can see it: checkpoint, questions and statuses are one commit.
//   finish-run.2. A run that is no longer in its attempt ends nothing.
//   finish-run.3. A question whose answer no task has used is open again when the thread waits for it.
//   finish-run.4. A thread made for a stateless run is deleted in the transaction that ends its last run, unless that paused.
import type { JsonObject } from "../../../base/json/json.ts";
import { type Ending, isGivingWay, settleEnd, settlePause } from "../../interrupts/settle-on-finish.ts";
import type { EndedBy, ErrorInfo, Interrupt, PauseKind, Run, Thread } from "../../model/model.ts";
import { type ThreadEvent, nextRunStatus, nextThreadStatus } from "../../model/status.ts";
import type { GraphRunResult, Tx } from "../../ports/ports.ts";
import { removeIfDone } from "../../threads/ephemeral-thread.ts";
import type { Announce } from "../../webhooks/run-ended-event.ts";
import type { AbortReason } from "./abort-reason.ts";

export interface Finished {
  readonly run: Run;
  readonly pause: PauseKind | null;
  readonly interrupts: readonly Interrupt[];
  /** What waits for a person from now on: the questions, or the breakpoint. */
  readonly waiting: readonly Interrupt[];
  /** The thread's. */
  readonly metadata: JsonObject;
  /** That of the run's assistant, when it paused. */
  readonly assistantMetadata: JsonObject;
  /** The thread went with this, its last run. */
  readonly threadIsGone: boolean;
}

export function endingOf(result: GraphRunResult, reason: AbortReason | null): Ending {
  const ending = (endedBy: EndedBy, error: ErrorInfo | null = null): Ending => ({
    endedBy,
    error,
    pause: null,
    questions: [],
    next: [],
  });
  const { outcome } = result;
  switch (outcome.kind) {
    case "done":
      return ending("done");
    case "breakpoint":
      return { ...ending("pause"), pause: "breakpoint", next: outcome.next };
    case "question":
      return { ...ending("pause"), pause: "question", questions: outcome.questions };
    case "failed":
      return { ...ending("failure", outcome.error), answerRefused: outcome.answerRefused === true };
    case "aborted":
      if (reason === "timeout")
        return ending("timeout", { error: "Timeout", message: "the run took longer than BG_JOB_TIMEOUT_SECS allows" });
      if (reason === "cancel" || reason === "rollback") return ending(reason);
      return ending("failure", { error: "StorageError", message: "what the run wrote could not be stored" });
    default:
      return outcome satisfies never;
  }
}

/** @returns null when the run was deleted, or taken over by another attempt (finish-run.2). */
export async function finishRun(
  tx: Tx,
  run: Run,
  result: GraphRunResult,
  ending: Ending,
  at: number,
  announce: Announce,
  leaveMs = 0,
): Promise<Finished | null> {
  const [current, thread, known, others, assistant] = await Promise.all([
    tx.isCurrent(run),
    tx.thread(run.threadId),
    tx.interrupts(run.threadId, null),
    tx.hasPendingRun(run.threadId),
    ending.endedBy === "pause" ? tx.assistant(run.assistantId) : null,
  ]); // together, which is one round trip
  if (!current || thread === null) return null; // finish-run.2
  const keep = ending.endedBy !== "rollback";
  if (keep) await tx.putWriteSet(result.rest);
  else await tx.deleteRunData(run.threadId, run.runId);

  const checkpointId =
    result.checkpointId !== null && keep ? result.checkpointId : await newestOf(tx, run, thread, keep);
  const settled =
    ending.endedBy === "pause"
      ? settlePause(run, ending, known, checkpointId, assistant?.metadata ?? {}, at)
      : settleEnd(
          run,
          ending,
          keep ? result.unused.map((answer) => answer.interruptId) : null,
          isGivingWay(ending.endedBy) && (await isOverruled(tx, run)),
          known,
          at,
        );
  await tx.putInterrupts(settled.changed);
  await tx.audit(settled.audit);

  const waits = ending.pause ?? (settled.open.length > 0 && ending.endedBy !== "done" ? "question" : null);
  const failed = (ending.endedBy === "failure" || ending.endedBy === "timeout") && waits === null;
  const event: ThreadEvent = failed ? "fail" : waits === null ? "rest" : "pause";
  const status = event === "rest" && others ? "busy" : nextThreadStatus(thread.status, event);
  await tx.updateThread(run.threadId, {
    status,
    pause: status === "interrupted" ? waits : null,
    checkpointId,
    overlay: result.overlay,
    error: failed ? ending.error : null,
    stateUpdatedAt: at,
    updatedAt: at,
  });
  const patch: Partial<Run> = {
    status: nextRunStatus("running", ending.endedBy),
    workerId: null,
    endedBy: ending.endedBy,
    error: ending.error,
    checkpointId,
    overlay: result.overlay,
    pausedOn: ending.pause === "question" ? settled.open.map((one) => one.interruptId) : [],
    updatedAt: at,
  };
  await tx.updateRun(run.runId, patch);
  if (others && status !== "interrupted") await tx.queueNext(run.threadId);
  const interrupts = ending.pause === "question" ? settled.open : [];
  const waiting = status === "interrupted" ? settled.open : [];
  const ended = { run: { ...run, ...patch }, pause: ending.pause, interrupts };
  await announce(tx, { ...ended, startedAt: run.updatedAt });
  const threadIsGone = thread.onCompletion !== "keep" && (await removeIfDone(tx, run.threadId, leaveMs));
  return { ...ended, waiting, metadata: thread.metadata, assistantMetadata: assistant?.metadata ?? {}, threadIsGone };
}

/** Ends a run that waits and has not got its thread: it only leaves the queue. */
export async function endWaiting(
  tx: Tx,
  run: Run,
  reason: "cancel" | "rollback",
  at: number,
  announce: Announce,
): Promise<Run> {
  const patch = { status: nextRunStatus("pending", reason), endedBy: reason, updatedAt: at };
  await tx.updateRun(run.runId, patch);
  const ended = { ...run, ...patch };
  await announce(tx, { run: ended, startedAt: null, pause: null, interrupts: [] });
  return ended;
}

/** A run that was told to give way leaves nothing to wait for: the one that came in its place is to run, not to be held. */
async function isOverruled(tx: Tx, run: Run): Promise<boolean> {
  const active = await tx.activeRuns(run.threadId);
  return active.some(
    ({ runId, dueAt, multitaskStrategy: strategy }) =>
      runId > run.runId && dueAt === null && (strategy === "interrupt" || strategy === "rollback"),
  );
}

/** The attempt wrote no checkpoint (or it is taken back): an attempt before it may have, and the thread did not hear of that. */
async function newestOf(tx: Tx, run: Run, thread: Thread, keep: boolean): Promise<string | null> {
  if (keep && run.attempt === 1) return thread.checkpointId;
  const newest = (await tx.checkpoint(run.threadId, "", null))?.checkpoint;
  if (!keep) return newest?.checkpointId ?? null;
  return newest?.runId === run.runId ? newest.checkpointId : thread.checkpointId;
}

/** Limits of what a run may be handed back for. */
export interface RequeueLimits {
  readonly crashesMax: number;
}

/** Attempts in a row without a checkpoint: an outage is over by then, since handing back needs the storage as well. */
export const STORAGE_FAILURES_MAX = 20;
