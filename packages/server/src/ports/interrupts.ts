// Storage port for interrupts, breakpoints, the inbox over them, and the audit trail.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AuditEntry, Interrupt, InterruptKind, InterruptState, Run, Scope, ThreadStatus } from "../model/model.ts";
import type { AuditHead, AuditLink, ErasedEntry } from "../model/audit/audit-chain.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** Time left until the deadline of an item: passed, below an hour, a day or a week, longer; `none` without a deadline. */
export type DeadlineBucket = "overdue" | "hour" | "day" | "week" | "later" | "none";

/**
 * Inbox query. The total order is creation time, then thread and interrupt id; by deadline the earliest one comes first,
 * and items without one last; by priority the most urgent.
 */
export interface InboxQuery {
  readonly scope: Scope;
  readonly threadId: string | null;
  readonly graphId: string | null;
  readonly assistantId: string | null;
  readonly node: string | null;
  readonly kind: InterruptKind | null;
  readonly claimedBy: string | null;
  readonly unclaimed: boolean;
  /** Claimed by one of these, or with one of them among the reviewers: names, addresses, `group:<name>`; null for any. */
  readonly assignedTo: readonly string[] | null;
  /** Neither claimed nor for named reviewers. */
  readonly unassigned: boolean;
  /** Items with a follow-up date in the future, or all others; null for both. */
  readonly snoozed: boolean | null;
  readonly deadline: DeadlineBucket | null;
  /** Current time; expired claims do not count. */
  readonly now: number;
  readonly createdBefore: number | null;
  /** Subset of the thread metadata. */
  readonly metadata: JsonObject | null;
  /** Words of the search index, all of which must occur; empty: any item. */
  readonly search: readonly string[];
  readonly after: InboxPlace | null;
  readonly limit: number;
  /** The page ends before an item with which it would be larger; its first item may be of any size. */
  readonly bytesMax: number;
  readonly descending: boolean;
  /** By deadline and by priority only ascending. */
  readonly order: "age" | "deadline" | "priority";
}

export interface InboxPlace {
  /** Used in the order of deadlines. */
  readonly expiresAt: number | null;
  /** Used in the order of priorities. */
  readonly priority: number;
  readonly createdAt: number;
  readonly threadId: string;
  readonly interruptId: string;
}

export interface InboxRow {
  readonly interrupt: Interrupt;
  readonly metadata: JsonObject;
  readonly status: ThreadStatus;
  readonly bytes: number;
}

export interface InboxRows {
  readonly rows: readonly InboxRow[];
  /** True if more items follow. */
  readonly more: boolean;
}

/** A number of items that are equal in every facet. */
export interface InboxTally {
  readonly graphId: string;
  readonly assistantId: string;
  readonly node: string;
  readonly kind: InterruptKind;
  /** Holder of the claim. */
  readonly claimedBy: string | null;
  readonly snoozed: boolean;
  readonly deadline: DeadlineBucket;
  readonly count: number;
}

/** A number of items whose thread's metadata has the same member: a text, number, boolean or null. */
export interface MetadataTally {
  readonly key: string;
  /** JSON text of the value, cut at 200 units. */
  readonly text: string;
  readonly count: number;
}

/** A part of a total that is read in several short transactions. */
export interface InboxPart<T> {
  readonly found: T;
  /** Continues there; null at the end. */
  readonly next: InboxPlace | null;
}

export interface AuditRecord extends AuditEntry {
  /** Increments within the thread, without gaps. */
  readonly seq: number;
}

export interface InterruptTx extends AuditTx {
  /** Interrupts without breakpoints. */
  interrupts(threadId: string, state: InterruptState | null): Awaitable<readonly Interrupt[]>;
  /** One interrupt or breakpoint in any state. */
  interrupt(threadId: string, interruptId: string): Awaitable<Interrupt | null>;
  /** The breakpoint at which the thread is paused. */
  openBreakpoint(threadId: string): Awaitable<Interrupt | null>;
  /** Breakpoints in every state. */
  breakpoints(threadId: string): Awaitable<readonly Interrupt[]>;
  /** Open interrupts and breakpoints of paused threads. */
  inbox(query: InboxQuery): Awaitable<InboxRows>;
  /** The number of items that match after `query.after`, up to the end of the part. */
  countInbox(query: InboxQuery): Awaitable<InboxPart<number>>;
  /** The items that match after `query.after`, up to the end of the part, by facet. */
  tallyInbox(query: InboxQuery): Awaitable<InboxPart<readonly InboxTally[]>>;
  /** The items that match after `query.after`, up to the end of the part, by members of the metadata. */
  tallyMetadata(query: InboxQuery): Awaitable<InboxPart<readonly MetadataTally[]>>;
  /** Open interrupts of paused threads with a passed deadline and an expiry action; earliest first. */
  dueInterrupts(at: number, limit: number): Awaitable<readonly Interrupt[]>;
  /** The earliest such deadline. */
  nextDeadline(): Awaitable<number | null>;
  /** Open interrupts of paused threads whose time to escalate has come; earliest first. */
  dueEscalations(at: number, limit: number): Awaitable<readonly Interrupt[]>;
  /** The earliest such time. */
  nextEscalation(): Awaitable<number | null>;
  /** Upsert: a repeated interrupt replaces its row. */
  putInterrupts(interrupts: readonly Interrupt[]): Awaitable<void>;
  countOpenInterrupts(): Awaitable<number>;
}

