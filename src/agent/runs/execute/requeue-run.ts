import type { RequeueCause } from "../../model/crash-suspects.ts";
import { type RequeueLimits, STORAGE_FAILURES_MAX, endingOf, finishRun } from "./finish-run.ts";
import type { Run } from "../../model/model.ts";
import { EMPTY_WRITE_SET } from "../../model/empty-write-set.ts";
import type { GraphRunResult, Tx } from "../../ports/ports.ts";
import { nextRunStatus } from "../../model/status.ts";
import type { Announce } from "../../webhooks/run-ended-event.ts";

/** Puts a run that did not end back into the queue, and counts what kept it from its end; ends it when that is too often. */
export async function requeueRun(
  tx: Tx,
  run: Run,
  cause: RequeueCause,
  { crashesMax }: RequeueLimits,
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
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: run.request.command?.answers ?? [],
    held: [],
  };
  const finished = await finishRun(tx, { ...run, ...counts }, lost, endingOf(lost, null), at, announce);
  return finished?.run ?? run;
}
