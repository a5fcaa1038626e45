// Runs in storage: rows, the queue that they stand in, and the workers that have them.
import type { Run, RunStatus, Thread } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

/** One attempt of a run: what it writes carries all three. */
export type RunAttempt = Pick<Run, "threadId" | "runId" | "attempt">;

/** What a claim changes of its run. */
export type RunClaim = Pick<Run, "status" | "workerId" | "updatedAt">;

/** A run as it is since it was claimed, and its thread as it was then. */
export interface ClaimedRow {
  readonly run: Run;
  readonly thread: Thread | null;
}

export interface RunTx {
  run(threadId: string, runId: string): Awaitable<Run | null>;
  /** The thread that a run belongs to. */
  threadOfRun(runId: string): Awaitable<string | null>;
  runs(
    threadId: string,
    query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
  ): Awaitable<readonly Run[]>;
  /** Running and pending runs of a thread in the order in which they go, delayed ones last. */
  activeRuns(threadId: string): Awaitable<readonly Run[]>;
  /** Runs on an assistant, oldest first: those that are pending or running, or those that have ended. */
  runsOfAssistant(assistantId: string, which: "active" | "ended", limit: number): Awaitable<readonly Run[]>;
  /** Runs of all threads by thread and id, those that come after `after`. */
  allActiveRuns(query: {
    readonly status: "pending" | "running";
    readonly after: Pick<Run, "threadId" | "runId"> | null;
    readonly limit: number;
  }): Awaitable<readonly Run[]>;
  /** A run waits for the thread; delayed ones do not yet. */
  hasPendingRun(threadId: string): Awaitable<boolean>;
  /** The greatest id of a run: ids made from now on follow it, also when the clock has gone back. */
  newestRunId(): Awaitable<string | null>;
  insertRun(run: Run): Awaitable<void>;
  updateRun(runId: string, patch: Partial<Run>): Awaitable<void>;
  deleteRun(runId: string): Awaitable<void>;
  /** Deletes runs of a thread that ended before this. @returns how many. */
  deleteEndedRuns(threadId: string, before: number): Awaitable<number>;
  /**
   * Claims the next pending run of a thread that neither runs nor waits for a person, and counts its attempt up.
   * @param dueBy a delayed run whose time has come by then stands in the queue from that time on, as if it had been
   *   accepted then; null when none is looked for
   * @param threadId null for any thread
   */
  claimPendingRun(claim: RunClaim, dueBy: number | null, threadId?: string | null): Awaitable<ClaimedRow | null>;
  /** When the next delayed run is due. */
  nextDueAt(): Awaitable<number | null>;
  /** @param workerId those that this worker has; all when it is left out. */
  runningRuns(workerId?: string): Awaitable<readonly Run[]>;
  countPendingRuns(): Awaitable<number>;
  /** The run is running, and in this attempt: what it writes counts. */
  isCurrent(run: RunAttempt): Awaitable<boolean>;
}

/** The queue's engine, and the workers that may have runs. Where there is one process, there is no list of them. */
export interface QueueTx {
  /** Tells the queue of a pending run that can be claimed, or can be from `dueAt` on, with the commit. Twice is as once. */
  queueRun(run: Run): Awaitable<void>;
  /** The same for the next run of a thread that has come to rest, if one waits for it. */
  queueNext(threadId: string): Awaitable<void>;
  /**
   * Puts a worker on the list of those that may have runs, as alive now. Where there is one process, there is no list.
   * @param jobsLockedAs under which id the queue's engine locks jobs for it
   */
  addWorker(workerId: string, jobsLockedAs?: string | null): Awaitable<void>;
  /** A worker whose last heartbeat is older than `leaseMs` by the database's clock. Nobody claims in its name meanwhile. @param workerId this one */
  deadWorker(leaseMs: number, workerId?: string | null): Awaitable<string | null>;
  /** Takes a worker off the list, and frees the jobs that it had: nothing is claimed in its name any more. */
  removeWorker(workerId: string): Awaitable<void>;
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
