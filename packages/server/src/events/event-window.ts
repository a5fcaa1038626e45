// Event window: the newest batches of a run in memory, until they are stored and beyond that for active readers.
// Invariants:
//   - A transaction drains batches in order. If it fails, they are restored.
//   - Stored batches stay within WINDOW_UNITS while the run has readers, and are dropped otherwise.
import type { Batch } from "./event-batch.ts";

export const WINDOW_UNITS = 1024 * 1024;

export interface EventWindow {
  add(batch: Batch): void;
  /** A batch that is stored already, ahead of all others. */
  addStored(batch: Batch): void;
  /** Batches that no transaction has drained. */
  drain(): DrainedBatches;
  readonly hasFresh: () => boolean;
  readonly oldest: () => Batch | null;
  /** The first batch with an event at or after this id. */
  find(id: number): Batch | null;
}

export interface DrainedBatches {
  readonly batches: readonly Batch[];
  /** @param last batch with the end of the run, added after the commit */
  committed(last: Batch | null): void;
  readonly restore: () => void;
}

/** @param isRead true while the run has readers in this process */
export function createEventWindow(isRead: () => boolean): EventWindow {
  let batches: Batch[] = [];
  /** Number of batches on disk, and of batches handed to a transaction. */
  let storedCount = 0;
  let drainedCount = 0;
  let windowUnits = 0;

  const add = (batch: Batch): void => {
    batches.push(batch);
    windowUnits += batch.units;
  };
  const trim = (): void => {
    const unitsMax = isRead() ? WINDOW_UNITS : 0;
    let count = 0;
    while (count < storedCount && windowUnits > unitsMax) windowUnits -= batches[count++]?.units ?? 0;
    batches = batches.slice(count);
    storedCount -= count;
    drainedCount -= count;
  };
  return {
    add,
    addStored(batch) {
      add(batch);
      drainedCount = storedCount = batches.length;
    },
    drain() {
      const drained = batches.slice(drainedCount);
      drainedCount = batches.length;
      return {
        batches: drained,
        committed(last) {
          for (const { complete, events } of drained) if (!complete) for (const event of events) event.render = null;
          storedCount += drained.length;
          if (last !== null) {
            add(last);
            drainedCount = storedCount = batches.length;
          }
          trim();
        },
        restore() {
          drainedCount -= drained.length;
        },
      };
    },
    hasFresh: () => drainedCount < batches.length,
    oldest: () => batches[0] ?? null,
    find: (id) => batches.find((batch) => batch.last >= id) ?? null,
  };
}
