// Claim run: a pending run becomes a running one, in a transaction of the queue or in the one that ends another run.
// Invariants:
//   CR1. A claim counts the attempt up and names the worker, in the transaction that found the run pending.
//   CR2. A cancellation that was acknowledged counts in every later attempt.
import { eventStart } from "./events/start.ts";
import type { Claimed } from "./execute-run.ts";
import type { Run } from "./model.ts";
import type { Tx } from "./ports.ts";
import { nextRunStatus } from "./transitions.ts";

export async function claimRun(tx: Tx, run: Run, workerId: string | null, at: number): Promise<Claimed> {
  const patch = { status: nextRunStatus(run.status, "claim"), attempt: run.attempt + 1, workerId, updatedAt: at };
  await tx.updateRun(run.runId, patch); // CR1
  const thread = await tx.thread(run.threadId);
  if (thread !== null && thread.status !== "busy") await tx.takeThread(run.threadId, thread.status, { updatedAt: at });
  if (thread !== null && (thread.graphId !== run.graphId || thread.assistantId !== run.assistantId)) {
    await tx.updateThread(run.threadId, { graphId: run.graphId, assistantId: run.assistantId });
  }
  const cancelled = run.attempt === 0 ? null : await cancellationOf(tx, run);
  const history = thread?.checkpointId !== null || run.attempt > 0 ? "stored" : "none";
  return { run: { ...run, ...patch }, history, eventStart: await eventStart(tx, run), cancelled, direct: false };
}

/** CR2. It is on record from when it was acknowledged, also if the process died before the run ended. */
export async function cancellationOf(tx: Tx, run: Run): Promise<"cancel" | "rollback" | null> {
  const entry = (await tx.auditOf(run.threadId)).findLast(
    ({ action, runId }) => action === "cancelled" && runId === run.runId,
  );
  return entry === undefined ? null : entry.value === "rollback" ? "rollback" : "cancel";
}
