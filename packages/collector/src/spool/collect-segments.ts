// Collect segments: removes segments without live records, in the background.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { segmentName } from "./append-log.ts";
import type { FilePort } from "./disk/file-port.ts";
import type { Segment } from "./live-records.ts";
import { type Marks, MARKS_SUFFIX } from "./marks.ts";
import type { Reserve } from "./disk/reserve.ts";
import type { SegmentGuard } from "./segment-guard.ts";

export interface CollectPorts {
  readonly dir: string;
  readonly files: FilePort;
  readonly clock: Clock;
  readonly log: Log;
  readonly marks: Marks;
  readonly reserve: Reserve;
  readonly guard: Pick<SegmentGuard, "isOwn" | "forget">;
  readonly segments: Map<number, Segment>;
  /** The segment for new records: never removed. */
  readonly current: () => number;
  /** Resolves with true once the totals are on disk, with the segments that have pending parts. */
  readonly saveAccounting: () => Promise<boolean>;
}

export interface SegmentCollector {
  /** Plans a collection in COLLECT_MS. */
  readonly plan: () => void;
  /** Ends planned collections, then collects after `lastWrites`. */
  readonly close: (lastWrites: () => Promise<void>) => Promise<void>;
}

export const LOG_SUFFIX = "log";
const COLLECT_MS = 250;

/** @param marksLeft segments without a file whose marks are still there */
export function createSegmentCollector(ports: CollectPorts, marksLeft: readonly number[]): SegmentCollector {
  const removed = new Set(marksLeft);
  let collecting: Promise<void> | null = null;
  let cancelPlanned: (() => void) | null = null;
  let closed = false;

  function plan(): void {
    if (cancelPlanned !== null || closed) return;
    cancelPlanned = ports.clock.after(COLLECT_MS, () => {
      cancelPlanned = null;
      if (collecting !== null) return plan(); // a later collection covers segments that died since this one began
      collecting = collect().finally(() => {
        collecting = null;
      });
    });
  }

  async function collect(): Promise<void> {
    try {
      await removeDead(ports, removed);
    } catch (error) {
      ports.log.warning("spool_collect_failed", { reason: error instanceof Error ? error.message : "unknown" });
      plan();
    }
  }

  return {
    plan,
    async close(lastWrites) {
      closed = true;
      cancelPlanned?.();
      if (collecting !== null) await collecting;
      await lastWrites();
      await collect();
    },
  };
}

/** @param removed segments whose marks the next start needs until it has a newer accounting */
async function removeDead(ports: CollectPorts, removed: Set<number>): Promise<void> {
  const { dir, files, marks, segments } = ports;
  const isDead = ([segment, { live }]: [number, Segment]): boolean => live === 0 && segment !== ports.current();
  const dead = [...segments].filter(isDead).sort(([one], [other]) => one - other);
  if (dead.length === 0) return;
  const unsettled = await marks.settle().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  for (const [segment, { damaged }] of dead) {
    if (unsettled !== null && segment !== Math.min(...segments.keys())) throw unsettled.error;
    const path = `${dir}/${segmentName(segment, LOG_SUFFIX)}`;
    if (!(await ports.guard.isOwn(segment))) ports.log.warning("spool_segment_not_removed", { segment: path });
    else if (damaged) await files.rename(path, `${path}.bad`);
    else await files.unlink(path);
    segments.delete(segment);
    ports.guard.forget(segment);
    await marks.forget(segment);
    removed.add(segment);
    if (unsettled !== null) await files.syncDir(dir); // keeps the order of removal across a power cut
  }
  await files.syncDir(dir);
  await ports.reserve.make();
  if (!(await ports.saveAccounting())) return;
  for (const segment of removed)
    await files.unlink(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`).catch(() => undefined);
  removed.clear();
}
