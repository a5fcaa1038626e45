// Live records: which records of the spool still have pending spans or runs, by segment and by tenant.
import type { StoredRequest } from "../shared/span-origin.ts";
import type { StoredBatch } from "./port.ts";

export interface Segment {
  bytes: number;
  /** Requests and batches with pending parts. */
  live: number;
  /** Spans and runs of all its records. */
  parts: number;
  damaged: boolean;
}

export interface LiveRecords {
  readonly segments: Map<number, Segment>;
  /** Counts one more record in the segment; `end` is the offset after it, `parts` are its spans or runs. */
  readonly add: (segment: number, end: number, parts: number) => void;
  /** Counts one record of the segment as done. */
  readonly remove: (segment: number) => void;
  /** Adds a record's bytes to its tenant; negative for a completed record. */
  readonly hold: (stored: StoredRequest | StoredBatch, bytes: number) => void;
  /** Marks parts of a record done. Returns the newly done parts as flattened ranges: first, count, first, count, … */
  readonly finish: (stored: StoredRequest | StoredBatch, total: number, indexes: readonly number[]) => number[];
  /** Bytes of live records, of one tenant or of all. */
  readonly bytes: (tenantId?: string) => number;
  /** Bytes of all segments on disk. */
  readonly segmentBytes: () => number;
}

/** `onDead`: no record of a segment is live any more. */
export function createLiveRecords(onDead: () => void): LiveRecords {
  const segments = new Map<number, Segment>();
  const bytesByKey = new Map<string, number>();
  let allBytes = 0;

  function hold({ tenant }: StoredRequest | StoredBatch, bytes: number): void {
    allBytes += bytes;
    const left = (bytesByKey.get(tenant.id) ?? 0) + bytes;
    if (left === 0) bytesByKey.delete(tenant.id);
    else bytesByKey.set(tenant.id, left);
  }

  function remove(segment: number): void {
    const one = segments.get(segment);
    if (one === undefined) return;
    one.live--;
    if (one.live === 0) onDead();
  }

  return {
    segments,
    hold,
    remove,
    add(segment, end, parts) {
      const one = segments.get(segment);
      if (one === undefined) return;
      one.bytes = Math.max(one.bytes, end);
      one.live++;
      one.parts += parts;
    },
    finish(stored, total, indexes) {
      if (stored.pending === 0) return [];
      const ranges = markDone(stored, total, indexes);
      if (stored.pending > 0) return ranges;
      remove(stored.segment);
      hold(stored, -stored.bytes);
      return ranges;
    },
    bytes: (tenantId) => (tenantId === undefined ? allBytes : (bytesByKey.get(tenantId) ?? 0)),
    segmentBytes() {
      let bytes = 0;
      for (const segment of segments.values()) bytes += segment.bytes;
      return bytes;
    },
  };
}

/** Marks one part as done. @returns false if it was done before, or does not exist */
export function setDone(stored: StoredRequest | StoredBatch, total: number, index: number): boolean {
  const bits = (stored.done ??= new Uint8Array((total + 7) >> 3));
  const mask = 1 << (index & 7);
  if (index >= total || ((bits[index >> 3] ?? 0) & mask) !== 0) return false;
  bits[index >> 3] = (bits[index >> 3] ?? 0) | mask;
  stored.pending--;
  return true;
}

function markDone(stored: StoredRequest | StoredBatch, total: number, indexes: readonly number[]): number[] {
  const ranges: number[] = [];
  for (const index of indexes) {
    if (!setDone(stored, total, index)) continue;
    const last = ranges.length - 2;
    if (last >= 0 && (ranges[last] ?? 0) + (ranges[last + 1] ?? 0) === index)
      ranges[last + 1] = (ranges[last + 1] ?? 0) + 1;
    else ranges.push(index, 1);
  }
  return ranges;
}
