// Erasure ports: what is left of a thread beyond its deletion.
import type { Awaitable } from "./results/awaitable.ts";

/** Place → number: a table of the storage, or `traces`. */
export type ErasedCounts = Readonly<Record<string, number>>;

export interface ErasureTx {
  /** Rows of each table with the thread's id, but for what a deletion leaves on purpose. */
  countThreadRows(threadId: string): Awaitable<ErasedCounts>;
  /** Deletes what the deletion of a thread leaves: closed messages about its items. */
  eraseThreadRows(threadId: string): Awaitable<void>;
  /** Deliveries of the outbox that name the text, in the order of their ids. @param after an id of the page before */
  webhooksNaming(text: string, after: string, limit: number): Awaitable<NamedPage>;
  /** Items of the long-term memory in a namespace with this label. */
  itemsLabelled(
    label: string,
    limit: number,
  ): Awaitable<readonly { readonly namespace: readonly string[]; readonly key: string }[]>;
  countItemsLabelled(label: string): Awaitable<number>;
}

export interface NamedPage {
  readonly ids: readonly string[];
  /** Null at the end. */
  readonly next: string | null;
}

/** The trace store that this server reads; null without one. */
export interface TraceEraser {
  /** Idempotent. @returns the number of deleted traces, or of those that would be */
  eraseThread(threadId: string, dryRun: boolean): Promise<number>;
}
