// Recovery: requeues the runs of dead workers, and runs of this worker that it never started (worker.5).
//   recovery.1. A worker that counts as dead may still commit the end of a run. So a run is looked at again with the lock
//     of its thread, and one that has ended stays so. The lock comes before any change, as everywhere.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { nameCauses } from "../../model/crash-suspects.ts";
import type { Run } from "../../model/model.ts";
import type { EndTx, EventTx, LeaseWatcher } from "../../ports/ports.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";
import { endBehindPause } from "./behind-pause.ts";
import type { WorkerOptions, WorkerPorts } from "./execution-ports.ts";
import { requeueRun } from "./requeue-run.ts";

/** State of worker.5: candidates for runs that this worker claimed without starting them. */
export interface UnknownClaims {
  /** Notes a failed transaction that may have claimed a run. */
  readonly failed: (error: unknown) => void;
  /** Unstarted runs of the previous check; null if no check is due. */
  readonly candidates: () => ReadonlySet<string> | null;
  /** @param candidates null ends the checks */
  readonly keep: (candidates: ReadonlySet<string> | null) => void;
}

export function createUnknownClaims(): UnknownClaims {
  let candidates: ReadonlySet<string> | null = null;
  return {
    failed(error) {
      if (error instanceof ApiError && error.code === "commit_unknown") candidates ??= new Set();
    },
    candidates: () => candidates,
    keep: (found) => void (candidates = found),
  };
}

export interface Recovery {
  /** Requeues the runs of a worker; all running runs if absent. */
  requeueOrphans(tx: EndTx & EventTx, orphans?: Orphans): Promise<readonly Run[]>;
  readonly takeOver: LeaseWatcher["takeOver"];
}

interface Orphans {
  readonly workerId: string;
  /** The process is alive and only lost its lease, so no crash counts. */
  readonly alive: boolean;
}

export interface RecoveryPorts extends WorkerPorts {
  readonly unknownClaims: UnknownClaims;
  readonly isInProgress: (runId: string) => boolean;
}

export function createRecovery(options: WorkerOptions, ports: RecoveryPorts): Recovery {
  const { storage, clock, log, engine, unknownClaims } = ports;
  const announce = announcer(ports.graphs, () => null);
  const requeueOrphans: Recovery["requeueOrphans"] = async (tx, orphans) => {
    const requeued: Run[] = [];
    await tx.failUnreadableRuns(clock.now(), orphans?.workerId);
    const runs = await tx.runningRuns(orphans?.workerId);
    const causes = nameCauses(runs);
    for (const run of runs) {
      if (!(await tx.isCurrent(run))) continue; // recovery.1
      const cause = orphans?.alive === true ? "stopped" : (causes.get(run.runId) ?? "suspicion");
      const at = clock.now();
      const limits = { cause, crashesMax: options.crashesMax, at, announce, graphs: ports.graphs } as const;
      const { run: after, finished } = await requeueRun(tx, run, limits);
      requeued.push(after, ...(await endBehindPause(tx, finished, ports)));
      await ports.events.storeLateEnd(tx, after);
    }
    return requeued;
  };

  /** worker.5. A run claimed a moment ago is in one check, but not in two. */
  const requeueUnstarted = async (seen: ReadonlySet<string>): Promise<void> => {
    const workerId = engine.lease.workerId();
    const found = new Set<string>();
    if (workerId !== null) {
      await storage.transaction(async (tx) => {
        for (const run of await tx.runningRuns(workerId)) {
          if (ports.isInProgress(run.runId)) continue;
          found.add(run.runId);
          if (!seen.has(run.runId) || !(await tx.isCurrent(run))) continue;
          const limits = { cause: "stopped", crashesMax: options.crashesMax, at: clock.now(), announce } as const;
          await requeueRun(tx, run, { ...limits, graphs: ports.graphs });
        }
      });
      engine.queue.wake();
    }
    unknownClaims.keep([...found].every((runId) => seen.has(runId)) ? null : found);
  };

  return {
    requeueOrphans,
    async takeOver(leaseMs, own) {
      const candidates = unknownClaims.candidates();
      if (candidates !== null && own === undefined) await requeueUnstarted(candidates);
      // This process is alive: it takes back its own runs when it registers again, and no crash counts.
      const except = own === undefined ? engine.lease.workerId() : null;
      const found = await storage.transaction(async (tx) => {
        const workerId = await tx.deadWorker(leaseMs, { only: own ?? null, except });
        if (workerId === null) return null;
        const runs = await requeueOrphans(tx, { workerId, alive: own !== undefined });
        await tx.removeWorker(workerId);
        return { workerId, runs };
      });
      if (found === null) return false;
      log.warning("worker_lost", { worker: found.workerId, runs: found.runs.map(({ runId }) => runId) });
      for (const { runId, threadId } of found.runs)
        engine.peers.notify({ kind: "ended", runId, threadId, expected: true });
      engine.queue.wake();
      return true;
    },
  };
}
