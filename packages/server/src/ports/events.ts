// Storage port for run events, batched into rows, and for tickets of their readers.
import type { Awaitable } from "@holdpoint/base/awaitable.ts";

/** Row with a batch of events of one run. */
export interface EventRow {
  readonly threadId: string;
  readonly runId: string;
  /** Ids of the first and last event; the row contains all ids between them. */
  readonly first: number;
  readonly last: number;
  /** One line per event: `<name>\t<JSON text>`, or `<name>\t@<reference to the text>`. */
  readonly lines: string;
  /** Expiry of all events of the run. Set on the last row of an ended run. */
  readonly goneAt: number | null;
  /** No event of the row came about later. */
  readonly storedAt: number;
}

export interface StoredEvents extends EventRow {
  /** Increases from row to row of a thread. */
  readonly seq: number;
}

export interface EventQuery {
  /** Null for all runs of the thread. */
  readonly runId: string | null;
  readonly afterSeq: number;
  /** Skips rows that end before this id. */
  readonly fromId: number;
  readonly limit: number;
  /** Ends the page with the row that reaches this size of lines. Without it only `limit` counts. */
  readonly bytesMax?: number;
}

/** Stored extent of a run's events. */
export interface EventExtent {
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Size of the lines. */
  readonly bytes: number;
}

export interface EventTx {
  appendEvents(rows: readonly EventRow[]): Awaitable<void>;
  /** In insertion order. */
  events(threadId: string, query: EventQuery): Awaitable<readonly StoredEvents[]>;
  /** The `seq` of the thread's newest row; 0 if it has none. */
  newestEvents(threadId: string): Awaitable<number>;
  /** Replaces the lines of a row, whose ids stay as they are. */
  replaceLines(row: StoredEvents, lines: string): Awaitable<void>;
  /** Every row from now on has a `seq` above `least`. */
  raiseEventSeq(least: number): Awaitable<void>;
  eventExtent(threadId: string, runId: string): Awaitable<EventExtent | null>;
  /** Deletes the oldest rows of a run until the rest is within both limits. */
  trimEvents(threadId: string, runId: string, eventsMax: number, bytesMax: number): Awaitable<void>;
  /** Deletes all events of expired runs. @returns the number of runs */
  deleteGoneEvents(at: number, runsMax: number): Awaitable<number>;
}

/** Stands for the credentials of its caller once (server/protocol/socket-tickets.ts). */
export interface SocketTicket {
  readonly digest: string;
  readonly caller: string;
  /** Encrypted. */
  readonly headers: string;
  readonly expiresAt: number;
}

export interface SocketTicketTx {
  putSocketTicket(ticket: SocketTicket): Awaitable<void>;
  /** Deletes it: of several callers one gets it. */
  takeSocketTicket(digest: string): Awaitable<SocketTicket | null>;
  /** Transactions that count tickets of one caller run one after the other. */
  countSocketTickets(caller: string): Awaitable<number>;
  deleteSocketTicketsBefore(at: number): Awaitable<void>;
}
