// First event id of an attempt.
// Invariants:
//   first-event-id.1. No two events share an id, even if readers saw events that a dying process did not store. After a
//     crash, ids continue at the next multiple of ROUND, beyond all ids that a process can publish unstored.
import { deathsOf } from "../model/crash-suspects.ts";
import type { Run } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { FIRST_EVENT, type EventStart } from "./event-log.ts";

/** More events than a process can publish between two commits. */
const ROUND = 1_000_000;

/** @param run the run before this attempt */
export async function eventStart(tx: Tx, run: Run): Promise<EventStart> {
  if (run.attempt === 0) return FIRST_EVENT;
  const kept = await tx.eventExtent(run.threadId, run.runId);
  const next = kept === null ? 0 : kept.last + 1;
  const { events, bytes } = kept ?? { events: 0, bytes: 0 };
  if (deathsOf(run) + run.storageFailures === 0) return { firstId: next, events, bytes };
  return { firstId: Math.max(Math.ceil(next / ROUND), run.attempt) * ROUND, events, bytes }; // first-event-id.1
}
