// Claim: a pending run becomes a running one, in a transaction of the queue or in the one that ends another run.
// Invariants:
//   - The statement that finds the run pending also increments its attempt and stores the worker.
//   - An acknowledged cancellation applies to every later attempt.
//   - A run that would change the state behind a decision of the time in which it waited only ends
//     (threads/behind-review.ts).
import type { EventStart } from "../../events/event-log.ts";
import { type BeginPorts, eventStart, storeBegin } from "../../events/first-event-id.ts";
import type { Run } from "../../model/model.ts";
import type { AuditTx, ClaimedRow, ClaimTx, History, RunClaim } from "../../ports/ports.ts";
import { nextRunStatus } from "../../model/status.ts";
import { isOvertaken } from "../../threads/behind-review.ts";
import type { AbortReason } from "./abort-reason.ts";

export function claimBy(workerId: string | null, at: number): RunClaim {
  return { status: nextRunStatus("pending", "claim"), workerId, updatedAt: at };
}

/** Gives a claimed run its thread, and determines its starting point. */
export async function beginClaimed(tx: ClaimTx, { run, thread }: ClaimedRow, ports: BeginPorts): Promise<Claimed> {
  const { graphId, assistantId, updatedAt } = run;
  if (thread !== null && thread.status !== "busy") await tx.takeThread(run.threadId, thread.status, { updatedAt });
  if (thread !== null && (thread.graphId !== graphId || thread.assistantId !== assistantId)) {
    await tx.updateThread(run.threadId, { graphId, assistantId });
  }
  const isFirst = run.attempt === 1;
  return {
    run,
    history: thread?.checkpointId !== null || !isFirst ? "stored" : "none",
    eventStart: await storeBegin(tx, run, await eventStart(tx, { ...run, attempt: run.attempt - 1 }), ports),
    endsFor: (isFirst ? null : await findCancellation(tx, run)) ?? (await findReview(tx, { run, thread })),
    direct: false,
  };
}

/**
 * The audit trail has the cancellation since its acknowledgement, even if the process died before the end.
 */
export async function findCancellation(tx: AuditTx, run: Run): Promise<"cancel" | "rollback" | null> {
  const entry = (await tx.listAudit(run.threadId)).findLast(
    ({ action, runId }) => action === "cancelled" && runId === run.runId,
  );
  return entry === undefined ? null : entry.value === "rollback" ? "rollback" : "cancel";
}

async function findReview(tx: ClaimTx, { run, thread }: ClaimedRow): Promise<"behind_review" | null> {
  return thread !== null && (await isOvertaken(tx, thread, run)) ? "behind_review" : null;
}

export interface Claimed {
  readonly run: Run;
  readonly history: History;
  readonly eventStart: EventStart;
  /** Why the run only ends: behind a review, or cancelled in an attempt that its process did not survive. */
  readonly endsFor: AbortReason | null;
  /** Started by the call that created it: the waiting caller is probably in this process. */
  readonly direct: boolean;
}
