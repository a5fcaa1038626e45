// Storage port for runs, their queue, and the workers that execute them.
import type { Run, RunStatus, Thread } from "../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** Identity of one attempt. Every write of a run carries all three members. */
export type RunAttempt = Pick<Run, "threadId" | "runId" | "attempt">;

/** Columns that a claim changes. */
export type RunClaim = Pick<Run, "status" | "workerId" | "updatedAt">;

/** A run after its claim, and its thread before it. */
export interface ClaimedRow {
  readonly run: Run;
  readonly thread: Thread | null;
}

/** A run without its request and input. */
export interface RunHead extends Pick<Run, "threadId" | "runId" | "status" | "attempt" | "updatedAt"> {
  /** Size of the whole run. */
  readonly bytes: number;
}

export interface RunTx {
  run(threadId: string, runId: string): Awaitable<Run | null>;
  /** The thread of a run. */
  threadOfRun(runId: string): Awaitable<string | null>;
  /** A page of the runs of a thread, newest first. */
  runs(
    threadId: string,
    query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
  ): Awaitable<readonly RunHead[]>;
  /** Running and pending runs of a thread in execution order, delayed runs last. */
  activeRuns(threadId: string): Awaitable<readonly Run[]>;
  /**
   * Runs of an assistant, oldest first: either active (pending or running) or ended ones, without those whose
   * interrupts are open.
   */
  runsOfAssistant(assistantId: string, which: "active" | "ended", limit: number): Awaitable<readonly Run[]>;
  /** Runs of all threads ordered by thread and run id, starting after `after`. */
  allActiveRuns(query: {
    readonly status: "pending" | "running";
    readonly after: Pick<Run, "threadId" | "runId"> | null;
    readonly limit: number;
  }): Awaitable<readonly Run[]>;
  /** True if a run waits for the thread. Delayed runs do not count. */
  hasPendingRun(threadId: string): Awaitable<boolean>;
  /** The greatest run id. New ids sort after it even if the clock went back. */
  newestRunId(): Awaitable<string | null>;
  /** @param inputHash contentHash() of its input, if the caller has it: a long input takes long */
  insertRun(run: Run, inputHash?: string | null): Awaitable<void>;
  updateRun(runId: string, patch: Partial<Run>): Awaitable<void>;
  deleteRun(runId: string): Awaitable<void>;
  /** Deletes runs of a thread that ended before `before`. @returns the number deleted */
  deleteEndedRuns(threadId: string, before: number): Awaitable<number>;
  /**
   * Claims the next run in the queue whose thread is neither running nor paused, and increments its attempt.
   * @param dueBy delayed runs due by then join the queue first, as if accepted when they were due; null ignores them
   * @returns null also if only runs are left whose threads other transactions hold
   */
  claimPendingRun(claim: RunClaim, dueBy: number | null): Awaitable<ClaimedRow | null>;
  /** Due time of the next delayed run. */
  nextDueAt(): Awaitable<number | null>;
  /** Ends running runs that do not open, or whose threads do not, as their claim would: the other verbs leave them out. */
  failUnreadableRuns(at: number, workerId?: string): Awaitable<void>;
  /** @param workerId runs of this worker; all runs if absent */
  runningRuns(workerId?: string): Awaitable<readonly Run[]>;
  countPendingRuns(): Awaitable<number>;
  /** True if the run is running in this attempt, so that its writes count. */
  isCurrent(run: RunAttempt): Awaitable<boolean>;
}

/** The queue and the registered workers. A single-process server has no worker list. */
export interface QueueTx {
  /**
   * Enqueues the next pending run of a thread, unless the thread is running or paused. Idempotent. Every change after
   * which a waiting run may start calls it, in its transaction. A delayed run enqueues itself when it is due.
   */
  queueNext(threadId: string): Awaitable<void>;
  /** Registers a worker as alive now. No effect in a single-process server. */
  addWorker(workerId: string): Awaitable<void>;
  /**
   * A worker whose last heartbeat is older than `leaseMs` by the database clock. Until the commit, that worker cannot
   * claim runs.
   * @param workers `only` this one, or any `except` this one
   */
  deadWorker(leaseMs: number, workers?: WhichWorkers): Awaitable<string | null>;
  /** Unregisters a worker. No run can be claimed under its id afterwards. */
  removeWorker(workerId: string): Awaitable<void>;
}

export interface WhichWorkers {
  readonly only?: string | null;
  readonly except?: string | null;
}

export interface IdempotencyRecord {
  readonly key: string;
  readonly requestHash: string;
  readonly threadId: string;
  readonly runId: string;
  readonly createdAt: number;
}

export interface IdempotencyTx {
  idempotency(key: string): Awaitable<IdempotencyRecord | null>;
  putIdempotency(record: IdempotencyRecord): Awaitable<void>;
  deleteIdempotencyBefore(at: number): Awaitable<void>;
}
