// Log: the events of one run as they come about in this process, numbered and gathered into batches.
// Invariants:
//   LO1. Ids go up by one, in the order in which events were told.
//   LO2. A state that a checkpoint has becomes text only if somebody reads along at that moment.
import type { RunEvent } from "../ports.ts";
import { batchOf, END, eventName, unitsOf, type Batch, type LoggedEvent } from "./batch.ts";

export interface EventLog {
  readonly threadId: string;
  readonly runId: string;
  readonly append: (event: RunEvent) => void;
  /** Closes the log: the run has ended. */
  end(text: string): void;
  /** What was told since the last seal becomes a batch, for readers to take. */
  seal(): void;
  /** The first batch with an event at or after this id; null when there is none yet. */
  from(id: number): Batch | null;
}

/** A batch is sealed when it is this long, whoever waits. */
const BATCH_UNITS = 64 * 1024;

export function createEventLog(
  run: { readonly threadId: string; readonly runId: string },
  firstId: number,
  isWatched: () => boolean,
  onEvent: () => void,
): EventLog {
  const batches: Batch[] = [];
  let nextId = firstId;
  let open: LoggedEvent[] = [];
  let openUnits = 0;
  const seal = (): void => {
    if (open.length === 0) return;
    batches.push(batchOf(open));
    open = [];
    openUnits = 0;
  };
  const add = (name: string, text: string | null, reference: string | null): void => {
    const event = { id: nextId++, name, text, reference }; // LO1
    open.push(event);
    openUnits += unitsOf(event);
    if (openUnits >= BATCH_UNITS) seal();
    onEvent();
  };
  return {
    threadId: run.threadId,
    runId: run.runId,
    seal,
    append({ name, data }) {
      if (typeof data === "string") add(eventName(name), data, null);
      else add(eventName(name), isWatched() ? data.text() : null, data.checkpointId); // LO2
    },
    end: (text) => add(END, text, null),
    from: (id) => batches.find((batch) => batch.last >= id) ?? null,
  };
}
