// Spool: a write-ahead log of requests and batches, with marks for the parts that are done. A request is on disk before
// its acknowledgement; a batch of its spans is on disk before the first upload. The batch marks the spans of the
// request done, the delivery marks the runs of the batch done, and the spool removes segments without live records. The
// pieces:
//   port.ts              the interface that the pipeline uses
//   open-spool.ts        opens the files after a recovery
//   live-records.ts      which records still have pending parts, by segment and tenant
//   collect-segments.ts  removes segments without live records
//   segment-guard.ts     detects closed segments that were deleted or replaced
//   saved-accounting.ts  the totals on disk, and the missing part of the pending segments
//   append-log.ts        numbered segment files with group commit
//   tree-log.ts          the place of each run, for late spans of its trace
//   marks.ts             a file beside each segment: the parts that are done
//   record.ts            the binary format of records
//   encrypted-record.ts  their content, encrypted at its place
//   record-content.ts    requests and batches as records
//   read-record.ts       one record, by its place
//   scan.ts, recover.ts, recover-marks.ts  reads the files of an earlier process
//   disk/                the file operations and their adapter, disk space kept for marks, one process per folder
// Invariants:
//   - Acknowledged ⊆ on disk: append resolves after fdatasync (append-log.ts).
//   - The spool removes a segment only after the sync of every mark that its records imply for other segments. These
//     are always older segments, so the oldest segment can go even when marks cannot be written, and a full disk
//     regains space.
//   - A damaged record costs only itself: it counts as damaged, its file stays under another name, and every intact
//     record is delivered. A damaged batch costs nothing while the requests of its spans are there (recover-marks.ts).
//   - `bytes()` is the size of the spool on disk. A limit refuses only new requests, never writes that free
//     space.
//   - Places are final: the decisions of a batch are in the tree log before the batch's first upload.
//   - The marks of a removed segment stay until a newer accounting is on disk: without them, the next start would take
//     its parts for lost (saved-accounting.ts).
import type { StoredRequest } from "../shared/span-origin.ts";
import { segmentName } from "./append-log.ts";
import { LOG_SUFFIX } from "./collect-segments.ts";
import type { CoveringBatch } from "./marks.ts";
import { type OpenSpool, openSpool, type SpoolOptions, type SpoolPorts } from "./open-spool.ts";
import type { BatchRecord, Spool, StoredBatch } from "./port.ts";
import { readRecordAt } from "./read-record.ts";
import { readBody, encodeBatch, encodeRequest, groupCovers, toRequest } from "./record-content.ts";
import type { SpoolRecord } from "./record.ts";
import { recoverSpool } from "./recover.ts";
import { encodeAccounting } from "./saved-accounting.ts";

/** recover() comes first: every other method needs the open files. */
export function createSpool(options: SpoolOptions, ports: SpoolPorts): Spool {
  let opened: OpenSpool | null = null;

  function files(): OpenSpool {
    if (opened === null) throw new Error("the spool is not recovered");
    return opened;
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
    appendBatch: (batch) => appendBatch(batch, files()),
    async readRequest(request) {
      const record = await readAt(request, options.dir, ports);
      return record === null ? null : toRequest(record, request.tenant);
    },
    async readBatch(batch) {
      const record = await readAt(batch, options.dir, ports);
      return record === null ? null : readBody(record, batch.tenant);
    },
    requestDone: (request, indexes) => markDone(files(), request, { total: request.spans, indexes, batch: null }),
    batchDone(batch, first, runs) {
      const indexes = Array.from({ length: runs }, (_, index) => first + index);
      markDone(files(), batch, { total: batch.runs, indexes, batch: null });
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

interface DoneParts {
  /** Spans of the request, or runs of the batch. */
  readonly total: number;
  readonly indexes: readonly number[];
  readonly batch: CoveringBatch | null;
}

function markDone(
  { live, marks }: OpenSpool,
  stored: StoredRequest | StoredBatch,
  { total, indexes, batch }: DoneParts,
): void {
  const ranges = live.finish(stored, total, indexes);
  if (ranges.length > 0) marks.add(stored.segment, { offset: stored.offset, ranges, batch });
}

async function appendBatch({ body, places, covers }: BatchRecord, spool: OpenSpool): Promise<StoredBatch> {
  const { live, main, trees } = spool;
  const { tenant, createdMs, offsets } = body;
  const covered = groupCovers(covers);
  // Live as soon as it is on disk: the segment must not look dead during the write of the tree log.
  const appending = main.append(encodeBatch(body, covered)).then((written) => {
    live.add(written.segment, written.offset + written.bytes, body.offsets.length);
    return written;
  });
  const [ref, decided] = await Promise.allSettled([appending, trees.append(tenant.id, places)]);
  if (ref.status === "rejected") throw ref.reason;
  if (decided.status === "rejected") {
    live.remove(ref.value.segment);
    throw decided.reason;
  }
  const runs = offsets.length;
  const batch = { segment: ref.value.segment, offset: ref.value.offset, runs, items: covers.length };
  for (const { request, indexes } of covered) markDone(spool, request, { total: request.spans, indexes, batch });
  const stored = { ...ref.value, tenant, createdMs, runs, pending: runs, done: null };
  live.hold(stored, stored.bytes);
  return stored;
}

/** null: the record is damaged or unreadable. */
async function readAt(
  stored: StoredRequest | StoredBatch,
  dir: string,
  ports: Pick<SpoolPorts, "files" | "log" | "ring">,
): Promise<SpoolRecord | null> {
  try {
    return await readRecordAt(`${dir}/${segmentName(stored.segment, LOG_SUFFIX)}`, stored, ports);
  } catch (error) {
    ports.log.error("spool_read_failed", { reason: error instanceof Error ? error.message : "unknown" });
    return null;
  }
}
