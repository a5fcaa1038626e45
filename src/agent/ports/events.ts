// Events of runs in storage, in rows of many.
import type { Awaitable } from "./awaitable.ts";

/** Some events of a run in a row, as they are kept. */
export interface EventRow {
  readonly threadId: string;
  readonly runId: string;
  /** Ids of the first and the last event; every id between them is there. */
  readonly first: number;
  readonly last: number;
  /** A line an event: `<name>\t<JSON text>`, or `<name>\t@<where the text can be had again>`. */
  readonly lines: string;
  /** Set on the last row of a run that has ended: when all its events may go. */
  readonly goneAt: number | null;
}

export interface StoredEvents extends EventRow {
  /** Grows from row to row of a thread. */
  readonly seq: number;
}

export interface EventQuery {
  /** Null for all runs of the thread. */
  readonly runId: string | null;
  readonly afterSeq: number;
  /** Rows that end before this id are left out. */
  readonly fromId: number;
  readonly limit: number;
}

/** How much of a run's events is kept. */
export interface EventExtent {
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Of the lines. */
  readonly bytes: number;
}

export interface EventTx {
  appendEvents(rows: readonly EventRow[]): Awaitable<void>;
  /** In the order in which they were appended. */
  events(threadId: string, query: EventQuery): Awaitable<readonly StoredEvents[]>;
  /** The `seq` of the thread's newest row; 0 when there is none. */
  newestEvents(threadId: string): Awaitable<number>;
  eventExtent(threadId: string, runId: string): Awaitable<EventExtent | null>;
  /** Drops the oldest rows of a run until what is left is within both limits. */
  trimEvents(threadId: string, runId: string, eventsMax: number, bytesMax: number): Awaitable<void>;
  /** All events of runs whose time has come. @returns the number of runs. */
  deleteGoneEvents(at: number, runsMax: number): Awaitable<number>;
}
