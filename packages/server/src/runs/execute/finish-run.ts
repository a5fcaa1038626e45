// Run end: the transaction that ends a run, with its last checkpoints, both statuses and its interrupts.
// Invariants:
//   - A pause becomes visible with one commit: checkpoint, interrupts and statuses.
//   - A stale attempt ends nothing.
//   - An interrupt whose answer no task used is open again if the thread still waits for it. So is one that the run
//     abandoned by an input that did not reach the state.
//   - The thread of a stateless run is deleted in the transaction that ends its last run, unless that run paused.
import { findQuestionFault } from "../../interrupts/answer-schema.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { outdatedVotes } from "../../interrupts/outdated-votes.ts";
import {
  type InterruptChanges,
  type RunOutcome,
  interruptsAfterEnd,
  interruptsAfterPause,
} from "../../interrupts/settle-on-finish.ts";
import type {
  EndedBy,
  ErrorInfo,
  Interrupt,
  PauseKind,
  Run,
  Thread,
  ThreadStatus,
  WriteSet,
} from "../../model/model.ts";
import type { Policy } from "../../model/policy.ts";
import { type ThreadEvent, nextRunStatus, nextThreadStatus } from "../../model/status.ts";
import type { CheckpointTx, EndTx, GraphRunResult, Graphs, InterruptTx, RunTx, Tx } from "../../ports/ports.ts";
import { removeIfDone } from "../../threads/ephemeral-thread.ts";
import { changeGraph } from "../../threads/graph-change.ts";
import { startersAfter } from "../../threads/starters.ts";
import { findFirstRun } from "../../webhooks/a2a-event.ts";
import type { Announce } from "../../webhooks/run-ended-event.ts";
import type { AbortReason } from "./abort-reason.ts";

export interface Finished {
  readonly run: Run;
  readonly pause: PauseKind | null;
  readonly interrupts: readonly Interrupt[];
  /** Those of them that were never asked before. */
  readonly asked: readonly Interrupt[];
  /** Open inbox items after the end: interrupts or the breakpoint. */
  readonly pending: readonly Interrupt[];
  /** Inbox items that were open until the end. */
  readonly closed: readonly Interrupt[];
  /** Metadata of the thread. */
  readonly metadata: JsonObject;
  /** Metadata of the run's assistant, if the run paused. */
  readonly assistantMetadata: JsonObject;
  /** Stored policies, for the questions of this pause. */
  readonly policies: readonly Policy[];
  /** The thread was deleted with this run, its last. */
  readonly threadIsGone: boolean;
  /** The outbox has events for webhooks that were added to the run. */
  readonly hasWebhooks: boolean;
  /** Runs in the queue of the thread wait behind its pause. */
  readonly holdsRuns: boolean;
  /** The next one of them has joined the line. */
  readonly freesRun: boolean;
}

/** @param reason the reason of the abort; null if the graph ended by itself */
export function toRunOutcome(result: GraphRunResult, reason: AbortReason | null): RunOutcome {
  const ended = (endedBy: EndedBy, error: ErrorInfo | null = null): RunOutcome => ({
    endedBy,
    error,
    pause: null,
    interrupts: [],
    next: [],
  });
  const { outcome } = result;
  switch (outcome.kind) {
    case "done":
      return ended("done");
    case "breakpoint":
      return { ...ended("pause"), pause: "breakpoint", next: outcome.next };
    case "question": {
      const fault = findQuestionFault(outcome.interrupts);
      if (fault !== null) return ended("failure", { error: "response_schema_refused", message: fault });
      return { ...ended("pause"), pause: "question", interrupts: outcome.interrupts };
    }
    case "failed":
      return {
        ...ended("failure", outcome.error),
        answerRefused: outcome.answerRefused === true,
        inputRefused: outcome.inputRefused === true,
      };
    case "aborted":
      if (reason === "timeout")
        return ended("timeout", { error: "Timeout", message: "the run exceeded BG_JOB_TIMEOUT_SECS" });
      if (reason === "cancel" || reason === "rollback") return ended(reason);
      if (reason === "behind_review") return ended("failure", { error: "forbidden", message: OVERTAKEN });
      return ended("failure", { error: "StorageError", message: "the writes of the run could not be stored" });
    default:
      return outcome satisfies never;
  }
}

const OVERTAKEN =
  "People decided under review rules while the run waited, and it would change the state behind their decision: start it anew, with the right threads:bypass.";

