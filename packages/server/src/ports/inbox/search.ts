// Storage port for the search index: the words of threads and of their items.
import type { Interrupt } from "../../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** The words of an item, or of its thread without an item. */
export interface SearchDocument {
  /** Empty: of the thread. */
  readonly interruptId: string;
  /** State of the item. */
  readonly kind: "thread" | "open" | "closed";
  /** Without repetitions. */
  readonly words: readonly string[];
}

/** A thread that changed since it was indexed. */
export interface UnindexedThread {
  readonly threadId: string;
  /** Marks of the changes, for putSearchDocuments(). */
  readonly marks: readonly number[];
}

/** How far the trail of a thread is indexed. */
export interface IndexedThread {
  readonly threadId: string;
  readonly updatedAt: number;
  /** Number of the newest audit entry that its documents have. */
  readonly seq: number;
}

export interface SearchTx {
  /** Threads to index. No other caller gets them before `claimedUntil`, or until they change again. */
  unindexedThreads(
    limit: number,
    at: { readonly now: number; readonly claimedUntil: number },
  ): Awaitable<readonly UnindexedThread[]>;
  /** Threads from before the index, and those that a crash left; null at the end. */
  sweepUnindexed(limit: number): Awaitable<readonly UnindexedThread[] | null>;
  /** Number of the newest audit entry that is indexed; 0 without documents. */
  indexedSeq(threadId: string): Awaitable<number>;
  /** Items without a document first, then open ones and those of `ids`; at most `limit`. */
  unindexedItems(
    threadId: string,
    changed: { readonly ids: readonly string[]; readonly limit: number },
  ): Awaitable<{ readonly items: readonly Interrupt[]; readonly missing: number }>;
  /** Replaces documents, unless the thread is gone. */
  putSearchDocuments(thread: IndexedThread, documents: readonly SearchDocument[]): Awaitable<void>;
  /** Texts of a thread changed without a change of the thread: its documents go, and are made again. */
  unindexThread(threadId: string): Awaitable<void>;
  /** At a start: off deletes all documents, and on finds all threads again that were there meanwhile. */
  switchSearch(isOn: boolean): Awaitable<void>;
  /** The changes behind these marks are indexed. */
  indexed(threads: readonly UnindexedThread[]): Awaitable<void>;
}
