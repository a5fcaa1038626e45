// Thread reader: the events of all runs of a thread in sequence, until the reader leaves. It reads stored events only.
// Ids are `<run id>:<event id>`, so that they identify a position.
// Invariants:
//   - What holds for a run (read-run.ts) holds across the runs of the thread.
//   - The stream ends only if the thread is deleted.
import type { AgentContext } from "../../context/context.ts";
import type { StoredEvents } from "../../ports/ports.ts";
import { inSlice } from "@holdpoint/base/slices.ts";
import { END, eventStreamText, type LoggedEvent } from "../../events/event-batch.ts";
import { restEvent } from "../../events/rest-event.ts";
import { DELETED, droppedEvent } from "../../events/synthetic-events.ts";
import { createWakeSignal, type Chunk, type Subscription } from "./subscription.ts";
import type { Wants } from "./read-run.ts";
import { withTexts } from "./hydrate-events.ts";
import { storedBatch } from "../../events/stored-batch.ts";

export interface ThreadPlace {
  readonly runId: string;
  readonly eventId: number;
}

/** @param after the last event received; "start" reads all stored events, "now" only new ones */
export function readThread(
  agent: AgentContext,
  threadId: string,
  after: ThreadPlace | "start" | "now",
  wants: Wants,
): Subscription {
  const wakeSignal = createWakeSignal(agent.events, threadId);
  const read = (
    afterSeq: number,
    runId: string | null,
    fromId: number,
  ): Promise<StoredEvents | "nothing_yet" | "deleted"> =>
    agent.storage.transaction(async (tx) => {
      const [row] = await tx.events(threadId, { runId, afterSeq, fromId, limit: 1 });
      if (row !== undefined) return row;
      return (await tx.thread(threadId)) === null ? "deleted" : "nothing_yet";
    });
  async function* chunks(): AsyncGenerator<Chunk> {
    try {
      let seq = after === "now" ? await agent.storage.transaction((tx) => tx.newestEvents(threadId)) : 0;
      let last: ThreadPlace | null = null;
      if (typeof after === "object") {
        const row = await read(0, after.runId, after.eventId);
        if (typeof row === "string") {
          yield eventStreamText([droppedEvent(`${after.runId}:${after.eventId}`)], String);
          return;
        }
        seq = row.seq - 1;
        last = after;
      }
      while (!wakeSignal.left()) {
        const row = await read(seq, null, 0);
        if (row === "deleted") {
          yield eventStreamText([DELETED], String);
          return;
        }
        if (row === "nothing_yet") {
          await wakeSignal.next();
          continue;
        }
        seq = row.seq;
        const { events: all } = await storedBatch(row);
        const events = newEvents(row.runId, all, last);
        if (last?.runId === row.runId && isGap(last.eventId, events)) {
          yield eventStreamText([droppedEvent(`${row.runId}:${last.eventId + 1}`)], String);
          return;
        }
        last = { runId: row.runId, eventId: row.last };
        const wanted = await inSlice(() =>
          events
            .map((event) => restEvent(asThreadEvent(event)))
            .filter((event): event is LoggedEvent => event !== null && (wants === null || wants(event.name))),
        );
        const shown = await withTexts(agent, row, wanted);
        const piece = await inSlice(() => eventStreamText(shown, (id) => `${row.runId}:${id}`));
        if (piece.length > 0) yield piece;
      }
    } finally {
      wakeSignal.leave();
    }
  }
  return { chunks: chunks(), leave: wakeSignal.leave };
}

/** The first id of an attempt is arbitrary; within an attempt, ids increase by one. */
function isGap(last: number, [first]: readonly LoggedEvent[]): boolean {
  return first !== undefined && first.id !== last + 1 && first.name !== "metadata";
}

function newEvents(runId: string, events: readonly LoggedEvent[], last: ThreadPlace | null): readonly LoggedEvent[] {
  return last?.runId === runId ? events.filter(({ id }) => id > last.eventId) : events;
}

/** The end of a run in the form of a thread event. */
function asThreadEvent(event: LoggedEvent): LoggedEvent {
  if (event.name !== END || event.text === null) return event;
  const { run_id } = JSON.parse(event.text) as { readonly run_id: string };
  return { ...event, name: "metadata", text: JSON.stringify({ run_id, status: "run_done" }) };
}