/** The end of one attempt. */
export interface RunFinish {
  readonly run: Run;
  readonly result: GraphRunResult;
  readonly outcome: RunOutcome;
  readonly at: number;
  readonly announce: Announce;
  readonly graphs: Pick<Graphs, "readUnused">;
  /** Called with the lock of the thread: the last rows, after earlier ones of this attempt that are not stored. */
  readonly withEarlier?: (rows: WriteSet) => WriteSet;
  /** Delay before a thread is deleted with its last run. */
  readonly leaveMs?: number;
  /** How often a question is asked again after its node threw; 0 if absent. */
  readonly askAgainMax?: number;
}

/** @returns null if the run was deleted or another attempt replaced it */
export async function finishRun(tx: EndTx, finish: RunFinish): Promise<Finished | null> {
  const { run, result, outcome, at, announce, leaveMs = 0 } = finish;
  const { threadId } = run;
  const [current, thread, known, others, assistant, policies, webhooks] = await Promise.all([
    tx.isCurrent(run),
    tx.thread(threadId),
    tx.interrupts(threadId, null),
    tx.hasPendingRun(threadId),
    outcome.endedBy === "pause" ? tx.assistant(run.assistantId) : null,
    outcome.pause === "question" ? tx.policies(at) : [],
    tx.runWebhooks(threadId, findFirstRun(run)),
  ]); // one round trip
  if (!current || thread === null) return null;
  const checkpointId = await storeRest(tx, thread, finish);
  const assistantMetadata = assistant?.metadata ?? {};
  const startedBy = startersAfter(thread, run, outcome.endedBy);
  const interrupts = await updateInterrupts(tx, finish, { known, checkpointId, assistantMetadata, startedBy });
  const status = await updateThread(tx, thread, finish, { checkpointId, open: interrupts.open, others, startedBy });
  const pausedOn = outcome.pause === "question" ? interrupts.open : [];
  const patch: Partial<Run> = {
    status: nextRunStatus("running", outcome.endedBy),
    workerId: null,
    endedBy: outcome.endedBy,
    error: outcome.error,
    checkpointId,
    overlay: result.overlay,
    pausedOn: pausedOn.map((one) => one.interruptId),
    updatedAt: at,
  };
  await tx.updateRun(run.runId, patch);
  const freesRun = others && status !== "interrupted";
  if (freesRun) await tx.queueNext(threadId);
  const ended = { run: { ...run, ...patch }, pause: outcome.pause, interrupts: pausedOn };
  const pending = status === "interrupted" ? interrupts.open : [];
  await announce(tx, { ...ended, startedAt: run.updatedAt, open: pending, webhooks });
  const threadIsGone = thread.onCompletion !== "keep" && (await removeIfDone(tx, threadId, leaveMs));
  const closed = interrupts.changed.filter(({ state }) => state === "abandoned");
  return {
    ...ended,
    asked: pausedOn.filter((one) => !known.some(({ interruptId }) => interruptId === one.interruptId)),
    pending,
    closed,
    metadata: thread.metadata,
    assistantMetadata,
    policies,
    threadIsGone,
    hasWebhooks: webhooks.length > 0,
    holdsRuns: others && !freesRun,
    freesRun,
  };
}

/** Stores the last writes, or rolls all of them back. @returns the newest checkpoint of the thread */
async function storeRest(
  tx: CheckpointTx,
  thread: Thread,
  { run, result, outcome, withEarlier }: RunFinish,
): Promise<string | null> {
  const keep = outcome.endedBy !== "rollback" && outcome.inputRefused !== true;
  if (keep) await tx.putWriteSet(withEarlier?.(result.rest) ?? result.rest);
  else await tx.deleteRunData(run.threadId, run.runId);
  return result.checkpointId !== null && keep ? result.checkpointId : findNewest(tx, run, thread, keep);
}

async function updateInterrupts(
  tx: InterruptTx & RunTx & CheckpointTx,
  { run, result, outcome, at, graphs, askAgainMax = 0 }: RunFinish,
  thread: {
    readonly known: readonly Interrupt[];
    readonly checkpointId: string | null;
    readonly assistantMetadata: JsonObject;
    readonly startedBy: readonly string[];
  },
): Promise<InterruptChanges> {
  const finished = { run, outcome, known: thread.known, at };
  const changes =
    outcome.endedBy === "pause"
      ? interruptsAfterPause({
          ...finished,
          rootCheckpointId: thread.checkpointId,
          assistant: thread.assistantMetadata,
          startedBy: thread.startedBy,
          outdated: await outdatedVotes(tx, run, thread.known),
        })
      : interruptsAfterEnd({
          ...finished,
          unused: outcome.endedBy === "rollback" ? null : (result.unused ?? (await graphs.readUnused(tx, run))),
          givenUp: await givenUpBy(tx, finished, result.checkpointId),
          overruled: outcome.endedBy !== "done" && (await isOverruled(tx, run)),
          rootCheckpointId: thread.checkpointId,
          askAgainMax,
        });
  await tx.putInterrupts(changes.changed);
  await tx.audit(changes.audit);
  return changes;
}

