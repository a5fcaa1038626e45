// Open spool: the open files of a recovered spool, connected: logs, marks, guards, and the removal of segments.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { Tenant } from "../shared/tenants.ts";
import { type AppendLog, createAppendLog } from "./append-log.ts";
import { createSegmentCollector, LOG_SUFFIX, type SegmentCollector } from "./collect-segments.ts";
import type { FilePort } from "./disk/file-port.ts";
import { createReserve } from "./disk/reserve.ts";
import { createLiveRecords, type LiveRecords } from "./live-records.ts";
import { createMarks, type Marks } from "./marks.ts";
import type { Encoded } from "./record.ts";
import type { Recovery } from "./recover.ts";
import { encodeAccounting } from "./saved-accounting.ts";
import { createSegmentGuard, type SegmentGuard } from "./segment-guard.ts";
import { createTreeLog, TREES_SUFFIX, type TreeLog } from "./tree-log.ts";

export interface SpoolOptions {
  readonly dir: string;
  readonly segmentBytesMax: number;
  /** Size of the tree log. */
  readonly treeSegmentBytesMax: number;
  readonly treeRunsKept: number;
  readonly treeAgeMs: number;
}

export interface SpoolPorts {
  readonly files: FilePort;
  readonly clock: Clock;
  readonly log: Log;
  /** Null without encryption. */
  readonly ring: Keyring | null;
  readonly accounting: () => SpanAccounting;
  readonly buildTenant: (apiKey: string, tenantId: string) => Tenant;
}

/** The open files of a recovered spool. */
export interface OpenSpool {
  readonly main: AppendLog;
  readonly trees: TreeLog;
  readonly marks: Marks;
  readonly live: LiveRecords;
  readonly collector: SegmentCollector;
  readonly guard: SegmentGuard;
  readonly treeGuard: SegmentGuard;
}

/** Opens new segments after those of an earlier process, whose pending records are live again. */
export async function openSpool(recovery: Recovery, options: SpoolOptions, ports: SpoolPorts): Promise<OpenSpool> {
  const { files, clock, log, ring } = ports;
  const { dir } = options;
  const marks = createMarks(dir, files);
  const reserve = createReserve(dir, files);
  const accounting = (): Encoded => encodeAccounting(ports.accounting(), live.segments);
  const live = createLiveRecords(() => collector.plan());
  const main = createAppendLog(
    {
      dir,
      suffix: LOG_SUFFIX,
      firstSegment: recovery.nextSegment,
      segmentBytesMax: options.segmentBytesMax,
      preamble: () => [accounting()],
      onSegment(segment) {
        live.segments.set(segment, { bytes: 0, live: 0, parts: 0, damaged: false });
        void guard.note(segment);
        collector.plan();
      },
      onFailure(reason) {
        if (reason === null) return log.info("spool_recovered");
        log.error("spool_write_failed", { reason });
        void reserve.release().then((released) => void (released && collector.plan()));
      },
    },
    { files, clock, ring },
  );
  const treeGuard = createSegmentGuard({
    dir,
    suffix: TREES_SUFFIX,
    files,
    log,
    liveIn: (segment) => trees.runsIn(segment),
    loss: (runs) => `after a restart, late spans cannot find the parents of ${runs} runs`,
  });
  const trees = createTreeLog(
    { ...options, firstSegment: recovery.nextTreeSegment, old: recovery.treeSegments, guard: treeGuard },
    { files, clock, ring },
  );
  for (const { segment } of recovery.treeSegments) await treeGuard.note(segment);
  const { segments } = live;
  const guard = createSegmentGuard({
    dir,
    suffix: LOG_SUFFIX,
    files,
    log,
    liveIn: (segment) => segments.get(segment)?.live ?? 0,
    loss: (records) => `${records} of its records are not delivered and not on disk`,
  });
  const collector = createSegmentCollector(
    {
      ...ports,
      dir,
      marks,
      reserve,
      guard,
      segments,
      current: main.current,
      saveAccounting: async () => main.current() !== -1 && (await main.append(accounting()).then(() => true)),
    },
    recovery.marksLeft,
  );
  for (const [segment, found] of recovery.segments) {
    segments.set(segment, { ...found, live: 0 });
    await guard.note(segment);
  }
  for (const stored of [...recovery.requests, ...recovery.batches]) {
    live.add(stored.segment, 0, 0);
    live.hold(stored, stored.bytes);
  }
  for (const { segment, batch } of recovery.voided) marks.void(segment, { ...batch, since: recovery.nextSegment });
  await reserve.make().catch(() => undefined); // a full disk shows at the first write
  collector.plan();
  return { main, trees, marks, live, collector, guard, treeGuard };
}
