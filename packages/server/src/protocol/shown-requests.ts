// Shown requests: the questions that a reader was shown and that still wait, for the last event of a deleted thread.
// Invariant shown-requests.1: nothing of a deleted thread is stored, so the event is made for each reader, of what the
// reader was shown. Its id is that of the questions: a client that reconnected meanwhile sees it once.
import type { ClosedHow } from "../events/thread-note.ts";
import { baselineSeq } from "./convert/event-place.ts";
import { type WireEvent, wireEvent } from "./convert/wire-event.ts";

export interface ShownRequests {
  readonly take: (events: readonly WireEvent[]) => void;
  /** @param row the last one that was read @returns nothing if no question waits */
  readonly deleted: (row: number, timestamp: number) => readonly WireEvent[];
}

export function createShownRequests(): ShownRequests {
  const waiting = new Set<string>();
  return {
    take(events) {
      for (const { gate } of events) {
        if (gate.kind === "question") waiting.add(gate.interruptId);
        else if (gate.kind === "closed") for (const id of gate.interruptIds) waiting.delete(id);
      }
    },
    deleted(row, timestamp) {
      const [first] = waiting;
      if (first === undefined) return [];
      const how: ClosedHow = "deleted";
      const id = `${first}:deleted:answered`; // shown-requests.1
      const parts = {
        seq: baselineSeq(row, Infinity),
        id,
        method: "input.answered",
        namespace: [],
        timestamp,
      } as const;
      return [wireEvent(parts, JSON.stringify({ interrupt_ids: [...waiting], how }))];
    },
  };
}
