// Spool: requests and batches in a write-ahead log, and what of them is done with.
// A request is appended before it is acknowledged; a batch made of its spans before its first upload. With the batch the
// request's spans are done with, with the delivery the batch is, and a segment in which nothing is left is removed.
// Invariants:
//   SO1. Acknowledged ⊆ on disk: append resolves after fdatasync (append-log.ts).
//   SO2. A segment is removed only after every mark that its records imply for other segments is synced. They imply some for
//        older ones only: the oldest can go when no mark can be written, and so a full disk gets room again.
//   SO3. A damaged record costs itself: it is counted, its file is kept under another name, everything intact is delivered.
//   SO4. `bytes()` is what the spool takes on the disk; only new requests are refused at a limit, never what makes room.
//   SO5. Places are decided once: the decisions of a batch are in the tree log before its first upload.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Body, BodyEncoding } from "../encode/batch-body.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { WireFormat } from "../otlp/status.ts";
import type { ContentEncoding } from "../shared/content-encoding.ts";
import type { Tenant } from "../shared/tenants.ts";
import { type AppendLog, createAppendLog, segmentName } from "./append-log.ts";
import type { FilePort } from "./file-port.ts";
import { MARKS_SUFFIX, type Marks, createMarks } from "./marks.ts";
import type { BatchRecord, RequestRecord, Spool, StoredBatch } from "./port.ts";
import type { StoredRequest } from "../shared/span-origin.ts";
import { type Encoded, RECORD, type SpoolRecord, encodeRecord, frameLength, readRecord } from "./record.ts";
import { type Recovery, recoverSpool } from "./recover.ts";
import { type TreeLog, createTreeLog } from "./tree-log.ts";

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

const LOG_SUFFIX = "log";
/** Given up first when the disk is full, so that marks and batches still fit. */
const RESERVE_BYTES = 1024 * 1024;
const RESERVE_NAME = "reserve";
const COLLECT_MS = 250;

interface Segment {
  bytes: number;
  /** Requests and batches in it with something left. */
  live: number;
  damaged: boolean;
}

