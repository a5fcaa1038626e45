// Spool: a write-ahead log of requests and batches, with marks for the parts that are done. A request is on disk before
// its acknowledgement; a batch of its spans is on disk before the first upload. The batch marks the spans of the
// request done, the delivery marks the runs of the batch done, and the spool removes segments without live records. The
// pieces:
//   port.ts              the interface that the pipeline uses
//   live-records.ts      which records still have pending parts, by segment and tenant
//   collect-segments.ts  removes segments without live records
//   segment-guard.ts     detects closed segments that were deleted or replaced
//   reserve.ts           disk space kept for marks and batches
//   saved-accounting.ts  the totals on disk, and the missing part of the pending segments
//   append-log.ts        numbered segment files with group commit
//   tree-log.ts          the place of each run, for late spans of its trace
//   marks.ts             a file beside each segment: the parts that are done
//   record.ts            the binary format of records
//   record-content.ts    requests and batches as records
//   scan.ts, recover.ts  reads the files of an earlier process
//   lock.ts              one process per folder
//   file-port.ts         the file operations, and their adapter
// Invariants:
//   spool.1. Acknowledged ⊆ on disk: append resolves after fdatasync (append-log.ts).
//   spool.2. The spool removes a segment only after the sync of every mark that its records imply for other segments.
//        These are always older segments, so the oldest segment can go even when marks cannot be written, and a full
//        disk regains space.
//   spool.3. A damaged record costs only itself: it counts as damaged, its file stays under another name, and every
//        intact record is delivered.
//   spool.4. `bytes()` is the size of the spool on disk. A limit refuses only new requests, never writes that free
//        space.
//   spool.5. Places are final: the decisions of a batch are in the tree log before the batch's first upload.
//   spool.6. The marks of a removed segment stay until a newer accounting is on disk: without them, the next start
//        would take its parts for lost (saved-accounting.ts).
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log/log.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import type { Tenant } from "../shared/tenants.ts";
import { encodeAccounting } from "./saved-accounting.ts";
import { type AppendLog, createAppendLog, segmentName } from "./append-log.ts";
import { createSegmentCollector, LOG_SUFFIX, type SegmentCollector } from "./collect-segments.ts";
import type { FilePort } from "./file-port.ts";
import { createLiveRecords, type LiveRecords } from "./live-records.ts";
import { createMarks, type Marks } from "./marks.ts";
import type { BatchRecord, Spool, StoredBatch } from "./port.ts";
import { bodyOf, encodeBatch, encodeRequest, groupCovers, requestOf } from "./record-content.ts";
import { type Encoded, frameLength, readRecord, type SpoolRecord } from "./record.ts";
import { type Recovery, recoverSpool } from "./recover.ts";
import { createReserve } from "./reserve.ts";
import { createSegmentGuard, type SegmentGuard } from "./segment-guard.ts";
import { createTreeLog, TREES_SUFFIX, type TreeLog } from "./tree-log.ts";

export interface SpoolOptions {
  readonly dir: string;
  readonly segmentBytesMax: number;
  /** Of the tree log. */
  readonly treeSegmentBytesMax: number;
  readonly treeRunsKept: number;
  readonly treeAgeMs: number;
}

export interface SpoolPorts {
  readonly files: FilePort;
  readonly clock: Clock;
  readonly log: Log;
  readonly accounting: () => SpanAccounting;
  readonly tenantOf: (apiKey: string, tenantId: string) => Tenant;
}

/** The open files of a recovered spool. */
interface OpenSpool {
  readonly main: AppendLog;
  readonly trees: TreeLog;
  readonly marks: Marks;
  readonly live: LiveRecords;
  readonly collector: SegmentCollector;
  readonly guard: SegmentGuard;
  readonly treeGuard: SegmentGuard;
}

