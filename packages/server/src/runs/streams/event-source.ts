// Event source: the next events of a run, from memory, from storage, or as a summary of its end.
// Invariants:
//   - Every reader of an ended run gets an end, even if its events have expired or never existed.
import type { AgentContext } from "../../context/context.ts";
import type { Run } from "../../model/model.ts";
import type { RunEnd, StoredEvents, Tx } from "../../ports/ports.ts";
import { type StoredEnd, storedEnd, withText } from "../run-result.ts";
import { isActive } from "../../model/status.ts";
import type { Batch, LoggedEvent } from "../../events/event-batch.ts";
import { eventsOfEnd } from "../../events/end-events.ts";
import type { EventLog } from "../../events/event-log.ts";
import { DELETED, droppedEvent, metadataEvent, unnumbered } from "../../events/synthetic-events.ts";
import { storedBatch } from "../../events/stored-batch.ts";

export interface StreamPosition {
  readonly threadId: string;
  readonly runId: string;
  /** The last event received by the reader; null starts at the beginning. */
  readonly after: number | null;
}

/** `last`: the final events, without ids. `waits`: a pending run, and what its thread waits for. */
export type Found = Batch | "nothing_yet" | { readonly last: readonly LoggedEvent[] } | { readonly waits: Waits };

/** Ids of the open interrupts of a paused thread; null if the run waits for something else. */
export type Waits = { readonly threadId: string; readonly runId: string; readonly paused: readonly string[] } | null;

export interface EventSource {
  /** @param next id of the first requested event */
  from(next: number): Promise<Found>;
}

export function createEventSource(agent: AgentContext, position: StreamPosition, logNow: EventLog | null): EventSource {
  const { threadId, runId } = position;
  let log = logNow;
  let afterSeq = 0;
  let found = false;

  const fromMemory = (next: number): Batch | "older" | null => {
    // it continues in another process
    if (log !== null && agent.events.log(runId) !== log && log.from(next) === null) log = null;
    log ??= agent.events.log(runId);
    return log === null ? "older" : log.from(Math.min(next, log.nextId()));
  };

  const fromStorage = async (next: number): Promise<Found> => {
    const result = await findStored(next);
    if (typeof result !== "object") return result;
    if ("lines" in result) return storedBatch(result);
    return "ended" in result ? { last: buildEnd(result.ended.run, withText(result.ended)) } : result;
  };
  const findStored = (next: number): Promise<Found | StoredEvents | { readonly ended: StoredEnd }> =>
    agent.storage.read(async (tx) => {
      const readRow = async (): Promise<StoredEvents | null> => {
        const [row] = await tx.events(threadId, { runId, afterSeq, fromId: next, limit: 1 });
        if (row === undefined) return null;
        afterSeq = row.seq;
        return row;
      };
      const kept = await readRow();
      if (kept !== null) return kept;
      const oldest = log?.oldest() ?? null;
      if (oldest !== null) return oldest;
      const run = await tx.run(threadId, runId);
      if (run === null) return { last: [DELETED] };
      if (log === null && run.status === "pending") return { waits: await readWaits(tx, run) };
      if (log !== null || isActive(run.status)) return "nothing_yet";
      const last = await readRow(); // it may have ended since the first check
      if (last !== null) return last;
      if (found) return { last: [] };
      const gone = run.attempt > 0 && (await tx.eventExtent(threadId, runId)) === null;
      if (position.after !== null) return { last: gone ? [droppedEvent(position.after + 1)] : [] };
      return { ended: await storedEnd(agent, tx, run) };
    });

  return {
    async from(next) {
      const batch = fromMemory(next);
      const result = batch === "older" ? await fromStorage(next) : (batch ?? "nothing_yet");
      if (result !== "nothing_yet" && !("waits" in result)) found = true;
      return result;
    },
  };
}

async function readWaits(tx: Pick<Tx, "thread" | "interrupts">, { threadId, runId }: Run): Promise<Waits> {
  if ((await tx.thread(threadId))?.status !== "interrupted") return null;
  const open = await tx.interrupts(threadId, "open");
  return { threadId, runId, paused: open.map(({ interruptId }) => interruptId) };
}

/** Summary of a run whose events have expired: its end. */
function buildEnd(run: Run, end: RunEnd): readonly LoggedEvent[] {
  const values = run.endedBy === "done" && end.valuesText !== null ? [{ name: "values", data: end.valuesText }] : [];
  return [metadataEvent(run), ...[...values, ...eventsOfEnd(end, [], () => end.valuesText)].map(unnumbered)];
}
