// Synthetic events, created for a single reader. They have no id, so that they do not move the reader's position.
import type { RunEvent } from "../ports/ports.ts";
import { type Batch, buildBatch, type LoggedEvent } from "./event-batch.ts";

const NO_ID = -1;

export function unnumbered({ name, data }: RunEvent): LoggedEvent {
  return { id: NO_ID, name, text: typeof data === "string" ? data : data.text(), reference: null };
}

function errorEvent(error: string, message: string): LoggedEvent {
  return unnumbered({ name: "error", data: JSON.stringify({ error, message }) });
}

export const DELETED: LoggedEvent = errorEvent("Deleted", "the run or its thread was deleted");

/** @param next the id of the first missing event */
export function droppedEvent(next: number | string): LoggedEvent {
  return errorEvent(
    "EventsDropped",
    `events from ${next} on are not kept any more: join the run for its result, or read it from the beginning with Last-Event-ID: -1`,
  );
}

/** First event of every reader of a run. */
export function buildMetadata(run: {
  readonly runId: string;
  readonly threadId: string;
  readonly attempt: number;
}): RunEvent {
  const { runId, threadId, attempt } = run;
  return { name: "metadata", data: JSON.stringify({ run_id: runId, attempt, thread_id: threadId }) };
}

/** A pending run waits for the answers of people: its stream says so, once. */
export function waitingEvent(run: {
  readonly runId: string;
  readonly threadId: string;
  readonly paused: readonly string[];
}): LoggedEvent {
  const { runId, threadId, paused } = run;
  const data = { run_id: runId, thread_id: threadId, status: "pending", thread_status: "interrupted", pending: paused };
  return unnumbered({ name: "waiting", data: JSON.stringify(data) });
}

/** The first event of an attempt as a batch of its own. */
export function beginBatch(run: Parameters<typeof buildMetadata>[0], id: number): Batch {
  return buildBatch([{ ...metadataEvent(run), id }]);
}

export function metadataEvent(run: Parameters<typeof buildMetadata>[0]): LoggedEvent {
  return unnumbered(buildMetadata(run));
}