/** Interrupts that the input of a failed run abandoned, although it did not reach the state. */
async function givenUpBy(
  tx: Pick<Tx, "listAudit">,
  { run, outcome }: Pick<RunFinish, "run" | "outcome">,
  checkpointId: string | null,
): Promise<readonly string[]> {
  const failed = outcome.endedBy === "failure" || outcome.endedBy === "timeout";
  if (!failed || run.input === null || (checkpointId !== null && outcome.inputRefused !== true)) return [];
  const entries = await tx.listAudit(run.threadId);
  return entries.flatMap(({ action, runId, interruptId }) =>
    action === "abandoned" && runId === run.runId && interruptId !== null ? [interruptId] : [],
  );
}

/** @returns the new status of the thread */
async function updateThread(
  tx: Pick<Tx, "updateThread" | "run">,
  thread: Thread,
  { run, result, outcome, at }: RunFinish,
  after: {
    readonly checkpointId: string | null;
    readonly open: readonly Interrupt[];
    readonly others: boolean;
    readonly startedBy: readonly string[];
  },
): Promise<ThreadStatus> {
  const pause = outcome.pause ?? (after.open.length > 0 && outcome.endedBy !== "done" ? "question" : null);
  const failed = (outcome.endedBy === "failure" || outcome.endedBy === "timeout") && pause === null;
  const event: ThreadEvent = failed ? "fail" : pause === null ? "rest" : "pause";
  const status = event === "rest" && after.others ? "busy" : nextThreadStatus(thread.status, event);
  const isAsBefore = pause !== null && outcome.pause === null && after.checkpointId === thread.checkpointId;
  await tx.updateThread(run.threadId, {
    ...(isAsBefore ? await graphBefore(tx, thread, after.open) : {}),
    status,
    pause: status === "interrupted" ? pause : null,
    checkpointId: after.checkpointId,
    overlay: result.overlay,
    error: failed ? outcome.error : null,
    startedBy: after.startedBy,
    stateUpdatedAt: at,
    updatedAt: at,
  });
  return status;
}

/** Graph and config of the run that asked: those of a run that failed might not even read the state. */
async function graphBefore(
  tx: Pick<Tx, "run">,
  thread: Thread,
  [first]: readonly Interrupt[],
): Promise<Partial<Thread>> {
  const asker = first === undefined ? null : await tx.run(thread.threadId, first.runId);
  return asker === null ? {} : changeGraph(thread, asker, asker.request.config);
}

export interface PendingEnd {
  readonly reason: "cancel" | "rollback" | "failure";
  readonly error?: ErrorInfo | null;
  readonly at: number;
  readonly announce: Announce;
}

/** Ends a pending run without its thread: the run only leaves the queue. */
export async function endPending(
  tx: EndTx,
  run: Run,
  { reason, error = null, at, announce }: PendingEnd,
): Promise<Run> {
  const patch = { status: nextRunStatus("pending", reason), endedBy: reason, error, updatedAt: at };
  await tx.updateRun(run.runId, patch);
  await tx.queueNext(run.threadId);
  const ended = { ...run, ...patch };
  const webhooks = await tx.runWebhooks(run.threadId, findFirstRun(run));
  await announce(tx, { run: ended, startedAt: null, pause: null, interrupts: [], open: [], webhooks });
  return ended;
}

/** A displaced run leaves no open interrupts, so that the run which replaced it is not held by a pause. */
async function isOverruled(tx: RunTx, run: Run): Promise<boolean> {
  const active = await tx.activeRuns(run.threadId);
  return active.some(
    ({ runId, dueAt, multitaskStrategy: strategy }) =>
      runId > run.runId && dueAt === null && (strategy === "interrupt" || strategy === "rollback"),
  );
}

/**
 * Without a checkpoint of this attempt (or after its rollback), an earlier attempt may have written one unknown to the
 * thread.
 */
async function findNewest(tx: CheckpointTx, run: Run, thread: Thread, keep: boolean): Promise<string | null> {
  if (keep && run.attempt === 1) return thread.checkpointId;
  const newest = (await tx.checkpoint(run.threadId, "", null))?.checkpoint;
  if (!keep) return newest?.checkpointId ?? null;
  return newest?.runId === run.runId ? newest.checkpointId : thread.checkpointId;
}

/** Limits for requeues of one run. */
export interface RequeueLimits {
  readonly crashesMax: number;
}

/**
 * Consecutive attempts without a checkpoint. An outage ends before the limit, because a requeue needs the storage too.
 */
export const STORAGE_FAILURES_MAX = 20;
