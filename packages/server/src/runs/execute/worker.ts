// Worker: executes claimed runs in slots, and delivers their ends to waiting callers.
// Parts: run-slots.ts (slots and claims), attempt.ts (one attempt), recovery.ts (runs of dead workers).
// Invariants:
//   - At most `slots` runs are in progress here. The transaction that ends a run claims the next one for its slot.
//   - A pause, an end or a result is published only after its commit.
//   - stop() claims nothing new, waits for the runs in progress, and requeues those that do not end in time. With other
//     workers, it also waits for runs that callers wait for here, then redirects those callers.
//   - A lost lease transfers the runs in progress to another worker. They are aborted here, their attempt fences their
//     writes, and their callers wait for the new owner.
//   worker.5. If a claiming COMMIT times out, the run may be assigned to this worker but not started. Such runs are
//     detected and requeued.
//   - After a crash, suspects execute alone (quarantine.ts), marked as alone before they start. A crash counts only
//     against a run that was alone when its process died (crash-suspects.ts).
import { settlesWithin } from "@holdpoint/base/lifecycle.ts";
import type { RunWaiters, Worker } from "../../context/services.ts";
import type { AbortReason } from "./abort-reason.ts";
import type { WorkerOptions, WorkerPorts } from "./execution-ports.ts";
import { createRecovery, createUnknownClaims } from "./recovery.ts";
import { createRunSlots, type RunSlots } from "./run-slots.ts";
import { createRunWaiters } from "./run-waiters.ts";

export function createWorker(options: WorkerOptions, ports: WorkerPorts): Worker {
  const { storage, log } = ports;
  const { queue, lease, peers } = ports.engine;
  const ends = createRunWaiters(peers);
  const unknownClaims = createUnknownClaims();
  const slots = createRunSlots(options, { ...ports, ends, unknownClaims });
  const recovery = createRecovery(options, { ...ports, unknownClaims, isInProgress: slots.isInProgress });
  return {
    name: "worker",
    ends,
    reserve: (isRequest = false) => (isRequest || queue.mayStartDirectly() ? slots.reserve(isRequest) : null),
    wake: queue.wake,
    claimFailed: unknownClaims.failed,
    id: lease.workerId,
    here: slots.inProgress,
    draining: slots.isDraining,
    running: slots.used,
    begun: slots.begun,
    takesBodies: slots.takesBodies,
    alone: peers.alone,
    abortHere: slots.abort,
    abort(runId, reason) {
      if (slots.abort(runId, reason)) return true;
      peers.notify({ kind: "abort", runId, reason });
      return false;
    },
    async start() {
      lease.watch({
        onLost: () => slots.abortAll("taken_over"),
        onHeld: () => queue.slotFree(),
        takeOver: recovery.takeOver,
      });
      if (peers.alone) {
        const recovered = await storage.transaction((tx) => recovery.requeueOrphans(tx));
        if (recovered.length > 0) log.info("runs_recovered", { runs: recovered.length });
      }
      if (options.slots > 0) await queue.start({ reserve: slots.reserve });
    },
    async stop() {
      slots.drain();
      await stopRuns({ ...ports, slots, ends, graceMs: options.graceMs });
      ends.close();
    },
  };
}

/** A requeue takes one transaction per run. A storage that does not respond cannot delay the stop further. */
const REQUEUE_MS = 3000;

/** Waits for the runs in progress, and aborts the rest after the grace period. */
async function stopRuns(
  stopping: Pick<WorkerPorts, "engine" | "clock" | "log"> & {
    readonly slots: RunSlots;
    readonly ends: RunWaiters;
    readonly graceMs: number;
  },
): Promise<void> {
  const { engine, clock, log, slots, ends, graceMs } = stopping;
  let stopTimer: () => void = () => undefined;
  const late = new Promise<false>((resolve) => {
    stopTimer = clock.after(graceMs, () => resolve(false));
  });
  await Promise.race([engine.queue.stop(), late]);
  const quiet = engine.peers.alone ? slots.settled() : Promise.all([slots.settled(), ends.idle()]);
  const inTime = await Promise.race([quiet.then(() => true), late]);
  stopTimer();
  if (!inTime) slots.abortAll("shutdown" satisfies AbortReason);
  if (!(await settlesWithin(slots.settled(), REQUEUE_MS))) {
    log.warning("runs_not_requeued", { runs: slots.inProgress() }); // recovered later as runs of a dead process
  }
}