export function createSpool(options: SpoolOptions, ports: SpoolPorts): Spool {
  const { files, clock, log } = ports;
  const { dir } = options;
  const segments = new Map<number, Segment>();
  /** Bytes of live records, of each tenant and of all. */
  const liveBytesOf = new Map<string, number>();
  let liveBytes = 0;
  let main: AppendLog;
  let trees: TreeLog;
  let marks: Marks;
  let collecting: Promise<void> | null = null;
  let cancelCollect: (() => void) | null = null;
  let hasReserve = false;
  let closed = false;

  function openLogs(recovery: Recovery): void {
    marks = createMarks(dir, files);
    main = createAppendLog(
      {
        dir,
        suffix: LOG_SUFFIX,
        firstSegment: recovery.nextSegment,
        segmentBytesMax: options.segmentBytesMax,
        preamble: () => [accountingRecord()],
        onSegment(segment) {
          segments.set(segment, { bytes: 0, live: 0, damaged: false });
          planCollect();
        },
        onFailure(reason) {
          if (reason === null) log.info("spool_healed");
          else {
            log.error("spool_write_failed", { reason });
            void releaseReserve();
          }
        },
      },
      { files, clock },
    );
    trees = createTreeLog(
      { ...options, firstSegment: recovery.nextTreeSegment, old: recovery.treeSegments },
      { files, clock },
    );
  }

  function accountingRecord(): Encoded {
    return encodeRecord(RECORD.accounting, ports.accounting());
  }

  function book(segment: number, bytes: number): void {
    const one = segments.get(segment);
    if (one === undefined) return;
    one.bytes = Math.max(one.bytes, bytes);
    one.live++;
  }

  function hold({ tenant }: StoredRequest | StoredBatch, bytes: number): void {
    liveBytes += bytes;
    const left = (liveBytesOf.get(tenant.id) ?? 0) + bytes;
    if (left === 0) liveBytesOf.delete(tenant.id);
    else liveBytesOf.set(tenant.id, left);
  }

  function ended(segment: number): void {
    const one = segments.get(segment);
    if (one === undefined) return;
    one.live--;
    if (one.live === 0) planCollect();
  }

  function planCollect(): void {
    if (cancelCollect !== null || closed) return;
    cancelCollect = clock.after(COLLECT_MS, () => {
      cancelCollect = null;
      if (collecting !== null) return planCollect(); // what has died since it looked is for the next one
      collecting = collect().finally(() => {
        collecting = null;
      });
    });
  }

  /** Removes segments in which nothing is left. */
  async function collect(): Promise<void> {
    const isDead = ([segment, { live }]: [number, Segment]): boolean => live === 0 && segment !== main.current();
    const dead = [...segments].filter(isDead).sort(([one], [other]) => one - other);
    if (dead.length === 0) return;
    try {
      const unsettled = await marks.settle().then(
        () => null,
        (error: unknown) => ({ error }),
      );
      for (const [segment, { damaged }] of dead) {
        if (unsettled !== null && segment !== Math.min(...segments.keys())) throw unsettled.error; // SO2
        const path = `${dir}/${segmentName(segment, LOG_SUFFIX)}`;
        if (damaged) await files.rename(path, `${path}.bad`); // SO3
        else await files.unlink(path);
        segments.delete(segment);
        await marks.forget(segment);
        await files.unlink(`${dir}/${segmentName(segment, MARKS_SUFFIX)}`).catch(() => undefined);
        if (unsettled !== null) await files.syncDir(dir); // one after the other, also for a power cut
      }
      await files.syncDir(dir);
      if (!hasReserve) await makeReserve();
    } catch (error) {
      log.warning("spool_collect_failed", { reason: error instanceof Error ? error.message : "unknown" });
      planCollect();
    }
  }

  async function makeReserve(): Promise<void> {
    const path = `${dir}/${RESERVE_NAME}`;
    if ((await files.list(dir)).includes(RESERVE_NAME)) {
      hasReserve = true;
      return;
    }
    const file = await files.create(path);
    try {
      await file.write([Buffer.alloc(RESERVE_BYTES)]);
      hasReserve = true;
    } finally {
      await file.close();
      if (!hasReserve) await files.unlink(path).catch(() => undefined);
    }
  }

  async function releaseReserve(): Promise<void> {
    if (!hasReserve) return;
    hasReserve = false;
    await files.unlink(`${dir}/${RESERVE_NAME}`).catch(() => undefined);
    planCollect();
  }

  async function readAt(stored: {
    readonly segment: number;
    readonly offset: number;
    readonly bytes: number;
  }): Promise<SpoolRecord | null> {
    try {
      const file = await files.openToRead(`${dir}/${segmentName(stored.segment, LOG_SUFFIX)}`);
      try {
        const bytes = await file.read(stored.offset, stored.bytes);
        return frameLength(bytes) === stored.bytes ? readRecord(bytes, 0) : null;
      } finally {
        await file.close();
      }
    } catch (error) {
      log.error("spool_read_failed", { reason: error instanceof Error ? error.message : "unknown" });
      return null;
    }
  }

  function finish(stored: StoredRequest | StoredBatch, total: number, indexes: readonly number[]): number[] {
    const ranges: number[] = [];
    if (stored.pending === 0) return ranges;
    const bits = (stored.done ??= new Uint8Array((total + 7) >> 3));
    for (const index of indexes) {
      const mask = 1 << (index & 7);
      if (index >= total || ((bits[index >> 3] ?? 0) & mask) !== 0) continue;
      bits[index >> 3] = (bits[index >> 3] ?? 0) | mask;
      stored.pending--;
      const last = ranges.length - 2;
      if (last >= 0 && (ranges[last] ?? 0) + (ranges[last + 1] ?? 0) === index)
        ranges[last + 1] = (ranges[last + 1] ?? 0) + 1;
      else ranges.push(index, 1);
    }
    if (stored.pending > 0) return ranges;
    ended(stored.segment);
    hold(stored, -stored.bytes);
    return ranges;
  }

  function done(stored: StoredRequest | StoredBatch, total: number, indexes: readonly number[]): void {
    const ranges = finish(stored, total, indexes);
    if (ranges.length > 0) marks.add(stored.segment, { offset: stored.offset, ranges });
  }

  return {
    async recover() {
      await files.makeDir(dir);
      const recovery = await recoverSpool(dir, { ...ports, treeRunsKept: options.treeRunsKept });
      for (const [segment, found] of recovery.segments) segments.set(segment, { ...found, live: 0 });
      for (const stored of [...recovery.requests, ...recovery.batches]) {
        book(stored.segment, 0);
        hold(stored, stored.bytes);
      }
      openLogs(recovery);
      await makeReserve().catch(() => undefined); // a full disk at start is met when it is written to
      planCollect();
      return recovery;
    },
    async appendRequest(record) {
      const { tenant, format, encoding, project, receivedMs, spans, rejected, wire } = record;
      const header = { ...nameOf(tenant), format, encoding, project, receivedMs, spans, rejected };
      const ref = await main.append(encodeRecord(RECORD.request, header, wire));
      book(ref.segment, ref.offset + ref.bytes);
      const stored = { ...ref, tenant, spans, pending: spans, done: null };
      if (spans === 0) ended(ref.segment);
      else hold(stored, stored.bytes);
      return stored;
    },
    async appendBatch({ body, places, covers }) {
      const { tenant, createdMs, boundary, encoding, rawBytes, offsets } = body;
      const covered = coversOf(covers);
      const header = { ...nameOf(tenant), createdMs, boundary, encoding, rawBytes, offsets, covers: covered };
      // Booked as soon as it is on disk: its segment must not be taken for empty while the tree log is still written to.
      const appending = main.append(encodeRecord(RECORD.batch, header, body.bytes)).then((written) => {
        book(written.segment, written.offset + written.bytes);
        return written;
      });
      const [ref, decided] = await Promise.allSettled([appending, trees.append(tenant.id, places)]); // SO5
      if (ref.status === "rejected") throw ref.reason;
      if (decided.status === "rejected") {
        ended(ref.value.segment);
        throw decided.reason;
      }
      for (const { request, indexes } of groupCovers(covers)) done(request, request.spans, indexes);
      const runs = offsets.length;
      const stored = { ...ref.value, tenant, createdMs, runs, pending: runs, done: null };
      hold(stored, stored.bytes);
      return stored;
    },
    async readRequest(request) {
      const record = await readAt(request);
      return record === null ? null : requestOf(record, request.tenant);
    },
    async readBatch(batch) {
      const record = await readAt(batch);
      return record === null ? null : bodyOf(record, batch.tenant);
    },
    requestDone: (request, indexes) => done(request, request.spans, indexes),
    batchDone: (batch, first, runs) =>
      done(
        batch,
        batch.runs,
        Array.from({ length: runs }, (_, index) => first + index),
      ),
    bytes() {
      let bytes = trees.bytes();
      for (const segment of segments.values()) bytes += segment.bytes;
      return bytes;
    },
    liveBytes: (tenantId) => (tenantId === undefined ? liveBytes : (liveBytesOf.get(tenantId) ?? 0)),
    failure: () => main.failure(),
    async close() {
      closed = true;
      cancelCollect?.();
      if (collecting !== null) await collecting;
      await main.append(accountingRecord()).catch(() => undefined);
      await collect();
      await Promise.all([main.close(), trees.close(), marks.close()]);
    },
  };
}

