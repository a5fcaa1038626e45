// First event of an attempt: its id, and its place in the claim.
// Invariants:
//   first-event-id.1. No two events share an id, even if readers saw events that a process did not store before it died,
//     lost its lease or stopped. In each further attempt, ids continue at the next multiple of ROUND, beyond all ids that
//     a process can publish unstored.
//   - The transaction that claims a run also stores its first event if a reader of the thread may wait for it: such
//     readers see stored events only, and a further commit would delay them. Other runs cost no statement more.
import type { Run } from "../model/model.ts";
import type { EventTx, Tx, Wakes } from "../ports/ports.ts";
import { buildEventRow } from "./event-batch.ts";
import { FIRST_EVENT, type EventStart } from "./event-log.ts";
import { beginBatch } from "./synthetic-events.ts";

/** More events than a process can publish between two commits. */
const ROUND = 1_000_000;

/** @param run the run before this attempt */
export async function eventStart(tx: EventTx, run: Run): Promise<EventStart> {
  if (run.attempt === 0) return FIRST_EVENT;
  const kept = await tx.eventExtent(run.threadId, run.runId);
  const next = kept === null ? 0 : kept.last + 1;
  const { events, bytes } = kept ?? { events: 0, bytes: 0 };
  const firstId = Math.max(Math.ceil(next / ROUND), run.attempt) * ROUND; // first-event-id.1
  return { firstId, events, bytes, isBegun: false };
}

export interface BeginPorts {
  readonly wakes: Pick<Wakes, "listeners" | "hasRemoteListeners">;
  readonly at: number;
}

/** @returns the start of the attempt, with its first event stored if a reader may wait for it */
export async function storeBegin(
  tx: Pick<Tx, "appendEvents">,
  run: Run,
  start: EventStart,
  { wakes, at }: BeginPorts,
): Promise<EventStart> {
  const { threadId } = run;
  const isWanted = run.request.stream?.protocol === true || wakes.listeners(threadId) > 0;
  if (!isWanted && !wakes.hasRemoteListeners(threadId)) return start;
  await tx.appendEvents([buildEventRow(run, [beginBatch(run, start.firstId)], { goneAt: null, storedAt: at })]);
  return { ...start, isBegun: true };
}
