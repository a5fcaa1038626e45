// Storage port for threads: one row each, with all dependent data.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Scope, Thread, ThreadStatus } from "../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

export interface ThreadQuery {
  readonly scope: Scope;
  readonly ids: readonly string[] | null;
  /** The beginning of an id, in lower case. */
  readonly idPrefix: string | null;
  readonly status: ThreadStatus | null;
  readonly metadata: JsonObject | null;
  /** Words of the search index, all of which must occur in the thread; empty: any thread. */
  readonly search: readonly string[];
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "thread_id" | "status" | "created_at" | "updated_at" | "state_updated_at";
  readonly descending: boolean;
}

export interface ThreadTx {
  thread(threadId: string): Awaitable<Thread | null>;
  insertThread(thread: Thread): Awaitable<void>;
  updateThread(threadId: string, patch: Partial<Thread>): Awaitable<void>;
  /**
   * Conditional update that decides every race: sets a thread with the status `from` to busy. If the status differs,
   * the transaction fails, at the latest at its commit. The caller need not await this before its other statements.
   * @throws {ApiError} `thread_busy`
   */
  takeThread(threadId: string, from: ThreadStatus, patch: Partial<Thread>): Awaitable<void>;
  /** Deletes the thread with all its data. */
  deleteThread(threadId: string): Awaitable<boolean>;
  searchThreads(query: ThreadQuery): Awaitable<readonly Thread[]>;
  /** Ids of the threads that searchThreads() finds, in its order. */
  searchThreadIds(query: ThreadQuery): Awaitable<readonly string[]>;
  /** @param max upper bound of the count: a page needs no exact total of many threads */
  countThreads(query: ThreadQuery, max: number | null): Awaitable<number>;
  /**
   * Threads with an expired time to live whose strategy has not run since.
   * @param paused includes paused threads
   */
  expiredThreads(at: number, limit: number, paused: boolean): Awaitable<readonly Thread[]>;
  /** Threads in id order, for sweeps. */
  threadsAfter(threadId: string | null, limit: number): Awaitable<readonly Thread[]>;
}

export interface CopyTx {
  /**
   * Copies some of the large values to a thread that does not exist yet, so that copyThreadData need not, where a long
   * transaction would delay other calls. Each call belongs in a transaction of its own.
   * @param after the result of the previous call; null at first, which copies nothing yet
   * @returns null when copyThreadData can follow
   */
  copyValuesAhead(from: string, to: string, after: string | null): Awaitable<string | null>;
  /** Copies checkpoints, writes, interrupts and the other large values, in the transaction that inserts the copy. */
  copyThreadData(from: string, to: string): Awaitable<void>;
  /** Deletes the values that were copied ahead, unless the copy is complete. */
  abandonCopy(to: string): Awaitable<void>;
}

export interface PruneTx {
  /**
   * Deletes all checkpoints except the newest resumable one of each namespace, with the data only they reference.
   * @param at time of pruning, so that the thread is skipped until it changes
   * @returns the number of deleted checkpoints
   */
  pruneThread(threadId: string, at: number): Awaitable<number>;
}
