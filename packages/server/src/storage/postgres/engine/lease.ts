// Lease: this process's row in the list of workers; the heartbeat (heartbeat.ts) renews it, and a lost one is replaced.
// Invariants:
//   - holds() is true only while no other process can have removed this worker: its deadline is earlier than that of
//     the lease.
//   - A lost lease stays lost: the process continues under a new id, with new runs. Its runs are requeued as those of a
//     live process: without a faster other process, none counts as a crash.
//   - Every process scans for workers without a heartbeat from time to time, with or without its own runs.
//   - A worker that cannot requeue all of its runs keeps its row, so that a scan finds them.
import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Lease, LeaseWatcher, Storage, Tx } from "../../../ports/ports.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { settlesWithin } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { DatabaseAddress } from "../client/address.ts";
import { CLOSE_MS } from "../client/pool.ts";

export interface LeaseOptions extends DatabaseAddress {
  /** False for a process without slots: it has no row. */
  readonly isWorker: boolean;
  /** A main event loop that stands still for so long ends the process. */
  readonly stuckMs: number;
}

export interface HeartbeatData {
  readonly address: DatabaseAddress;
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

async function leaveList(tx: Tx, workerId: string, at: number): Promise<void> {
  await tx.failUnreadableRuns(at, workerId);
  if ((await tx.runningRuns(workerId)).length === 0) await tx.removeWorker(workerId);
}

async function endHeartbeat(heartbeat: Worker): Promise<void> {
  const ended = new Promise((resolve) => heartbeat.once("exit", resolve));
  heartbeat.postMessage("stop", []);
  if (!(await settlesWithin(ended, CLOSE_MS))) void heartbeat.terminate(); // its connection does not answer
}

interface LeasePorts {
  readonly storage: Pick<Storage, "transaction">;
  readonly clock: Clock;
  readonly log: Log;
}

interface LeaseState {
  readonly options: LeaseOptions;
  readonly ports: LeasePorts;
  /** Deadline of the lease in nanoseconds, and the number of turns of the main event loop. */
  readonly clocks: BigInt64Array<SharedArrayBuffer>;
  workerId: string | null;
  heartbeat: Worker | null;
  watcher: LeaseWatcher | null;
  stopped: boolean;
  cancelScan: () => void;
  scanning: Promise<void>;
  turning: NodeJS.Timeout | undefined;
}

export function createLease(options: LeaseOptions, ports: LeasePorts): Lease {
  const lease: LeaseState = {
    options,
    ports,
    clocks: new BigInt64Array(new SharedArrayBuffer(16)),
    workerId: null,
    heartbeat: null,
    watcher: null,
    stopped: false,
    cancelScan: () => undefined,
    scanning: Promise.resolve(),
    turning: undefined,
  };
  return {
    name: "lease",
    workerId: () => lease.workerId,
    holds: () => process.hrtime.bigint() < Atomics.load(lease.clocks, 0),
    watch(watcher) {
      lease.watcher = watcher;
    },
    async start() {
      scheduleScan(lease);
      if (!options.isWorker) return;
      await register(lease);
      startHeartbeat(lease);
    },
    stop: () => stopLease(lease),
  };
}

async function register(lease: LeaseState): Promise<void> {
  const id = randomUUID();
  await lease.ports.storage.transaction((tx) => tx.addWorker(id));
  lease.workerId = id;
}

function startHeartbeat(lease: LeaseState): void {
  const { options, clocks, workerId } = lease;
  const leaseMs = LEASE_MS - MARGIN_MS;
  const { uri, directUri = null, passwordCommand = null, stuckMs } = options;
  const address = { uri, directUri, passwordCommand };
  const data: HeartbeatData = { address, workerId, everyMs: BEAT_MS, leaseMs, stuckMs, shared: clocks.buffer };
  const file = new URL(`./heartbeat${extname(import.meta.url)}`, import.meta.url);
  const heartbeat = new Worker(file, { workerData: data });
  heartbeat.on("message", (news: HeartbeatNews) =>
    "lost" in news ? onLost(lease, news.lost) : lease.watcher?.onHeld(),
  );
  heartbeat.on("error", (error) => lease.ports.log.error("heartbeat_failed", { reason: describeError(error).message }));
  lease.heartbeat = heartbeat;
  Atomics.store(clocks, 0, process.hrtime.bigint() + BigInt(leaseMs) * 1_000_000n);
  lease.turning = setInterval(() => Atomics.add(clocks, 1, 1n), TURN_MS);
  lease.turning.unref();
}

function onLost(lease: LeaseState, id: string): void {
  if (id !== lease.workerId || lease.stopped) return;
  lease.ports.log.warning("lease_lost", { worker: id });
  lease.watcher?.onLost();
  void registerAgain(lease, id);
}

async function registerAgain(lease: LeaseState, lostId: string): Promise<void> {
  if (lease.stopped) return;
  const { clock, log } = lease.ports;
  try {
    await lease.watcher?.takeOver(0, lostId);
    await register(lease);
    lease.heartbeat?.postMessage({ workerId: lease.workerId }, []);
    log.info("worker_registered_again", { worker: lease.workerId });
  } catch (error) {
    log.debug("worker_registration_failed", { reason: describeError(error).message });
    clock.after(AGAIN_MS, () => void registerAgain(lease, lostId));
  }
}

function scheduleScan(lease: LeaseState): void {
  lease.cancelScan = lease.ports.clock.after(SCAN_MS, () => {
    lease.scanning = scan(lease);
  });
}

async function scan(lease: LeaseState): Promise<void> {
  try {
    let found: boolean;
    do found = !lease.stopped && (await lease.watcher?.takeOver(LEASE_MS)) === true;
    while (found);
  } catch (error) {
    lease.ports.log.debug("recovery_scan_failed", { reason: describeError(error).message });
  }
  if (!lease.stopped) scheduleScan(lease);
}

async function stopLease(lease: LeaseState): Promise<void> {
  lease.stopped = true;
  lease.cancelScan();
  await settlesWithin(lease.scanning, CLOSE_MS);
  clearInterval(lease.turning);
  if (lease.heartbeat !== null) await endHeartbeat(lease.heartbeat);
  const left = lease.workerId;
  if (left === null) return;
  await settlesWithin(
    lease.ports.storage.transaction((tx) => leaveList(tx, left, lease.ports.clock.now())),
    CLOSE_MS,
  );
}
