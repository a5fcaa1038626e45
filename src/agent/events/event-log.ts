// Log: the events of one run as they come about in this process: numbered, gathered into batches, and on their way to
// storage. Readers in this process read the newest ones here; older ones are read from storage.
// Invariants:
//   event-log.1. Ids go up by one, in the order in which events were told.
//   event-log.2. A state that is stored elsewhere becomes text only if somebody reads along at that moment.
//   event-log.3. The end of a run cannot be read before it is stored.
//   event-log.4. What is kept of a run is bounded: when it has grown a tenth beyond its limits, the oldest rows go.
//   event-log.5. Memory holds what storage does not have yet, and beyond that at most WINDOW_UNITS, and nothing when nobody reads.
import type { EventRow, RunEvent } from "../ports/ports.ts";
import { batchOf, END, eventName, rowOf, unitsOf, type Batch, type LoggedEvent } from "./event-batch.ts";

export interface EventLog {
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly append: (event: RunEvent) => void;
  /** What was told since becomes a batch, for readers to take. */
  seal(): void;
  /**
   * Rows for a transaction: everything that none has taken yet. When it fails, give them back.
   * @param ending the events of the run's end, readable after settle().
   */
  take(ending: Ending | null): Taken;
  /** The first batch with an event at or after this id. `older`: memory has it no more; null: there is none yet. */
  from(id: number): Batch | "older" | null;
  /** The first batch that memory has. */
  oldest(): Batch | null;
  readonly nextId: () => number;
  /** There is something that no transaction has taken. */
  readonly hasFresh: () => boolean;
  /** Who stores it before the run does so anyway: whoever has the states that its events refer to. */
  storedBy: (() => void) | null;
}

export interface EventStart {
  readonly firstId: number;
  readonly events: number;
  readonly bytes: number;
}

export const FIRST_EVENT: EventStart = { firstId: 0, events: 0, bytes: 0 };

export interface Ending {
  readonly events: readonly RunEvent[];
  /** Of the END event. */
  readonly text: string;
  readonly goneAt: number;
}

export interface Taken {
  readonly rows: readonly EventRow[];
  /** With these rows, more is kept of the run than may be (event-log.4). */
  readonly tooMuch: boolean;
  /** Their transaction is on disk. */
  readonly settle: () => void;
  /** It is not. */
  readonly giveBack: () => void;
}

export interface KeptLimits {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/** A batch is sealed when it is this long, and a row is: whoever reads holds one of them at a time. */
const BATCH_UNITS = 64 * 1024;
const WINDOW_UNITS = 1024 * 1024;

const EXCESS = 1.1;

/** @param start where the ids of the attempt begin, and what is kept of the run already */
export function createEventLog(
  run: { readonly threadId: string; readonly runId: string; readonly attempt: number },
  start: EventStart,
  limits: KeptLimits,
  isRead: () => boolean,
  onEvent: () => void,
): EventLog {
  let batches: Batch[] = [];
  /** Of `batches`: on disk, and handed to a transaction. */
  let storedCount = 0;
  let takenCount = 0;
  let windowUnits = 0;
  let nextId = start.firstId;
  let keptEvents = start.events;
  let keptBytes = start.bytes;
  let open: LoggedEvent[] = [];
  let openUnits = 0;

  const seal = (): void => {
    if (open.length > 0) add(batchOf(open));
    open = [];
    openUnits = 0;
  };
  const add = (batch: Batch): void => {
    batches.push(batch);
    windowUnits += batch.units;
  };
  const toEvent = ({ name, data }: RunEvent, id: number): LoggedEvent =>
    typeof data === "string"
      ? { id, name: eventName(name), text: data, reference: null }
      : { id, name: eventName(name), text: isRead() ? data.text() : null, reference: data.reference }; // event-log.2
  const trim = (): void => {
    const unitsMax = isRead() ? WINDOW_UNITS : 0;
    let count = 0;
    while (count < storedCount && windowUnits > unitsMax) windowUnits -= batches[count++]?.units ?? 0; // event-log.5
    batches = batches.slice(count);
    storedCount -= count;
    takenCount -= count;
  };
  const rowsOf = (list: readonly Batch[], goneAt: number | null): readonly EventRow[] => {
    const groups: Batch[][] = [];
    let units = Infinity;
    for (const batch of list) {
      units += batch.units;
      if (units > BATCH_UNITS) {
        groups.push([]);
        units = batch.units;
      }
      groups.at(-1)?.push(batch);
    }
    return groups.map((group, at) => rowOf(run, group, at === groups.length - 1 ? goneAt : null));
  };

  const exceeds = (rows: readonly EventRow[]): boolean => {
    for (const { first, last, lines } of rows) {
      keptEvents += last - first + 1;
      keptBytes += lines.length;
    }
    if (keptEvents <= limits.eventsMax * EXCESS && keptBytes <= limits.bytesMax * EXCESS) return false;
    keptEvents = Math.min(keptEvents, limits.eventsMax);
    keptBytes = Math.min(keptBytes, limits.bytesMax);
    return true; // event-log.4
  };

  return {
    threadId: run.threadId,
    runId: run.runId,
    attempt: run.attempt,
    seal,
    append(event) {
      const logged = toEvent(event, nextId++); // event-log.1
      open.push(logged);
      openUnits += unitsOf(logged);
      if (openUnits >= BATCH_UNITS) seal();
      onEvent();
    },
    take(ending) {
      seal();
      const from = takenCount;
      const list = batches.slice(from);
      takenCount = batches.length;
      let last: Batch | null = null;
      if (ending !== null) {
        const closing = [...ending.events, { name: END, data: ending.text }];
        last = batchOf(closing.map((event, at) => toEvent(event, nextId + at)));
      }
      const rows = rowsOf(last === null ? list : [...list, last], ending?.goneAt ?? null);
      return {
        rows,
        tooMuch: exceeds(rows),
        settle() {
          storedCount += list.length;
          if (last !== null) {
            add(last); // event-log.3
            nextId = last.last + 1;
            takenCount = storedCount = batches.length;
          }
          trim();
        },
        giveBack() {
          takenCount -= list.length;
        },
      };
    },
    from(id) {
      seal();
      const found = batches.find((batch) => batch.last >= id) ?? null;
      const firstHere = batches[0]?.first ?? nextId;
      return id < firstHere && id < nextId ? "older" : found;
    },
    oldest: () => batches[0] ?? null,
    nextId: () => nextId,
    storedBy: null,
    hasFresh: () => open.length > 0 || takenCount < batches.length,
  };
}
