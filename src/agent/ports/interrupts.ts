// Interrupts in storage: questions and breakpoints, the inbox over them, and the audit trail.
import type { JsonObject } from "../../base/json/json.ts";
import type { AuditEntry, Interrupt, InterruptKind, InterruptState, Scope, ThreadStatus } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";

/** Items of the inbox in a total order: by time of asking, then by their ids. */
export interface InboxQuery {
  readonly scope: Scope;
  readonly threadId: string | null;
  readonly graphId: string | null;
  readonly assistantId: string | null;
  readonly node: string | null;
  readonly kind: InterruptKind | null;
  readonly claimedBy: string | null;
  readonly unclaimed: boolean;
  /** Present time, by which a claim that has run out is none. */
  readonly now: number;
  readonly createdBefore: number | null;
  /** The thread's metadata contains this. */
  readonly metadata: JsonObject | null;
  readonly after: InboxPlace | null;
  readonly limit: number;
  readonly descending: boolean;
}

export interface InboxPlace {
  readonly createdAt: number;
  readonly threadId: string;
  readonly interruptId: string;
}

export interface InboxRow {
  readonly interrupt: Interrupt;
  readonly metadata: JsonObject;
  readonly status: ThreadStatus;
}

export interface AuditRecord extends AuditEntry {
  /** Counts up within the thread, without gaps. */
  readonly seq: number;
}

export interface InterruptTx {
  /** Questions; breakpoints are left out. */
  interrupts(threadId: string, state: InterruptState | null): Awaitable<readonly Interrupt[]>;
  /** One question or breakpoint, whatever its state. */
  interrupt(threadId: string, interruptId: string): Awaitable<Interrupt | null>;
  /** The breakpoint that the thread is paused at. */
  openBreakpoint(threadId: string): Awaitable<Interrupt | null>;
  /** What waits on paused threads: open questions and breakpoints. */
  inbox(query: InboxQuery): Awaitable<readonly InboxRow[]>;
  /** Open questions of paused threads whose deadline has passed and says what happens then; earliest first. */
  dueInterrupts(at: number, limit: number): Awaitable<readonly Interrupt[]>;
  /** The earliest such deadline. */
  nextDeadline(): Awaitable<number | null>;
  /** Written again when the same question is asked again. */
  putInterrupts(interrupts: readonly Interrupt[]): Awaitable<void>;
  countOpenInterrupts(): Awaitable<number>;
  audit(entries: readonly AuditEntry[]): Awaitable<void>;
  /** Deletes entries from before this, but the newest of the thread: numbers are not given twice. @returns how many. */
  deleteAuditBefore(threadId: string, before: number): Awaitable<number>;
  /** Oldest first, those after `seq`. */
  auditOf(
    threadId: string,
    page?: { readonly after: number; readonly limit: number },
  ): Awaitable<readonly AuditRecord[]>;
}
