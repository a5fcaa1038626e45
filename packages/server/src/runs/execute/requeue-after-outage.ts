// Requeue after an outage: an attempt that ended because of the storage, or for want of memory, returns its run to the
// queue.
// Invariants:
//   requeue-after-outage.1. The requeue is repeated, with increasing delays, until it is stored or the process stops.
//     Only a storage that accepts writes again starts the next attempt.
//   requeue-after-outage.2. Attempts without a new checkpoint are counted and delayed. At the limit the run ends, and
//     its callers get that end.
//   requeue-after-outage.3. An acknowledged deletion wins: the callers of a deleted run get that, not a wait.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Run } from "../../model/model.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";
import { endBehindPause } from "./behind-pause.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import type { Finished } from "./finish-run.ts";
import { requeueRun } from "./requeue-run.ts";
import { type OwnSink, refusalReason } from "./run-sink.ts";

const STORE_AGAIN_MS = [250, 1000, 2000, 5000] as const;

export interface AfterOutage {
  /** The end at the limit (requeue-after-outage.2); null if the run is in the queue or elsewhere. */
  readonly finished: Finished | null;
  readonly refused?: readonly Run[];
  readonly left: "deleted" | "taken_over" | "not_stored";
}

export async function requeueAfterOutage(
  run: Run,
  sink: Pick<OwnSink, "progressed">,
  ports: ExecutePorts,
): Promise<AfterOutage> {
  const { clock, log } = ports;
  const counted = sink.progressed() ? { ...run, storageFailures: 0 } : run;
  log.warning("run_storage_failed", { run_id: run.runId, in_a_row: counted.storageFailures + 1 });
  if (counted.storageFailures > 0) await pauseBefore(counted.storageFailures - 1, clock);
  return requeueUntilStored(counted, "storage", ports);
}

/** memory-turns.2: what the attempt has not stored yet goes, since to store it takes the memory that is short. */
export function requeueForMemory(run: Run, ports: ExecutePorts): Promise<AfterOutage> {
  ports.log.info("run_waits_for_memory", { run_id: run.runId, thread_id: run.threadId });
  return requeueUntilStored(run, "stopped", ports);
}

/** requeue-after-outage.1. */
async function requeueUntilStored(run: Run, cause: "storage" | "stopped", ports: ExecutePorts): Promise<AfterOutage> {
  const { storage, clock, log } = ports;
  for (let attempt = 0; ; attempt++) {
    try {
      return await storage.transaction(async (tx) => {
        if (!(await tx.isCurrent(run))) return { finished: null, left: await refusalReason(tx, run) };
        const { graphs, crashesMax } = ports;
        const announce = announcer(graphs, () => null);
        const limits = { cause, crashesMax, at: clock.now(), announce, graphs } as const;
        const { run: after, finished } = await requeueRun(tx, run, limits);
        await ports.events.storeLateEnd(tx, after);
        return { finished, refused: await endBehindPause(tx, finished, ports), left: "taken_over" };
      });
    } catch (error) {
      log.warning("run_requeue_failed", { run_id: run.runId, reason: describeError(error).message });
    }
    if (ports.isDraining()) return { finished: null, left: "not_stored" }; // recovered later as a run of a dead worker
    await pauseBefore(attempt, clock);
  }
}

/** Waits before a transaction is repeated. */
export function pauseBefore(attempt: number, clock: Clock): Promise<void> {
  const delayMs = STORE_AGAIN_MS[Math.min(attempt, STORE_AGAIN_MS.length - 1)] ?? 0;
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}
