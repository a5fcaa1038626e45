// Lease: this process's row in the list of workers; the heartbeat (heartbeat.ts) renews it, and a lost one is replaced.
// Invariants:
//   lease.1. holds() is true only while no other process can have removed this worker: its deadline is earlier than
//        that of the lease.
//   lease.2. A lost lease stays lost: the process continues under a new id, with new runs. Its runs are requeued as
//        those of a live process: without a faster other process, none counts as a crash.
//   lease.3. Every process scans for workers without a heartbeat from time to time, with or without its own runs.
//   lease.4. A worker that cannot requeue all of its runs keeps its row, so that a scan finds them.
import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Lease, LeaseWatcher, Storage, Tx } from "../../../agent/ports/ports.ts";
import type { Clock } from "../../../base/clock.ts";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import type { Log } from "../../../base/log/log.ts";
import { CLOSE_MS } from "../client/pool.ts";

export interface LeaseOptions {
  readonly uri: string;
  /** False for a process without slots: it has no row. */
  readonly isWorker: boolean;
  /** A main event loop that stands still for so long ends the process. */
  readonly stuckMs: number;
}

export interface HeartbeatData {
  readonly uri: string;
  readonly workerId: string | null;
  readonly everyMs: number;
  readonly leaseMs: number;
  readonly stuckMs: number;
  /** Deadline of the lease, and the number of turns of the main event loop. */
  readonly shared: SharedArrayBuffer;
}

/** Messages of the heartbeat: a lease was lost, or a new one got its first beat. */
export type HeartbeatNews = { readonly lost: string } | { readonly held: string };

/** A dead worker's runs are claimable within LEASE_MS + SCAN_MS of its last heartbeat, and some milliseconds. */
const LEASE_MS = 7000;
const SCAN_MS = 1500;
const BEAT_MS = 1000;
/** Largest expected clock drift over a lease, with a margin. */
const MARGIN_MS = 500;
const TURN_MS = 250;
const AGAIN_MS = 500;

/** lease.4. */
async function leaveList(tx: Tx, workerId: string): Promise<void> {
  if ((await tx.runningRuns(workerId)).length === 0) await tx.removeWorker(workerId);
}

async function endHeartbeat(heartbeat: Worker): Promise<void> {
  const ended = new Promise((resolve) => heartbeat.once("exit", resolve));
  heartbeat.postMessage("stop", []);
  if (!(await settlesWithin(ended, CLOSE_MS))) void heartbeat.terminate(); // its connection does not answer
}

export function createLease(
  options: LeaseOptions,
  ports: { readonly storage: Pick<Storage, "transaction">; readonly clock: Clock; readonly log: Log },
): Lease & { readonly onPool: (poolId: string) => void } {
  const { storage, clock, log } = ports;
  const shared = new SharedArrayBuffer(16);
  const clocks = new BigInt64Array(shared);
  let workerId: string | null = null;
  let heartbeat: Worker | null = null;
  let watcher: LeaseWatcher | null = null;
  let stopped = false;
  let stopLooking: () => void = () => undefined;
  let looking: Promise<void> = Promise.resolve();
  let turning: NodeJS.Timeout | undefined;
  let poolId: string | null = null;

  const register = async (): Promise<void> => {
    const id = randomUUID();
    await storage.transaction((tx) => tx.addWorker(id, poolId));
    workerId = id;
  };
  const registerAgain = async (lostId: string): Promise<void> => {
    if (stopped) return;
    try {
      await watcher?.takeOver(0, lostId);
      await register();
      heartbeat?.postMessage({ workerId }, []);
      log.info("worker_registered_again", { worker: workerId });
    } catch (error) {
      log.debug("worker_registration_failed", { reason: describeError(error).message });
      clock.after(AGAIN_MS, () => void registerAgain(lostId));
    }
  };
  const lost = (id: string): void => {
    if (id !== workerId || stopped) return;
    log.warning("lease_lost", { worker: id });
    watcher?.onLost(); // lease.2
    void registerAgain(id);
  };

  const look = async (): Promise<void> => {
    try {
      let found: boolean;
      do found = !stopped && (await watcher?.takeOver(LEASE_MS)) === true;
      while (found);
    } catch (error) {
      log.debug("recovery_scan_failed", { reason: describeError(error).message });
    }
    if (!stopped) stopLooking = clock.after(SCAN_MS, () => void (looking = look())); // lease.3
  };

  return {
    name: "lease",
    workerId: () => workerId,
    holds: () => process.hrtime.bigint() < Atomics.load(clocks, 0), // lease.1
    watch(given) {
      watcher = given;
    },
    onPool(id) {
      poolId = id;
      const listed = workerId;
      if (listed === null) return;
      // the job check creates a lost job again
      storage.transaction((tx) => tx.addWorker(listed, id)).catch(() => undefined);
    },
    async start() {
      stopLooking = clock.after(SCAN_MS, () => void (looking = look()));
      if (!options.isWorker) return;
      await register();
      const data: HeartbeatData = {
        uri: options.uri,
        workerId,
        everyMs: BEAT_MS,
        leaseMs: LEASE_MS - MARGIN_MS,
        stuckMs: options.stuckMs,
        shared,
      };
      const file = new URL(`./heartbeat${extname(import.meta.url)}`, import.meta.url);
      heartbeat = new Worker(file, { workerData: data });
      heartbeat.on("message", (told: HeartbeatNews) => ("lost" in told ? lost(told.lost) : watcher?.onHeld()));
      heartbeat.on("error", (error) => log.error("heartbeat_failed", { reason: describeError(error).message }));
      Atomics.store(clocks, 0, process.hrtime.bigint() + BigInt(LEASE_MS - MARGIN_MS) * 1_000_000n);
      turning = setInterval(() => Atomics.add(clocks, 1, 1n), TURN_MS);
      turning.unref();
    },
    async stop() {
      stopped = true;
      stopLooking();
      await settlesWithin(looking, CLOSE_MS);
      clearInterval(turning);
      if (heartbeat !== null) await endHeartbeat(heartbeat);
      const left = workerId;
      if (left !== null)
        await settlesWithin(
          storage.transaction((tx) => leaveList(tx, left)),
          CLOSE_MS,
        );
    },
  };
}
