// Saved accounting: the totals of the accounting on disk, and the pending segments at that time. They begin each
// segment, and follow each removal of one: the next start continues with the newest ones.
// Invariants:
//   - Parts (spans of requests, runs of batches) in the newest saved accounting that no intact record has and no mark
//     or batch covers, are lost. They count as lost at the next start, never as delivered.
//   - Segments without pending parts are not in it: their files may be gone.
//   saved-accounting.3. Records after the newest saved accounting are not in it, so they make up for no missing part.
import type { Log } from "@holdpoint/base/log/log.ts";
import { DROP_REASONS, type SpanAccounting, countStored, sumCounts } from "../shared/span-accounting.ts";
import type { Segment } from "./live-records.ts";
import { type Encoded, encodeRecord, RECORD, type SpoolRecord } from "./record.ts";

/** Place of a request or a batch. */
export interface RecordPlace {
  readonly segment: number;
  readonly offset: number;
}

/** The parts of each segment, as a recovery finds them. */
export interface PartCounts {
  /** Parts of the pending segments, at the newest saved accounting. */
  pending: ReadonlyMap<number, number>;
  /** Place of that accounting; null: there is none. */
  savedAt: { readonly segment: number; readonly offset: number } | null;
  /** Parts of the intact records. */
  readonly intact: Map<number, number>;
  /** Those before that accounting. */
  intactThen: ReadonlyMap<number, number>;
  /** Runs of damaged batches whose spans are replayed instead. */
  readonly replayed: Map<number, number>;
  /** Done parts of records that are gone or damaged, by segment: `offset:index`. */
  readonly done: Map<number, Set<string>>;
}

export function newPartCounts(): PartCounts {
  return {
    pending: new Map(),
    savedAt: null,
    intact: new Map(),
    intactThen: new Map(),
    replayed: new Map(),
    done: new Map(),
  };
}

export function encodeAccounting(accounting: SpanAccounting, segments: ReadonlyMap<number, Segment>): Encoded {
  const pending = [...segments].filter(([, { live }]) => live > 0).map(([segment, { parts }]) => [segment, parts]);
  return encodeRecord(RECORD.accounting, { ...accounting, pending });
}

/** The newest totals replace the counts so far; later records add to them. */
export function readAccounting(
  { header, offset }: SpoolRecord,
  segment: number,
  accounting: SpanAccounting,
  counts: PartCounts,
): void {
  const saved = header as unknown as SpanAccounting;
  accounting.received = saved.received;
  accounting.added = saved.added;
  accounting.rejected = saved.rejected;
  accounting.filtered = saved.filtered;
  accounting.duplicates = saved.duplicates;
  Object.assign(accounting.records, saved.records);
  for (const reason of DROP_REASONS) {
    accounting.deadLettered[reason] = saved.deadLettered[reason] ?? 0;
    accounting.lost[reason] = saved.lost[reason] ?? 0;
  }
  counts.pending = new Map((header["pending"] ?? []) as readonly (readonly [number, number])[]);
  counts.savedAt = { segment, offset };
  counts.intactThen = new Map(counts.intact);
}

export function noteIntact({ intact }: PartCounts, segment: number, parts: number): void {
  intact.set(segment, (intact.get(segment) ?? 0) + parts);
}

export function noteReplayed({ replayed }: PartCounts, segment: number, runs: number): void {
  replayed.set(segment, (replayed.get(segment) ?? 0) + runs);
}

/** Done parts of a record that was not found. */
export function noteDone(counts: PartCounts, { segment, offset }: RecordPlace, indexes: readonly number[]): void {
  if (!isInBooks(counts, { segment, offset })) return;
  const parts = counts.done.get(segment) ?? new Set();
  counts.done.set(segment, parts);
  for (const index of indexes) parts.add(`${offset}:${index}`);
}

/** The newest saved accounting counts the parts of a record there as pending. */
export function isInBooks({ pending, savedAt }: PartCounts, { segment, offset }: RecordPlace): boolean {
  return savedAt !== null && pending.has(segment) && (segment < savedAt.segment || offset < savedAt.offset);
}

/** A segment without a file that the spool itself has removed, after its last part. */
export function wasRemoved({ pending, savedAt }: PartCounts, segment: number): boolean {
  return savedAt !== null && segment < savedAt.segment && !pending.has(segment);
}

/** Parts that left the spool without another outcome count as delivered. */
export function balance(accounting: SpanAccounting, counts: PartCounts, pending: number, log: Log): void {
  const spans = lostParts(counts);
  accounting.lost.unreadable += spans;
  if (spans > 0) log.error("spool_spans_lost", { spans, reason: "records of the spool are missing or damaged" });
  const elsewhere = sumCounts(accounting.deadLettered) + sumCounts(accounting.lost);
  accounting.delivered = Math.max(0, countStored(accounting) - elsewhere - pending);
}

function lostParts({ pending, intactThen, replayed, done }: PartCounts): number {
  let lost = 0;
  for (const [segment, parts] of pending) {
    const found = (intactThen.get(segment) ?? 0) + (replayed.get(segment) ?? 0) + (done.get(segment)?.size ?? 0);
    lost += Math.max(0, parts - found);
  }
  return lost;
}
