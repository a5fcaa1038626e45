// Saved accounting: the totals of the accounting on disk, and the pending segments at that time. They begin each
// segment, and follow each removal of one: the next start continues with the newest ones.
// Invariants:
//   saved-accounting.1. Parts (spans of requests, runs of batches) in the newest saved accounting that no intact record
//        has and no mark or batch covers, are lost. They count as lost at the next start, never as delivered.
//   saved-accounting.2. Segments without pending parts are not in it: their files may be gone.
import type { Log } from "../../base/log/log.ts";
import { DROP_REASONS, type SpanAccounting, storedOf, sumOf } from "../shared/span-accounting.ts";
import type { Segment } from "./live-records.ts";
import { type Encoded, encodeRecord, RECORD } from "./record.ts";

/** The parts of each segment, as a recovery finds them. */
export interface PartCounts {
  /** Parts of the pending segments, at the newest saved accounting. */
  pending: ReadonlyMap<number, number>;
  /** Parts of the intact records. */
  readonly intact: Map<number, number>;
  /** Done parts of records that are gone or damaged, by segment: `offset:index`. */
  readonly done: Map<number, Set<string>>;
}

export function newPartCounts(): PartCounts {
  return { pending: new Map(), intact: new Map(), done: new Map() };
}

export function encodeAccounting(accounting: SpanAccounting, segments: ReadonlyMap<number, Segment>): Encoded {
  const pending = [...segments].filter(([, { live }]) => live > 0).map(([segment, { parts }]) => [segment, parts]);
  return encodeRecord(RECORD.accounting, { ...accounting, pending });
}

/** The newest totals replace the counts so far; later records add to them. */
export function readAccounting(
  header: Readonly<Record<string, unknown>>,
  accounting: SpanAccounting,
  counts: PartCounts,
): void {
  const saved = header as unknown as SpanAccounting;
  accounting.received = saved.received;
  accounting.rejected = saved.rejected;
  accounting.filtered = saved.filtered;
  accounting.duplicates = saved.duplicates;
  Object.assign(accounting.records, saved.records); // absent before format 3
  for (const reason of DROP_REASONS) {
    accounting.deadLettered[reason] = saved.deadLettered[reason] ?? 0;
    accounting.lost[reason] = saved.lost[reason] ?? 0;
  }
  counts.pending = new Map((header["pending"] ?? []) as readonly (readonly [number, number])[]);
}

export function noteIntact({ intact }: PartCounts, segment: number, parts: number): void {
  intact.set(segment, (intact.get(segment) ?? 0) + parts);
}

/** Done parts of a record that was not found. */
export function noteDone({ done, pending }: PartCounts, key: string, indexes: readonly number[]): void {
  const segment = Number(key.split(":")[0]);
  if (!pending.has(segment)) return; // saved-accounting.2
  const parts = done.get(segment) ?? new Set();
  done.set(segment, parts);
  for (const index of indexes) parts.add(`${key}:${index}`);
}

/** Parts that left the spool without another outcome count as delivered. */
export function balance(accounting: SpanAccounting, counts: PartCounts, pending: number, log: Log): void {
  const spans = lostParts(counts);
  accounting.lost.unreadable += spans;
  if (spans > 0) log.error("spool_spans_lost", { spans, reason: "records of the spool are missing or damaged" });
  const elsewhere = sumOf(accounting.deadLettered) + sumOf(accounting.lost);
  accounting.delivered = Math.max(0, storedOf(accounting) - elsewhere - pending);
}

/** saved-accounting.1. */
function lostParts({ pending, intact, done }: PartCounts): number {
  let lost = 0;
  for (const [segment, parts] of pending)
    lost += Math.max(0, parts - (intact.get(segment) ?? 0) - (done.get(segment)?.size ?? 0));
  return lost;
}
