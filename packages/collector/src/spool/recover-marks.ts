// Recover marks: which parts of the recovered records are done. Pure, but for the records that it marks.
// Invariants:
//   recover-marks.1. A mark of a span that a batch took over counts while that batch still stands for the span: it is
//        intact, or all its runs are done, or the spool removed its segment, which follows its last run.
//   recover-marks.2. Any other such mark is ignored: the intact request delivers the span once more. The batch is void
//        from then on, also when its damaged segment is gone at a later start.
//   recover-marks.3. Runs of a void batch whose spans are replayed are not lost. Its delivered runs may arrive twice.
import type { StoredRequest } from "../shared/span-origin.ts";
import { setDone } from "./live-records.ts";
import { type CoveringBatch, listIndexes, type Mark, readMarks } from "./marks.ts";
import type { StoredBatch } from "./port.ts";
import { RECORD, type SpoolRecord } from "./record.ts";
import {
  isInBooks,
  noteDone,
  noteReplayed,
  type PartCounts,
  type RecordPlace,
  wasRemoved,
} from "./saved-accounting.ts";

export interface Stored {
  readonly requests: ReadonlyMap<string, StoredRequest>;
  readonly batches: ReadonlyMap<string, StoredBatch>;
  readonly counts: PartCounts;
}

/** A mark in the marks file of a segment. */
type FoundMark = Mark & { readonly segment: number };

/** A batch that became void at this start, and a segment whose marks name it. */
export interface NewlyVoid {
  readonly segment: number;
  readonly batch: RecordPlace;
}

export interface MarksApplied {
  readonly voided: readonly NewlyVoid[];
  /** Segments of the batches that marks of intact requests name: their own marks are still needed. */
  readonly named: ReadonlySet<number>;
}

export function buildPlaceKey({ segment, offset }: RecordPlace): string {
  return `${segment}:${offset}`;
}

/** @param hasFile whether a segment has a file */
export function applyMarks(
  records: ReadonlyMap<number, readonly SpoolRecord[]>,
  stored: Stored,
  hasFile: (segment: number) => boolean,
): MarksApplied {
  const marks: FoundMark[] = [];
  /** Void batches of earlier starts, by the segment of the marks. */
  const voidIn = new Map<string, number>();
  for (const [segment, own] of records)
    for (const record of own) {
      if (record.type !== RECORD.marks) continue;
      const content = readMarks(record);
      for (const mark of content.marks) marks.push({ ...mark, segment });
      for (const batch of content.voided) voidIn.set(`${segment} ${buildPlaceKey(batch)}`, batch.since);
    }
  const doneRuns = markWithoutBatch(marks, stored);
  const replayed = new Map<string, Replayed>();
  const voided = new Map<string, NewlyVoid>();
  const named = new Set<number>();
  for (const mark of marks) {
    const { batch, segment } = mark;
    if (batch === null) continue;
    const since = voidIn.get(`${segment} ${buildPlaceKey(batch)}`);
    const isKnown = stored.requests.has(buildPlaceKey(mark));
    if (isKnown) named.add(batch.segment);
    if (since === undefined && standsFor(batch, stored, { doneRuns, hasFile })) {
      if (!markDone(stored, mark)) noteDone(stored.counts, mark, listIndexes(mark));
    } else if (isKnown) {
      if (since === undefined) voided.set(`${segment} ${buildPlaceKey(batch)}`, { segment, batch });
      addReplayed(replayed, mark, { batch, since: since ?? Infinity });
    }
  }
  for (const one of replayed.values()) excuse(one, doneRuns.get(buildPlaceKey(one.batch))?.size ?? 0, stored.counts);
  return { voided: [...voided.values()], named };
}

interface Evidence {
  readonly doneRuns: ReadonlyMap<string, ReadonlySet<number>>;
  readonly hasFile: (segment: number) => boolean;
}

/** recover-marks.1. */
function standsFor(batch: CoveringBatch, { batches, counts }: Stored, { doneRuns, hasFile }: Evidence): boolean {
  const key = buildPlaceKey(batch);
  if (batches.has(key) || (doneRuns.get(key)?.size ?? 0) >= batch.runs) return true;
  return !hasFile(batch.segment) && wasRemoved(counts, batch.segment);
}

interface Replayed {
  readonly batch: CoveringBatch;
  /** First segment of the process that voided the batch. */
  readonly since: number;
  readonly items: number;
}

function addReplayed(all: Map<string, Replayed>, mark: FoundMark, found: Omit<Replayed, "items">): void {
  const items = (all.get(buildPlaceKey(found.batch))?.items ?? 0) + listIndexes(mark).length;
  all.set(buildPlaceKey(found.batch), { ...found, items });
}

/** recover-marks.3. A newer accounting than the void no longer has the runs. */
function excuse({ batch, since, items }: Replayed, done: number, counts: PartCounts): void {
  if (!isInBooks(counts, batch) || (counts.savedAt?.segment ?? 0) >= since) return;
  const left = batch.runs - done;
  noteReplayed(counts, batch.segment, left - Math.min(left, batch.items - items));
}

/** @returns the done runs of batches that are not intact */
function markWithoutBatch(marks: readonly FoundMark[], stored: Stored): ReadonlyMap<string, ReadonlySet<number>> {
  const doneRuns = new Map<string, Set<number>>();
  for (const mark of marks) {
    if (mark.batch !== null) continue;
    if (markDone(stored, mark)) continue;
    const key = buildPlaceKey(mark);
    const runs = doneRuns.get(key) ?? new Set();
    doneRuns.set(key, runs);
    for (const index of listIndexes(mark)) runs.add(index);
    noteDone(stored.counts, mark, listIndexes(mark));
  }
  return doneRuns;
}

/** False: its record is not intact. */
function markDone({ requests, batches }: Stored, mark: FoundMark): boolean {
  const key = buildPlaceKey(mark);
  const stored = requests.get(key) ?? batches.get(key);
  if (stored === undefined) return false;
  const total = "spans" in stored ? stored.spans : stored.runs;
  for (const index of listIndexes(mark)) setDone(stored, total, index);
  return true;
}
