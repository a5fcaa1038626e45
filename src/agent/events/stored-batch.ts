// Stored batch: a row of stored events, read once for all who read the same run at the same time.
// Invariants:
//   stored-batch.1. A row is read outside the transaction that found it, in slices of the event loop: many readers of long runs keep
//        no other call waiting.
//   stored-batch.2. Readers of one row share its batch, and so its text for the wire (event-batch.1). At most KEPT_UNITS are kept.
import { inSlice } from "../../base/slices.ts";
import type { StoredEvents } from "../ports/ports.ts";
import { batchOf, eventsOf, type Batch } from "./event-batch.ts";

const KEPT_UNITS = 8 * 1024 * 1024;

/** Oldest first. The lines are compared too: places are numbers of one database, and a process may have several. */
const kept = new Map<string, { readonly lines: string; readonly batch: Promise<Batch> }>();
let keptUnits = 0;

export function storedBatch(row: StoredEvents): Promise<Batch> {
  const { runId, seq, lines } = row;
  const key = `${runId}/${seq}`;
  const known = kept.get(key);
  if (known?.lines === lines) return known.batch; // stored-batch.2
  if (known !== undefined) drop(key, known.lines);
  const batch = inSlice(() => batchOf(eventsOf(row))); // stored-batch.1
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
