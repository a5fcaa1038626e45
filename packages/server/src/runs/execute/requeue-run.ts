// What becomes of a run whose process, lease or storage failed: it waits again, or it ends.
import type { RequeueCause } from "../../model/crash-suspects.ts";
import { type Finished, type RequeueLimits, STORAGE_FAILURES_MAX, toRunOutcome, finishRun } from "./finish-run.ts";
import type { Run } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { EndTx, GraphRunResult, Graphs } from "../../ports/ports.ts";
import { nextRunStatus } from "../../model/status.ts";
import type { Announce } from "../../webhooks/run-ended-event.ts";

export interface Requeue extends RequeueLimits {
  readonly cause: RequeueCause;
  readonly at: number;
  readonly announce: Announce;
  readonly graphs: Pick<Graphs, "readUnused">;
}

/** Requeue: puts an unfinished run back into the queue and counts the cause, or ends the run at the limit. */
export async function requeueRun(
  tx: EndTx,
  run: Run,
  { cause, crashesMax, at, announce, graphs }: Requeue,
): Promise<{ readonly run: Run; readonly finished: Finished | null }> {
  const crashes = run.crashes + (cause === "crash" ? 1 : 0);
  const suspicions = run.suspicions + (cause === "suspicion" ? 1 : 0);
  const storageFailures = run.storageFailures + (cause === "storage" ? 1 : 0);
  const counts = { crashes, suspicions, storageFailures, alone: 0 };
  if (crashes <= crashesMax && storageFailures <= STORAGE_FAILURES_MAX) {
    const patch = { status: nextRunStatus("running", "requeue"), ...counts, workerId: null, updatedAt: at };
    await tx.updateRun(run.runId, patch);
    const waiting = { ...run, ...patch };
    await tx.queueNext(run.threadId);
    return { run: waiting, finished: null };
  }
  const error =
    crashes > crashesMax
      ? { error: "RunLost", message: `the process died in this run ${crashes} times; it is not retried` }
      : {
          error: "StorageError",
          message: `the storage failed in ${storageFailures} attempts of this run in a row; it is not retried`,
        };
  const lost: GraphRunResult = {
    outcome: { kind: "failed", error },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: null,
    held: [],
  };
  const finished = await finishRun(tx, {
    run: { ...run, ...counts },
    result: lost,
    outcome: toRunOutcome(lost, null),
    at,
    announce,
    graphs,
  });
  return { run: finished?.run ?? run, finished };
}
