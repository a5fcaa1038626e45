// Stored batch: a row of stored events, decoded once for all concurrent readers of a run.
// Invariants:
//   - A row is decoded outside the transaction that read it, in slices of the event loop, so that many readers of long
//     runs do not delay other calls.
//   - Readers of one row share its batch and its encoding. The cache holds at most KEPT_UNITS.
import { inSlice } from "@holdpoint/base/slices.ts";
import type { StoredEvents } from "../ports/ports.ts";
import { buildBatch, parseEvents, type Batch } from "./event-batch.ts";

const KEPT_UNITS = 8 * 1024 * 1024;

/** Oldest first. The lines are part of the comparison, because `seq` is unique only within one database. */
const kept = new Map<string, { readonly lines: string; readonly batch: Promise<Batch> }>();
let keptUnits = 0;

export function storedBatch(row: StoredEvents): Promise<Batch> {
  const { runId, seq, lines } = row;
  const key = `${runId}/${seq}`;
  const known = kept.get(key);
  if (known?.lines === lines) return known.batch;
  if (known !== undefined) drop(key, known.lines);
  const batch = inSlice(() => buildBatch(parseEvents(row)));
  kept.set(key, { lines, batch });
  keptUnits += lines.length;
  for (const [oldest, { lines: gone }] of kept) {
    if (keptUnits <= KEPT_UNITS) break;
    drop(oldest, gone);
  }
  return batch;
}

function drop(key: string, lines: string): void {
  kept.delete(key);
  keptUnits -= lines.length;
}