/** Every record can be read alone. The key is in clear: the files are readable by their owner only. */
function nameOf(tenant: Tenant): { readonly apiKey: string; readonly tenantId: string } {
  return { apiKey: tenant.apiKey, tenantId: tenant.tenantId };
}

function groupCovers(covers: BatchRecord["covers"]): { readonly request: StoredRequest; readonly indexes: number[] }[] {
  const groups = new Map<StoredRequest, number[]>();
  for (const { request, index } of covers) {
    const indexes = groups.get(request);
    if (indexes === undefined) groups.set(request, [index]);
    else indexes.push(index);
  }
  return [...groups].map(([request, indexes]) => ({ request, indexes: indexes.sort((a, b) => a - b) }));
}

/** `[segment, offset, index, index, …]` a request. */
function coversOf(covers: BatchRecord["covers"]): number[][] {
  return groupCovers(covers).map(({ request, indexes }) => [request.segment, request.offset, ...indexes]);
}

function requestOf(record: SpoolRecord, tenant: Tenant): RequestRecord {
  const { header } = record;
  return {
    tenant,
    format: header["format"] as WireFormat,
    encoding: header["encoding"] as ContentEncoding,
    project: String(header["project"]),
    receivedMs: Number(header["receivedMs"]),
    spans: Number(header["spans"]),
    rejected: Number(header["rejected"]),
    wire: record.body,
  };
}

function bodyOf(record: SpoolRecord, tenant: Tenant): Body {
  const { header } = record;
  return {
    tenant,
    createdMs: Number(header["createdMs"]),
    boundary: String(header["boundary"]),
    encoding: header["encoding"] as BodyEncoding,
    bytes: record.body,
    rawBytes: Number(header["rawBytes"]),
    offsets: header["offsets"] as number[],
    first: 0,
  };
}
