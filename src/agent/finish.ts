// Finish: the one transaction that ends a run: its last checkpoints, its status, the thread's status, the questions.
// Invariants:
//   FI1. A pause is stored whole before anybody can see it: checkpoint, questions and statuses are one commit.
//   FI2. A run that is no longer in its attempt ends nothing.
//   FI3. A question whose answer no task has used is open again when the thread waits for it.
//   FI4. A thread made for a stateless run is deleted in the transaction that ends its last run, unless that paused.
import type { JsonObject } from "../base/json/json.ts";
import { breakpointAt } from "./breakpoint.ts";
import type { HandBackCause } from "./crash.ts";
import { deadlineOf } from "./deadline.ts";
import type { AuditEntry, EndedBy, ErrorInfo, Interrupt, PauseKind, Run, Thread, WriteSet } from "./model.ts";
import { summarise } from "./payload-kind.ts";
import type { GraphRunResult, Question, Tx } from "./ports.ts";
import type { Announce } from "./webhook-event.ts";
import { nextRunStatus, nextThreadStatus, type ThreadEvent } from "./transitions.ts";

/** Why a run's signal was aborted. */
export type AbortReason = "cancel" | "rollback" | "timeout" | "shutdown" | "deleted" | "taken_over" | "write_failed";

export interface Ending {
  readonly endedBy: EndedBy;
  readonly pause: PauseKind | null;
  readonly error: ErrorInfo | null;
  /** The graph refused an answer: its question is open again. */
  readonly answerRefused?: boolean;
  readonly questions: readonly Question[];
  /** Nodes that a breakpoint holds back. */
  readonly next: readonly string[];
}

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

const NOTHING: WriteSet = { checkpoints: [], writes: [], blobs: [] };

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

/** @returns null when the run was deleted, or taken over by another attempt (FI2). */
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
  if (!current || thread === null) return null; // FI2
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

/**
 * A thread that was made for a stateless run goes with its last run. While it is paused it waits, however long.
 * @param leaveMs goes by the next sweep after that, so that those who wait in other processes can read how it ended
 * @returns whether it is gone
 */
export async function removeIfDone(tx: Tx, threadId: string, leaveMs = 0): Promise<boolean> {
  const thread = await tx.thread(threadId);
  if (thread === null) return true;
  if (thread.onCompletion === "keep" || thread.status === "interrupted") return false;
  if ((await tx.activeRuns(threadId)).length > 0) return false;
  if (leaveMs === 0) await tx.deleteThread(threadId); // FI4
  else await tx.updateThread(threadId, { ttlMs: leaveMs, ttlStrategy: "delete" });
  return leaveMs === 0;
}

