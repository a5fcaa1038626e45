// Engine: coordination of runs and readers beside storage, as four ports: queue, lease, peers and wakes.
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Run } from "../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";
import type { History } from "./checkpoints.ts";
import type { ClaimedRow, RunClaim, RunTx } from "./runs.ts";

/** Wakes readers of new events. Waking is cheap without listeners. */
export interface Wakes {
  /** @param key id of a run or a thread */
  wake(key: string): void;
  /** @returns an unsubscribe function */
  listen(key: string, woken: () => void): () => void;
  /** Number of listeners in this process. */
  listeners(key: string): number;
  /** True if another process has listeners. Their events must be stored. */
  hasRemoteListeners(key: string): boolean;
  /** Calls back when another process starts to listen, and periodically while it does. */
  onRemoteListener(callback: (key: string) => void): void;
}

/** Claims a pending run, if any. */
export type ChooseRun = (tx: RunTx, claim: RunClaim) => Awaitable<ClaimedRow | null>;

/** Execution slot in this process, reserved before its run is claimed. */
export interface Slot {
  /** Starts a run that acceptance stored as running. @param isBegun its first event is stored */
  start(run: Run, history: History, isBegun: boolean): void;
  /**
   * Claims a run in one transaction and starts it; releases the slot if no run is pending. @returns true if a run
   * started
   */
  claim(choose: ChooseRun): Promise<boolean>;
  /** Releases an unused slot. No effect after a start. */
  release(): void;
}

/** Consumer of the queue: the worker. */
export interface QueueConsumer {
  /** Null if no slot is free. */
  reserve(): Slot | null;
}

/** Delivers pending runs in order, one per thread at a time. The rows of the runs are the source of truth. */
export interface Queue {
  start(consumer: QueueConsumer): Promise<void>;
  /** Signals that a run may be deliverable. */
  readonly wake: () => void;
  /** Signals a free slot. */
  slotFree(): void;
  /** True if no run waits ahead, so that a newly accepted run may use a free slot at once. */
  mayStartDirectly(): boolean;
  /**
   * Claims the next run for the slot, in the transaction that ends its run. Null if the queue delivers it by claim().
   */
  readonly next: ChooseRun;
  /** Stops the delivery of runs. */
  stop(): Promise<void>;
}

/** The right of this process to own runs and to write for them. */
export interface Lease extends Service {
  /** Worker id of this process; null in a single-process server. */
  readonly workerId: () => string | null;
  /** False as soon as other processes may take over its runs. Cheap: called before each step of a run. */
  readonly holds: () => boolean;
  watch(watcher: LeaseWatcher): void;
}

export interface LeaseWatcher {
  readonly onLost: () => void;
  /** A new lease replaces a lost one. */
  readonly onHeld: () => void;
  /**
   * Called periodically; takes over the runs of a dead worker.
   * @param own the lost lease id of this process: its runs are requeued without counting a crash
   * @returns false if no worker is dead
   */
  readonly takeOver: (leaseMs: number, own?: string) => Promise<boolean>;
}

/** Notice between processes. Every notice is a hint to read storage, which is authoritative. */
export type Notice =
  | { readonly kind: "abort"; readonly runId: string; readonly reason: "cancel" | "rollback" | "deleted" }
  /** `expected`: the waiting caller is probably in another process. */
  | { readonly kind: "ended"; readonly threadId: string; readonly runId: string; readonly expected?: boolean }
  | { readonly kind: "gone"; readonly runId: string }
  /** The set of open inbox items changed. */
  | { readonly kind: "inbox" };

/** The other processes of this server. */
export interface Peers {
  /** This is the only process, now and later. */
  readonly alone: boolean;
  notify(notice: Notice): void;
  /** @param onMissed notices may be lost: check everything that is awaited */
  listen(onNotice: (notice: Notice) => void, onMissed: () => void): void;
}

/** Coordination of runs and readers. A single process keeps it in memory, several processes in their database. */
export interface Engine {
  readonly queue: Queue;
  readonly lease: Lease;
  readonly peers: Peers;
  readonly wakes: Wakes;
}
