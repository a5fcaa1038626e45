// Run target: the point of the thread where a run begins, and the answers and breakpoint that it ends.
import { ApiError } from "../../../base/api-error.ts";
import { assignmentRefusal, requireAssignable } from "../../interrupts/assignments.ts";
import { type AcceptedAnswers, acceptAnswers, olderCheckpoint } from "../../interrupts/resume-rules.ts";
import { type Intent, atBreakpoint } from "../../interrupts/run-intent.ts";
import type { Interrupt, Thread } from "../../model/model.ts";
import type { CheckpointTx, Tx } from "../../ports/ports.ts";
import type { StartRequest } from "./run-start.ts";

interface Target {
  /** The intent in view of the thread: a bare value at a breakpoint continues it. */
  readonly intent: Intent;
  /** Checkpoint of a fork; null if the run continues the thread. */
  readonly forkFrom: string | null;
  readonly answers: AcceptedAnswers | null;
  readonly breakpoint: Interrupt | null;
}

/** @throws {ApiError} for a checkpoint that does not exist, and for every refused answer */
export async function targetOf(
  tx: Tx,
  thread: Thread,
  { caller, start: { call }, intent: given, snapshot, at }: StartRequest,
): Promise<Target> {
  const { known, writtenBy } = snapshot;
  const { threadId } = thread;
  const forkFrom = olderCheckpoint(call, thread, known, given);
  const intent = forkFrom === null && thread.pause === "breakpoint" ? atBreakpoint(given) : given;
  if (call.afterSeconds !== 0) refuseDelayedAnswer(thread, intent);
  if (call.subgraph !== null) await requireCheckpoint(tx, threadId, call.subgraph.ns, call.subgraph.checkpointId);
  if (forkFrom !== null && writtenBy === null)
    throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${forkFrom}.`);
  const fromInbox = call.via === "inbox";
  const answers =
    intent.kind === "resume"
      ? acceptAnswers(thread, known, intent.resume, {
          olderCheckpoint: forkFrom,
          fork: intent.fork === true,
          ...(fromInbox ? { refusal: (one: Interrupt) => assignmentRefusal(one, caller, at) } : {}),
        })
      : null;
  const breakpoint = thread.pause === "breakpoint" ? await tx.openBreakpoint(threadId) : null;
  if (call.atBreakpoint !== undefined && breakpoint?.interruptId !== call.atBreakpoint) {
    const detail = `The thread is no longer paused at the breakpoint ${call.atBreakpoint}.`;
    throw new ApiError("interrupt_stale", detail);
  }
  if (fromInbox && breakpoint !== null) requireAssignable(breakpoint, caller, at);
  return { intent, forkFrom, answers, breakpoint };
}

/** The human waits that the run ends. */
export function answeredWaits({ answers, breakpoint }: Target, continuesPause: boolean): readonly Interrupt[] {
  return answers?.interrupts ?? (continuesPause && breakpoint !== null ? [breakpoint] : []);
}

/** @throws {ApiError} `checkpoint_not_found` */
async function requireCheckpoint(
  tx: Pick<CheckpointTx, "checkpoint">,
  threadId: string,
  ns: string,
  checkpointId: string,
): Promise<void> {
  if ((await tx.checkpoint(threadId, ns, checkpointId)) !== null) return;
  throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${checkpointId} in "${ns}".`);
}

/** A run that ends a pause claims the thread at acceptance, so it cannot start later. */
function refuseDelayedAnswer(thread: Thread, intent: Intent): void {
  const continues = thread.status === "interrupted" && intent.kind === "continue";
  if (intent.kind !== "resume" && !continues) return;
  throw new ApiError("answer_delayed", "A run that answers or continues a pause cannot have after_seconds.");
}