function isGivingWay(endedBy: EndedBy): boolean {
  return endedBy === "cancel" || endedBy === "rollback";
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

interface Settled {
  readonly changed: readonly Interrupt[];
  readonly open: readonly Interrupt[];
  readonly audit: readonly AuditEntry[];
}

/** Other versions of the library give the same question another id; while it is open, it keeps the one that it has. */
function askedBy({ graphNs, taskId, index }: Pick<Interrupt, "graphNs" | "taskId" | "index">): string {
  return `${graphNs} ${taskId} ${index}`;
}

/** The questions of this pause, or its breakpoint, are open; whatever else was open is not waited for any more. */
function settlePause(
  run: Run,
  { pause, questions, next }: Ending,
  known: readonly Interrupt[],
  rootCheckpointId: string | null,
  assistant: JsonObject,
  at: number,
): Settled {
  const before = new Map(known.filter(({ state }) => state === "open").map((one) => [askedBy(one), one]));
  const open = questions.map(({ deadline: rule, ...question }): Interrupt => {
    const waited = before.get(askedBy(question)) ?? null;
    const deadline = deadlineOf(rule === undefined ? question : { ...question, deadline: rule }, assistant, at);
    return {
      ...question,
      interruptId: waited?.interruptId ?? question.interruptId,
      threadId: run.threadId,
      rootCheckpointId: rootCheckpointId ?? question.checkpointId,
      state: "open",
      createdAt: waited?.createdAt ?? at,
      runId: run.runId,
      graphId: run.graphId,
      assistantId: run.assistantId,
      node: question.ns.at(-1)?.split(":")[0] ?? "",
      kind: summarise(question.value, question.responseSchema).kind,
      claim: waited?.claim ?? null,
      expiresAt: waited === null ? deadline.expiresAt : waited.expiresAt,
      onExpiry: waited === null ? deadline.onExpiry : waited.onExpiry,
      answer: null,
    };
  });
  if (pause === "breakpoint" && rootCheckpointId !== null) {
    const { threadId, runId, graphId, assistantId } = run;
    open.push(breakpointAt(threadId, rootCheckpointId, next, { runId, graphId, assistantId }, at));
  }
  const asked = new Set(open.map((interrupt) => interrupt.interruptId));
  const dropped = known.filter((interrupt) => interrupt.state === "open" && !asked.has(interrupt.interruptId));
  return {
    open,
    changed: [...open, ...dropped.map((interrupt): Interrupt => ({ ...interrupt, state: "abandoned" }))],
    audit: [],
  };
}

/**
 * A run that did not pause: after its end nothing is open, except what it was answering and did not get to (FI3).
 * @param overruled another run came in its place: what it was answering is not waited for any more
 * @param unused ids of answers that no task used; null when all that the run did was taken back.
 */
function settleEnd(
  run: Run,
  { endedBy, answerRefused = false }: Ending,
  unused: readonly string[] | null,
  overruled: boolean,
  known: readonly Interrupt[],
  at: number,
): Settled {
  const reopens = answerRefused || (isGivingWay(endedBy) && !overruled);
  const carried = new Set((run.request.command?.answers ?? []).map((answer) => answer.interruptId));
  const backOpen = (interrupt: Interrupt): boolean =>
    reopens &&
    interrupt.answer?.runId === run.runId &&
    (unused === null ? carried.has(interrupt.interruptId) : unused.includes(interrupt.interruptId));
  const reopened = known.filter(backOpen).map((interrupt): Interrupt => {
    // A default answer that the graph refuses is given once: the question waits on, overdue.
    const onExpiry = answerRefused && interrupt.answer?.by === "deadline" ? null : interrupt.onExpiry;
    return { ...interrupt, state: "open", answer: null, onExpiry };
  });
  const untouched = known.filter((interrupt) => interrupt.state === "open");
  // Siblings of an unused answer wait on; without one, an open question was passed by or failed.
  const waits = reopens && (reopened.length > 0 || (!answerRefused && carried.size === 0 && run.request.goesFirst));
  const dropped = waits ? [] : untouched.map((interrupt): Interrupt => ({ ...interrupt, state: "abandoned" }));
  return {
    open: waits ? [...untouched, ...reopened] : [],
    changed: [...reopened, ...dropped],
    audit: reopened.map(({ interruptId }) => ({
      threadId: run.threadId,
      at,
      action: "reopened",
      by: "server",
      interruptId,
      runId: run.runId,
      value: answerRefused ? "answer_invalid" : endedBy,
    })),
  };
}

/** Limits of what a run may be handed back for. */
interface HandBackLimits {
  readonly crashesMax: number;
}

/** Attempts in a row without a checkpoint: an outage is over by then, since handing back needs the storage as well. */
const STORAGE_FAILURES_MAX = 20;

/** Puts a run that did not end back into the queue, and counts what kept it from its end; ends it when that is too often. */
export async function handBack(
  tx: Tx,
  run: Run,
  cause: HandBackCause,
  { crashesMax }: HandBackLimits,
  at: number,
  announce: Announce,
): Promise<Run> {
  const crashes = run.crashes + (cause === "crash" ? 1 : 0);
  const suspicions = run.suspicions + (cause === "suspicion" ? 1 : 0);
  const storageFailures = run.storageFailures + (cause === "storage" ? 1 : 0);
  const counts = { crashes, suspicions, storageFailures, alone: 0 };
  if (crashes <= crashesMax && storageFailures <= STORAGE_FAILURES_MAX) {
    const patch = { status: nextRunStatus("running", "hand_back"), ...counts, workerId: null, updatedAt: at };
    await tx.updateRun(run.runId, patch);
    const waiting = { ...run, ...patch };
    await tx.queueRun(waiting);
    return waiting;
  }
  const error =
    crashes > crashesMax
      ? { error: "RunLost", message: `the process died in this run ${crashes} times; it is not tried again` }
      : {
          error: "StorageError",
          message: `the storage failed in ${storageFailures} attempts of this run in a row; it is not tried again`,
        };
  const lost: GraphRunResult = {
    outcome: { kind: "failed", error },
    rest: NOTHING,
    checkpointId: null,
    overlay: null,
    unused: run.request.command?.answers ?? [],
    held: [],
  };
  const finished = await finishRun(tx, { ...run, ...counts }, lost, endingOf(lost, null), at, announce);
  return finished?.run ?? run;
}
