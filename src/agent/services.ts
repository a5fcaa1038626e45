import type { Service } from "../base/lifecycle.ts";
import type { Run } from "./model/model.ts";
import type { RunEnd, Slot, Tx } from "./ports/ports.ts";

export interface Worker extends Service {
  /** A free slot for a run that is about to be accepted, or null. */
  reserve(): Slot | null;
  /** There may be something to claim. */
  wake(): void;
  /** Ends a run that is in progress: here, or wherever it is. False when it is not here. */
  abort(runId: string, reason: "cancel" | "rollback" | "deleted"): boolean;
  /** As another process asks for it. */
  abortHere(runId: string, reason: "cancel" | "rollback" | "deleted"): boolean;
  /** There is no other process that could have a run. */
  readonly alone: boolean;
  /** Runs that are in progress here. */
  readonly here: () => readonly string[];
  /** A transaction has failed that may have claimed a run: whether it did is looked up if need be. */
  readonly claimFailed: (error: unknown) => void;
  /** What runs are claimed under. */
  readonly id: () => string | null;
  readonly ends: RunWaiters;
  readonly draining: () => boolean;
  readonly running: () => number;
}

/** Why the end of a run is not told here: it was deleted, handed back for the next process, or cannot be stored at present. */
export type GoneWhy = "deleted" | "handed_back" | "not_stored";

export type WaitResult =
  | { readonly kind: "ended"; readonly end: RunEnd }
  | { readonly kind: "gone"; readonly why: GoneWhy };

export interface RunWaiters {
  /** Register before the run can end. @returns the promise, and a function for a caller that hangs up. */
  wait(runId: string): { readonly result: Promise<WaitResult>; readonly leave: () => void };
  /**
   * A run has ended in this process.
   * @param describe is called only when somebody waits
   * @param expected whoever waits may be in any process: it came through the queue, or never left it
   */
  ended(run: Pick<Run, "runId" | "threadId">, describe: () => RunEnd, expected?: boolean): void;
  gone(runId: string, why: GoneWhy): void;
  /** Runs that somebody waits for here. */
  readonly waited: () => readonly string[];
  readonly isWaited: (runId: string) => boolean;
  /** A call is being accepted that may wait for its run. @returns what to call when it was, or was refused. */
  expect(): () => void;
  /** Resolves when nobody waits here, or is about to. */
  idle(): Promise<void>;
  /** No end is told here any more: who waits, and whoever comes now, is told to ask the next process. */
  close(): void;
  /** A run has ended in another process. */
  endedElsewhere(runId: string, end: RunEnd): void;
  /** It was deleted there. */
  goneElsewhere(runId: string): void;
}

export interface QueueLimit {
  /** Asked for each run that is to wait. */
  isFull(tx: Pick<Tx, "countPendingRuns">): Promise<boolean>;
}
