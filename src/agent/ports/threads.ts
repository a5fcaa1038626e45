// Threads in storage: one row each, and everything that belongs to them.
import type { JsonObject } from "../../base/json/json.ts";
import type { Scope, Thread, ThreadStatus } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

export interface ThreadQuery {
  readonly scope: Scope;
  readonly ids: readonly string[] | null;
  readonly status: ThreadStatus | null;
  readonly metadata: JsonObject | null;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "thread_id" | "status" | "created_at" | "updated_at";
  readonly descending: boolean;
}

export interface ThreadTx {
  thread(threadId: string): Awaitable<Thread | null>;
  insertThread(thread: Thread): Awaitable<void>;
  updateThread(threadId: string, patch: Partial<Thread>): Awaitable<void>;
  /**
   * The conditional update that decides every race: the thread had the status `from`, and now is busy. Otherwise the
   * transaction fails, at its commit at the latest: what follows in it need not wait for this.
   * @throws {ApiError} `thread_busy`
   */
  takeThread(threadId: string, from: ThreadStatus, patch: Partial<Thread>): Awaitable<void>;
  /** The thread and everything that belongs to it. */
  deleteThread(threadId: string): Awaitable<boolean>;
  searchThreads(query: ThreadQuery): Awaitable<readonly Thread[]>;
  /** @param max counting stops there: an exact total of many is no part of a page. */
  countThreads(query: ThreadQuery, max: number | null): Awaitable<number>;
  /**
   * Threads whose time to live has passed and on which their strategy has not been carried out since.
   * @param paused also those that wait for a person.
   */
  expiredThreads(at: number, limit: number, paused: boolean): Awaitable<readonly Thread[]>;
  /** Threads in the order of their ids, for sweeps. */
  threadsAfter(threadId: string | null, limit: number): Awaitable<readonly Thread[]>;
  /** Checkpoints, writes, blobs and interrupts of one thread, under another thread's id. */
  copyThreadData(from: string, to: string): Awaitable<void>;
}

export interface PruneTx {
  /**
   * Deletes the checkpoints of a thread but the newest of each namespace that may be gone on from, with what only they had.
   * @param at when, so that it is not done again before the thread has changed.
   * @returns how many there were.
   */
  pruneThread(threadId: string, at: number): Awaitable<number>;
}