export interface AuditPlace {
  readonly at: number;
  readonly threadId: string;
  readonly seq: number;
}

/** Entries of all threads, newest first. */
export interface AuditQuery {
  readonly scope: Scope;
  readonly threadId: string | null;
  readonly graphId: string | null;
  readonly assistantId: string | null;
  /** Empty: any. */
  readonly actions: readonly string[];
  readonly by: string | null;
  readonly via: string | null;
  readonly since: number | null;
  readonly until: number | null;
  /** Words of the search index, all of which must occur in the item, or in the thread of an entry without one. */
  readonly search: readonly string[];
  readonly after: AuditPlace | null;
  readonly limit: number;
  /** A page ends after this many entries, found or not. */
  readonly scanMax: number;
}

export interface FoundAudit {
  readonly entry: AuditRecord;
  /** Null if the entry is about no item. A long value is left out. */
  readonly item:
    | (Pick<Interrupt, "graphId" | "assistantId" | "node" | "kind" | "createdAt" | "value" | "responseSchema"> & {
        readonly isLong: boolean;
      })
    | null;
  /** The run that the action started or ended; null once it is deleted. */
  readonly run: Pick<Run, "status" | "endedBy"> | null;
}

export interface AuditRows {
  readonly rows: readonly FoundAudit[];
  /** Start of the next page; null at the end. */
  readonly next: AuditPlace | null;
}

export interface AuditedThread {
  readonly threadId: string;
  readonly createdAt: number;
  /** Null if nothing was deleted by age. */
  readonly cutOff: number | null;
}

export interface AuditGaps {
  readonly gaps: readonly { readonly threadId: string; readonly first: number; readonly last: number }[];
  /** Continues after this thread; null at the end. */
  readonly next: string | null;
}

export interface AuditTx {
  /** Appends to a chain that no other transaction is writing to. */
  audit(entries: readonly AuditEntry[]): Awaitable<void>;
  /**
   * Deletes older entries but keeps the newest of the thread, so that sequence numbers stay unique. The chain notes
   * the time.
   * @returns the number deleted
   */
  deleteAuditBefore(threadId: string, before: number): Awaitable<number>;
  /** Appends to a chain that an entry has another content. */
  noteErasedEntry(entry: ErasedEntry): Awaitable<void>;
  /** Those of these erasures that a chain notes. @returns their erasureDigest() */
  notedErasures(entries: readonly ErasedEntry[]): Awaitable<ReadonlySet<string>>;
  /** Entries `commented` of one interrupt, oldest first, after `seq`. */
  listComments(
    threadId: string,
    interruptId: string,
    page: { readonly after: number; readonly limit: number },
  ): Awaitable<readonly AuditRecord[]>;
  /** Oldest first, after `seq`. */
  listAudit(
    threadId: string,
    page?: { readonly after: number; readonly limit: number },
  ): Awaitable<readonly AuditRecord[]>;
  /** Positions up to which a destination has the chains, by chain. */
  forwardedAudit(destination: string): Awaitable<ReadonlyMap<number, number>>;
  putForwardedAudit(destination: string, places: ReadonlyMap<number, number>): Awaitable<void>;
  searchAudit(query: AuditQuery): Awaitable<AuditRows>;
  auditHeads(): Awaitable<readonly AuditHead[]>;
  /** Entries and traces of deleted ones after a position, in order. */
  auditLinks(chain: number, after: number, limit: number): Awaitable<readonly AuditLink[]>;
  /** The number of entries in no chain that has a head. */
  unchainedAudit(): Awaitable<number>;
  /** Those of these threads that exist, and the trails of acts, with the latest time before which their entries were deleted by age. */
  auditedThreads(threadIds: readonly string[]): Awaitable<readonly AuditedThread[]>;
  /** Numbers without an entry or a trace of one, in the next threads with entries after `threadId`. */
  auditGaps(threadId: string, limit: number): Awaitable<AuditGaps>;
}
