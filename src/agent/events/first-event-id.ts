// Start: where the ids of an attempt begin.
// Invariant first-event-id.1: an id is never used for two events, also not when a reader has seen events that a dying process took
// along: after a crash the ids go on from the next round number, which is beyond all that can have been told unstored.
import { deathsOf } from "../model/crash-suspects.ts";
import type { Run } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { FIRST_EVENT, type EventStart } from "./event-log.ts";

/** More than a process can tell between two commits. */
const ROUND = 1_000_000;

/** @param run as it is before this attempt */
export async function eventStart(tx: Tx, run: Run): Promise<EventStart> {
  if (run.attempt === 0) return FIRST_EVENT;
  const kept = await tx.eventExtent(run.threadId, run.runId);
  const next = kept === null ? 0 : kept.last + 1;
  const { events, bytes } = kept ?? { events: 0, bytes: 0 };
  if (deathsOf(run) + run.storageFailures === 0) return { firstId: next, events, bytes };
  return { firstId: Math.max(Math.ceil(next / ROUND), run.attempt) * ROUND, events, bytes }; // first-event-id.1
}
