// Source: where a reader finds the next events of a run: in memory, in storage, or nowhere any more.
// Invariant event-source.1: a run that has ended gives every reader an end, also when its events have gone or never were.
import type { AgentContext } from "../context.ts";
import type { Run } from "../model/model.ts";
import type { RunEnd, StoredEvents } from "../ports/ports.ts";
import { storedEnd } from "../runs/run-result.ts";
import { isActive } from "../model/status.ts";
import type { Batch, LoggedEvent } from "../events/event-batch.ts";
import { endingEvents } from "../events/end-events.ts";
import type { EventLog } from "../events/event-log.ts";
import { DELETED, droppedEvent, metadataEvent, unnumbered } from "../events/synthetic-events.ts";
import { storedBatch } from "../events/stored-batch.ts";

export interface Place {
  readonly threadId: string;
  readonly runId: string;
  /** The last event that the reader has seen; null reads from the beginning. */
  readonly after: number | null;
}

/** `last`: there is nothing to come after these; they have no ids. */
export type Found = Batch | "nothing_yet" | { readonly last: readonly LoggedEvent[] };

export interface Source {
  /** @param next the id of the first event wanted */
  from(next: number): Promise<Found>;
}

export function createSource(agent: AgentContext, place: Place, logNow: EventLog | null): Source {
  const { threadId, runId } = place;
  let log = logNow;
  let afterSeq = 0;
  let found = false;

  const inMemory = (next: number): Batch | "older" | null => {
    if (log !== null && agent.events.log(runId) !== log && log.from(next) === null) log = null; // it went on elsewhere
    log ??= agent.events.log(runId);
    return log === null ? "older" : log.from(Math.min(next, log.nextId()));
  };

  const inStorage = async (next: number): Promise<Found> => {
    const result = await lookInStorage(next);
    return "lines" in Object(result) ? storedBatch(result as StoredEvents) : (result as Found);
  };
  const lookInStorage = (next: number): Promise<Found | StoredEvents> =>
    agent.storage.read(async (tx) => {
      const look = async (): Promise<StoredEvents | null> => {
        const [row] = await tx.events(threadId, { runId, afterSeq, fromId: next, limit: 1 });
        if (row === undefined) return null;
        afterSeq = row.seq;
        return row;
      };
      const kept = await look();
      if (kept !== null) return kept;
      const oldest = log?.oldest() ?? null;
      if (oldest !== null) return oldest;
      const run = await tx.run(threadId, runId);
      if (run === null) return { last: [DELETED] };
      if (log !== null || isActive(run.status)) return "nothing_yet";
      const last = await look(); // it may have ended between the first look and this
      if (last !== null) return last;
      if (found) return { last: [] };
      const gone = run.attempt > 0 && (await tx.eventExtent(threadId, runId)) === null;
      if (place.after !== null) return { last: gone ? [droppedEvent(place.after + 1)] : [] };
      return { last: endOf(run, await storedEnd(agent, tx, run)) }; // event-source.1
    });

  return {
    async from(next) {
      const batch = inMemory(next);
      const result = batch === "older" ? await inStorage(next) : (batch ?? "nothing_yet");
      if (result !== "nothing_yet") found = true;
      return result;
    },
  };
}

/** What is still known of a run whose events have gone: how it ended. */
function endOf(run: Run, end: RunEnd): readonly LoggedEvent[] {
  const values = run.endedBy === "done" && end.valuesText !== null ? [{ name: "values", data: end.valuesText }] : [];
  return [metadataEvent(run), ...[...values, ...endingEvents(end, [], () => end.valuesText)].map(unnumbered)];
}
