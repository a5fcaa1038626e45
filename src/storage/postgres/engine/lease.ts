// Lease: this process's place on the list of workers, kept by the heartbeat (heartbeat.ts), lost and taken anew.
// Invariants:
//   lease.1. holds() is true only while no other process can have taken this worker off the list: the time that it looks at
//        ends before the lease does.
//   lease.2. A lease that was lost is not mended: the process goes on under a new id, with new runs.
//        Its runs go back as those of a process that lives: nothing is counted as a crash, if no other process was faster.
//   lease.3. Every process looks now and then for workers whose heartbeat has stopped, with or without runs of its own.
//   lease.4. A worker that could not hand all of its runs back stays on the list, so that they are found.
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
  /** False for a process that has no runs: it is not on the list. */
  readonly isWorker: boolean;
  /** A main loop that does not turn for so long ends the process. */
  readonly stuckMs: number;
}

export interface HeartbeatData {
  readonly uri: string;
  readonly workerId: string | null;
  readonly everyMs: number;
  readonly leaseMs: number;
  readonly stuckMs: number;
  /** Until when the lease is good, and how often the main loop has turned. */
  readonly shared: SharedArrayBuffer;
}

/** What the heartbeat tells: a lease was lost, or a new one has been kept for the first time. */
export type HeartbeatNews = { readonly lost: string } | { readonly held: string };

/** A dead worker's runs are claimable within LEASE_MS + LOOK_MS of its last heartbeat, and some milliseconds. */
const LEASE_MS = 7000;
const LOOK_MS = 1500;
const BEAT_MS = 1000;
/** What clocks may differ by in the length of a second, over a lease, and more than that. */
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
      log.info("worker_listed_again", { worker: workerId });
    } catch (error) {
      log.debug("worker_not_listed", { reason: describeError(error).message });
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
      log.debug("look_failed", { reason: describeError(error).message });
    }
    if (!stopped) stopLooking = clock.after(LOOK_MS, () => void (looking = look())); // lease.3
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
      storage.transaction((tx) => tx.addWorker(listed, id)).catch(() => undefined); // a lost job is made again
    },
    async start() {
      stopLooking = clock.after(LOOK_MS, () => void (looking = look()));
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
