// Engine: what runs and their readers need beside storage: queue, lease, peers and wakes.
import type { Service } from "../../base/lifecycle.ts";
import type { Run } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";
import type { History } from "./checkpoints.ts";
import type { ClaimedRow, RunClaim } from "./runs.ts";
import type { Tx } from "./storage.ts";

/** Tells readers that there is more to read. Telling is cheap when nobody listens. */
export interface Wakes {
  /** @param key a run's or a thread's id */
  wake(key: string): void;
  /** @returns the way to stop listening. */
  listen(key: string, woken: () => void): () => void;
  /** How many listen in this process. */
  listeners(key: string): number;
  /** Somebody listens in another process: what they are to read has to be stored. */
  hasRemoteListeners(key: string): boolean;
  /** Calls back when somebody in another process begins to listen, and now and then while they do. */
  onRemoteListener(callback: (key: string) => void): void;
}

/** Claims a run that waits, if there is one. */
export type ChooseRun = (tx: Tx, claim: RunClaim) => Awaitable<ClaimedRow | null>;

/** A place for a run in this process, held from before the run is claimed. */
export interface Slot {
  /** Starts a run that was accepted as running. */
  start(run: Run, history: History): void;
  /** Claims a run in one transaction, and starts it; when there is none, gives the slot back. @returns whether */
  claim(choose: ChooseRun): Promise<boolean>;
  /** Gives back a slot in which nothing was started; else it does nothing. */
  release(): void;
}

/** Who takes what the queue hands out. */
export interface QueueConsumer {
  /** Null when no slot is free. */
  reserve(): Slot | null;
}

/** Hands pending runs out: one of a thread at a time, in their order. What it hands out is read from the rows of runs. */
export interface Queue {
  start(consumer: QueueConsumer): Promise<void>;
  /** There may be something to hand out. */
  readonly wake: () => void;
  /** The consumer has a free slot again. */
  slotFree(): void;
  /** The consumer may use a free slot for a run that is just being accepted: nothing waits that was there before. */
  mayStartDirectly(): boolean;
  /** In the transaction that ends a run: the one that is to have its slot. Null when that comes by claim(). */
  readonly next: ChooseRun;
  /** Nothing is handed out any more. */
  stop(): Promise<void>;
}

/** The right of this process to have runs, and to write as the one that has them. */
export interface Lease extends Service {
  /** The id that it has runs under; null where it is alone with its storage. */
  readonly workerId: () => string | null;
  /** False from when on others may take its runs. Cheap: asked before each step of a run. */
  readonly holds: () => boolean;
  watch(watcher: LeaseWatcher): void;
}

export interface LeaseWatcher {
  readonly onLost: () => void;
  /** There is a new one, after one that was lost. */
  readonly onHeld: () => void;
  /**
   * Called now and then: takes over from a worker that is no more.
   * @param own the id that this process had its lease under and has lost: its runs go back, and count as no crash
   * @returns false when there is none
   */
  readonly takeOver: (leaseMs: number, own?: string) => Promise<boolean>;
}

/** What processes tell each other. All of it is a hint to look: what counts is stored. */
export type Notice =
  | { readonly kind: "abort"; readonly runId: string; readonly reason: "cancel" | "rollback" | "deleted" }
  /** `expected`: whoever waits for it is rather elsewhere. */
  | { readonly kind: "ended"; readonly threadId: string; readonly runId: string; readonly expected?: boolean }
  | { readonly kind: "gone"; readonly runId: string }
  /** What waits for people has changed. */
  | { readonly kind: "inbox" };

/** The other processes of this server. */
export interface Peers {
  /** There are no others, and never will be. */
  readonly alone: boolean;
  tell(notice: Notice): void;
  /** @param onMissed notices may have been missed: everything that was waited for has to be looked at. */
  listen(onNotice: (notice: Notice) => void, onMissed: () => void): void;
}

/** What runs and their readers need beside storage; one process has it in memory, many have it in their database. */
export interface Engine {
  readonly queue: Queue;
  readonly lease: Lease;
  readonly peers: Peers;
  readonly wakes: Wakes;
}