/** recover() comes first: every other method needs the open files. */
export function createSpool(options: SpoolOptions, ports: SpoolPorts): Spool {
  let opened: OpenSpool | null = null;

  function files(): OpenSpool {
    if (opened === null) throw new Error("the spool is not recovered");
    return opened;
  }

  function done(stored: StoredRequest | StoredBatch, total: number, indexes: readonly number[]): void {
    const { live, marks } = files();
    const ranges = live.finish(stored, total, indexes);
    if (ranges.length > 0) marks.add(stored.segment, { offset: stored.offset, ranges });
  }

  return {
    async recover() {
      await ports.files.makeDir(options.dir);
      const recovery = await recoverSpool(options.dir, { ...ports, treeRunsKept: options.treeRunsKept });
      opened = await openSpool(recovery, options, ports);
      return recovery;
    },
    async appendRequest(record) {
      const { live, main } = files();
      const { spans, tenant } = record;
      const ref = await main.append(encodeRequest(record));
      live.add(ref.segment, ref.offset + ref.bytes, spans);
      const stored = { ...ref, tenant, spans, pending: spans, done: null };
      if (spans === 0) live.remove(ref.segment);
      else live.hold(stored, stored.bytes);
      return stored;
    },
    appendBatch: (batch) => appendBatch(batch, files(), done),
    async readRequest(request) {
      const record = await readAt(request, options.dir, ports);
      return record === null ? null : requestOf(record, request.tenant);
    },
    decisions: () => files().trees.decisions(),
    async readBatch(batch) {
      const record = await readAt(batch, options.dir, ports);
      return record === null ? null : bodyOf(record, batch.tenant);
    },
    requestDone: (request, indexes) => done(request, request.spans, indexes),
    batchDone(batch, first, runs) {
      const indexes = Array.from({ length: runs }, (_, index) => first + index);
      done(batch, batch.runs, indexes);
    },
    bytes: () => (opened === null ? 0 : opened.trees.bytes() + opened.live.segmentBytes()),
    liveBytes: (tenantId) => opened?.live.bytes(tenantId) ?? 0,
    failure: () => opened?.main.failure() ?? null,
    async checkSegments() {
      await opened?.guard.check();
      await opened?.treeGuard.check();
    },
    missing: () => opened?.guard.problem() ?? opened?.treeGuard.problem() ?? null,
    async close() {
      if (opened === null) return;
      const { collector, live, main, marks, trees } = opened;
      await collector.close(async () => {
        await main.append(encodeAccounting(ports.accounting(), live.segments)).catch(() => undefined);
      });
      await Promise.all([main.close(), trees.close(), marks.close()]);
    },
  };
}

/** Opens new segments after those of an earlier process, whose pending records are live again. */
async function openSpool(recovery: Recovery, options: SpoolOptions, ports: SpoolPorts): Promise<OpenSpool> {
  const { files, clock, log } = ports;
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
    { files, clock },
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
    { files, clock },
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
  await reserve.make().catch(() => undefined); // a full disk shows at the first write
  collector.plan();
  return { main, trees, marks, live, collector, guard, treeGuard };
}

async function appendBatch(
  { body, places, covers }: BatchRecord,
  { live, main, trees }: OpenSpool,
  markDone: (request: StoredRequest, spans: number, indexes: readonly number[]) => void,
): Promise<StoredBatch> {
  const { tenant, createdMs, offsets } = body;
  const covered = groupCovers(covers);
  // Live as soon as it is on disk: the segment must not look dead during the write of the tree log.
  const appending = main.append(encodeBatch(body, covered)).then((written) => {
    live.add(written.segment, written.offset + written.bytes, body.offsets.length);
    return written;
  });
  const [ref, decided] = await Promise.allSettled([appending, trees.append(tenant.id, places)]); // spool.5
  if (ref.status === "rejected") throw ref.reason;
  if (decided.status === "rejected") {
    live.remove(ref.value.segment);
    throw decided.reason;
  }
  for (const { request, indexes } of covered) markDone(request, request.spans, indexes);
  const runs = offsets.length;
  const stored = { ...ref.value, tenant, createdMs, runs, pending: runs, done: null };
  live.hold(stored, stored.bytes);
  return stored;
}

/** null: the record is damaged or unreadable. */
async function readAt(
  { segment, offset, bytes }: { readonly segment: number; readonly offset: number; readonly bytes: number },
  dir: string,
  { files, log }: Pick<SpoolPorts, "files" | "log">,
): Promise<SpoolRecord | null> {
  try {
    const file = await files.openToRead(`${dir}/${segmentName(segment, LOG_SUFFIX)}`);
    try {
      const frame = await file.read(offset, bytes);
      return frameLength(frame) === bytes ? readRecord(frame, 0) : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    log.error("spool_read_failed", { reason: error instanceof Error ? error.message : "unknown" });
    return null;
  }
}
