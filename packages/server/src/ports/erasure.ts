// Erasure ports: what a deletion leaves of a thread, and the rows and traces that name a person.
import type { PersonalNames } from "@holdpoint/base/personal-names.ts";
import type { ErasedEntry } from "../model/audit/audit-chain.ts";
import type { RowCursor } from "./sealing.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** Place → number: a table of the storage, or `traces`. */
export type ErasedCounts = Readonly<Record<string, number>>;

export interface ErasureTx {
  /** Rows of each table with the thread's id, but for what a deletion leaves on purpose. */
  countThreadRows(threadId: string): Awaitable<ErasedCounts>;
  /** Deletes what the deletion of a thread leaves: closed messages about its items. */
  eraseThreadRows(threadId: string): Awaitable<void>;
  /** Erasures of threads that have begun and not ended. */
  threadErasures(): Awaitable<readonly BegunErasure[]>;
  putThreadErasure(erasure: BegunErasure): Awaitable<void>;
  endThreadErasure(threadId: string): Awaitable<void>;
  /** Deliveries of the outbox that name the text, in the order of their ids. @param after an id of the page before */
  webhooksNaming(text: string, after: string, limit: number): Awaitable<NamedPage>;
  /** Items of the long-term memory in a namespace with this label. */
  itemsLabelled(
    label: string,
    limit: number,
  ): Awaitable<readonly { readonly namespace: readonly string[]; readonly key: string }[]>;
  countItemsLabelled(label: string): Awaitable<number>;
  /** The erasure of this person that has begun and not ended; null for none. */
  personErasure(name: string): Awaitable<PersonErasure | null>;
  /** Stores it, unless one has begun. */
  beginPersonErasure(name: string, erasure: PersonErasure): Awaitable<void>;
  /** Stores where the next page begins, unless the erasure has ended. */
  movePersonErasure(name: string, erasure: PersonErasure): Awaitable<void>;
  endPersonErasure(name: string): Awaitable<void>;
  /** Replaces a person in the next rows, or removes the rows; a dry run only counts. @param place null at the start */
  erasePersonPage(place: RowCursor | null, names: PersonalNames, page: ErasureOptions): Awaitable<ErasedPage>;
}

export interface BegunErasure {
  readonly threadId: string;
  /** The caller's access was limited to some threads. */
  readonly isLimited: boolean;
  readonly at: number;
}

export interface PersonErasure {
  readonly pseudonym: string;
  /** Name, address, subject, displayed name. */
  readonly identifiers: readonly string[];
  readonly at: ErasureCursor;
}

/** Where the next page begins. */
export interface ErasureCursor {
  /** From 1. */
  readonly pass: number;
  readonly rows: RowCursor | null;
  /** Then come traces. */
  readonly isRowsDone: boolean;
  readonly traces: string | null;
  /** What named the person: in all, in this pass, in the pass before. */
  readonly found: number;
  readonly foundInPass: number;
  readonly foundBefore: number;
}

export interface ErasureOptions {
  readonly rows: number;
  readonly dryRun: boolean;
}

export interface ErasedPage {
  /** Null at the end. */
  readonly next: RowCursor | null;
  readonly table: string;
  /** Rows that named the person. */
  readonly rows: number;
  /** Threads whose documents in the search index have to be made again. */
  readonly threadIds: readonly string[];
  /** Entries of the trail that have another content now. */
  readonly entries: readonly ErasedEntry[];
  /** Items of the memory under the person's name: they are still there. */
  readonly items: readonly { readonly namespace: readonly string[]; readonly key: string }[];
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
  /** Deletes the next traces that name the person. @param cursor null at the start */
  erasePerson(
    identifiers: readonly string[],
    dryRun: boolean,
    cursor: string | null,
  ): Promise<{ readonly traces: number; readonly next: string | null }>;
}
