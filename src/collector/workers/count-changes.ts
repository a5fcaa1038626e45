// Count changes: the counters that a worker changes, as differences for the one accounting of the process.
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { CountChanges } from "./messages.ts";

type Counts = { -readonly [Name in keyof CountChanges]: number };

function countsOf({ duplicates, filtered, lost, records }: SpanAccounting): Counts {
  const { joined, notStored } = records;
  return { filtered, duplicates, untranslatable: lost.untranslatable, joined, notStored };
}

/** Returns the changes since the last call; null for none. */
export function changesSince(accounting: SpanAccounting): () => CountChanges | null {
  let last = countsOf(accounting);
  return () => {
    const now = countsOf(accounting);
    const changes = countsOf(accounting);
    let any = false;
    for (const name of Object.keys(now) as (keyof Counts)[]) {
      changes[name] -= last[name];
      any ||= changes[name] !== 0;
    }
    last = now;
    return any ? changes : null;
  };
}

export function addChanges(accounting: SpanAccounting, changes: CountChanges): void {
  accounting.filtered += changes.filtered;
  accounting.duplicates += changes.duplicates;
  accounting.lost.untranslatable += changes.untranslatable;
  accounting.records.joined += changes.joined;
  accounting.records.notStored += changes.notStored;
}

/** Items that leave a worker with these changes. */
export function itemsIn({ duplicates, filtered, joined, notStored, untranslatable }: CountChanges): number {
  return filtered + duplicates + untranslatable + joined + notStored;
}
