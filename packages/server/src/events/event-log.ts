// Event log: the events of one run in this process: numbered, batched, and drained to storage. Readers in this process
// get the newest events from memory, and older ones from storage.
// Invariants:
//   - Ids increase by one, in the order of publication.
//   event-log.2. A stored state is rendered as text only if the run has a reader at that moment, or gets one before the
//     state is stored.
//   - The end of a run becomes readable after its commit.
//   - The stored events of a run are bounded: at 110 % of a limit, the oldest rows are deleted.
//   - Memory holds unstored events, and a bounded window of stored ones for readers (event-window.ts).
import type { EventRow, RunEvent } from "../ports/ports.ts";
import { buildBatch, END, eventName, buildEventRow, countUnits, type Batch, type LoggedEvent } from "./event-batch.ts";
import { createEventWindow, WINDOW_UNITS } from "./event-window.ts";
import { beginBatch } from "./synthetic-events.ts";

export interface EventLog {
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly append: (event: RunEvent) => void;
  readonly isRead: () => boolean;
  /** True while the run has readers, and more events than memory keeps for them: they may still need the stored ones. */
  readonly needsStored: () => boolean;
  /** Closes the current batch, so that readers get it. */
  seal(): void;
  /**
   * Drains all unstored events into rows for a transaction. If the transaction fails, call restore().
   * @param end the events of the run's end, readable after committed()
   */
  drain(end: EndEvents | null): DrainedEvents;
  /** The first batch with an event at or after this id. `older`: no longer in memory; null: not published yet. */
  from(id: number): Batch | "older" | null;
  /** The first batch in memory. */
  oldest(): Batch | null;
  readonly nextId: () => number;
  /** True if some events are not drained. */
  readonly hasFresh: () => boolean;
  /** Stores the events ahead of the run's next commit. Set by the owner of the states that the events refer to. */
  flush: (() => void) | null;
}

export interface EventStart {
  readonly firstId: number;
  readonly events: number;
  readonly bytes: number;
  /** The first event of the attempt is stored. */
  readonly isBegun: boolean;
}

export const FIRST_EVENT: EventStart = { firstId: 0, events: 0, bytes: 0, isBegun: false };

export interface EndEvents {
  readonly events: readonly RunEvent[];
  /** Text of the END event. */
  readonly text: string;
  readonly goneAt: number;
}

export interface DrainedEvents {
  readonly rows: readonly EventRow[];
  /** With these rows, the run exceeds its limits. */
  readonly exceedsLimits: boolean;
  /** Call after the commit. */
  readonly committed: () => void;
  /** Call after a failed transaction. */
  readonly restore: () => void;
}

export interface KeptLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** Maximum size of a batch and of a row: a reader holds one of them at a time. */
const BATCH_UNITS = 64 * 1024;
const EXCESS = 1.1;

export interface EventLogOptions {
  readonly run: { readonly threadId: string; readonly runId: string; readonly attempt: number };
  /** First id of the attempt, and the stored extent of the run. */
  readonly start: EventStart;
  readonly limits: KeptLimits;
  /** True while the run has readers in this process. */
  readonly isRead: () => boolean;
  readonly onEvent: () => void;
  readonly now: () => number;
}

export function createEventLog({ run, start, limits, isRead, onEvent, now }: EventLogOptions): EventLog {
  const window = createEventWindow(isRead);
  const exceeds = createLimitCheck(start, limits);
  let nextId = start.firstId;
  if (start.isBegun) {
    window.addStored(beginBatch(run, nextId++));
  }
  let open: LoggedEvent[] = [];
  let openUnits = 0;
  let units = 0;

  const seal = (): void => {
    if (open.length > 0) window.add(buildBatch(open));
    open = [];
    openUnits = 0;
  };
  const toEvent = ({ name, data }: RunEvent, id: number): LoggedEvent =>
    typeof data === "string"
      ? { id, name: eventName(name), text: data, reference: null }
      : isRead()
        ? { id, name: eventName(name), text: data.text(), reference: data.reference }
        : { id, name: eventName(name), text: null, reference: data.reference, render: data.text }; // event-log.2

  return {
    threadId: run.threadId,
    runId: run.runId,
    attempt: run.attempt,
    isRead,
    needsStored: () => isRead() && units > WINDOW_UNITS,
    seal,
    append(event) {
      const logged = toEvent(event, nextId++);
      open.push(logged);
      openUnits += countUnits(logged);
      units += countUnits(logged);
      if (openUnits >= BATCH_UNITS) seal();
      onEvent();
    },
    drain(end) {
      seal();
      const drained = window.drain();
      let last: Batch | null = null;
      if (end !== null) {
        const closing = [...end.events, { name: END, data: end.text }];
        last = buildBatch(closing.map((event, at) => toEvent(event, nextId + at)));
      }
      const batches = last === null ? drained.batches : [...drained.batches, last];
      const rows = buildRows(run, batches, { goneAt: end?.goneAt ?? null, storedAt: now() });
      return {
        rows,
        exceedsLimits: exceeds(rows),
        committed() {
          if (last !== null) nextId = last.last + 1;
          drained.committed(last);
        },
        restore: drained.restore,
      };
    },
    from(id) {
      seal();
      const firstHere = window.oldest()?.first ?? nextId;
      return id < firstHere && id < nextId ? "older" : window.find(id);
    },
    oldest: window.oldest,
    nextId: () => nextId,
    flush: null,
    hasFresh: () => open.length > 0 || window.hasFresh(),
  };
}

function buildRows(
  run: EventLogOptions["run"],
  batches: readonly Batch[],
  { goneAt, storedAt }: Pick<EventRow, "goneAt" | "storedAt">,
): readonly EventRow[] {
  const groups: Batch[][] = [];
  let units = Infinity;
  for (const batch of batches) {
    units += batch.units;
    if (units > BATCH_UNITS) {
      groups.push([]);
      units = batch.units;
    }
    groups.at(-1)?.push(batch);
  }
  return groups.map((group, at) =>
    buildEventRow(run, group, { goneAt: at === groups.length - 1 ? goneAt : null, storedAt }),
  );
}

/** @returns true if the stored events exceed a limit together with these rows */
function createLimitCheck(start: EventStart, limits: KeptLimits): (rows: readonly EventRow[]) => boolean {
  let { events, bytes } = start;
  return (rows) => {
    for (const { first, last, lines } of rows) {
      events += last - first + 1;
      bytes += lines.length;
    }
    if (events <= limits.eventsMax * EXCESS && bytes <= limits.bytesMax * EXCESS) return false;
    events = Math.min(events, limits.eventsMax);
    bytes = Math.min(bytes, limits.bytesMax);
    return true;
  };
}
