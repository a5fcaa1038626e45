// Append log: a folder of numbered, append-only segment files with group commit.
// Invariants:
//   - append() resolves when the record and the name of its file survive a power cut.
//   - An error of write or sync fails every append of that group, and abandons the segment: after a failed sync the
//     content on disk is unknown, so the log stops using the segment.
//   - During the sync of one group the next group collects: there is one sync at a time for any number of
//     appends.
//   - A deleted or replaced segment takes no more records: the group that finds it so fails, and the next one gets a
//     new segment.
//   - A failed log probes the disk every PROBE_MS and reports when writes succeed again.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { FilePort, SpoolFile } from "./disk/file-port.ts";
import { createSeal, encryptRecord } from "./encrypted-record.ts";
import { bytesOfRecord, encodeFileHead, encodeRecord, RECORD, sealRecord, SPOOL_FORMAT } from "./record.ts";
import type { Encoded, Seal } from "./record.ts";

/** Position of a record. */
interface RecordRef {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface AppendLog {
  readonly append: (record: Encoded) => Promise<RecordRef>;
  /** Number of the open segment; -1 for none. */
  readonly current: () => number;
  /** null: writable. Otherwise the reason. */
  readonly failure: () => string | null;
  readonly close: () => Promise<void>;
}

export interface AppendLogOptions {
  readonly dir: string;
  readonly suffix: string;
  readonly firstSegment: number;
  readonly segmentBytesMax: number;
  /** First records of every new segment, which make it readable on its own. */
  readonly preamble: (segment: number) => readonly Encoded[];
  readonly onSegment: (segment: number) => void;
  readonly onFailure: (reason: string | null) => void;
}

export interface AppendLogPorts {
  readonly files: FilePort;
  readonly clock: Clock;
  /** Null without encryption. */
  readonly ring: Keyring | null;
}

interface Pending {
  readonly record: Encoded;
  readonly resolve: (ref: RecordRef) => void;
  readonly reject: (error: unknown) => void;
}

const GROUP_BYTES_MAX = 16 * 1024 * 1024;
const PROBE_MS = 1000;

export function segmentName(segment: number, suffix: string): string {
  return `${String(segment).padStart(10, "0")}.${suffix}`;
}

/** Number of a segment file's name, null for other files. */
export function parseSegment(name: string, suffix: string): number | null {
  const match = /^(\d{10})\.(\w+)$/.exec(name);
  return match !== null && match[2] === suffix ? Number(match[1]) : null;
}

interface LogState {
  readonly options: AppendLogOptions;
  readonly files: FilePort;
  readonly clock: Clock;
  readonly ring: Keyring | null;
  pending: Pending[];
  committing: Promise<void> | null;
  file: SpoolFile | null;
  segment: number;
  seal: Seal;
  /** Bytes in the open segment. */
  size: number;
  failure: string | null;
  cancelProbe: (() => void) | null;
  closed: boolean;
}

export function createAppendLog(options: AppendLogOptions, ports: AppendLogPorts): AppendLog {
  const segment = options.firstSegment - 1;
  const log: LogState = {
    options,
    ...ports,
    pending: [],
    committing: null,
    file: null,
    segment,
    seal: { segment, salt: "" },
    size: 0,
    failure: null,
    cancelProbe: null,
    closed: false,
  };
  return {
    append: (record) => append(log, record),
    current: () => (log.file === null ? -1 : log.segment),
    failure: () => log.failure,
    async close() {
      log.closed = true;
      log.cancelProbe?.();
      for (let last = log.committing; last !== null; last = log.committing) await last;
      await abandon(log);
    },
  };
}

function append(log: LogState, record: Encoded): Promise<RecordRef> {
  if (log.closed) return Promise.reject(new Error("the spool is closed"));
  return new Promise((resolve, reject) => {
    log.pending.push({ record, resolve, reject });
    kick(log);
  });
}

function kick(log: LogState): void {
  log.committing ??= commitAll(log).finally(() => {
    log.committing = null;
    if (log.pending.length > 0) kick(log);
  });
}

async function commitAll(log: LogState): Promise<void> {
  while (log.pending.length > 0) {
    const group = takeGroup(log.pending);
    try {
      const refs = await writeGroup(log, group);
      healed(log);
      group.forEach((one, index) => one.resolve(refs[index] ?? NOWHERE));
    } catch (error) {
      await abandon(log);
      failed(log, error instanceof Error ? error.message : String(error));
      for (const one of group) one.reject(error);
    }
  }
}

function takeGroup(pending: Pending[]): Pending[] {
  let bytes = 0;
  let count = 0;
  while (count < pending.length && bytes < GROUP_BYTES_MAX) bytes += bytesOfRecord(pending[count++]?.record ?? NOTHING);
  return pending.splice(0, count);
}

/** @returns the positions of the group's records, which are on disk */
async function writeGroup(log: LogState, group: readonly Pending[]): Promise<readonly RecordRef[]> {
  const { options } = log;
  if (log.file !== null && log.size >= options.segmentBytesMax) await abandon(log);
  const file = (log.file ??= await openSegment(log));
  const { segment } = log;
  const placed = placeRecords(
    log,
    group.map(({ record }) => record),
    log.size,
  );
  await file.write(placed.buffers);
  await file.sync();
  if (!(await file.isAt(buildPath(options, segment))))
    throw new Error(`${segmentName(segment, options.suffix)} was deleted or replaced under the collector`);
  log.size = placed.end;
  return placed.refs;
}

interface Placed {
  readonly refs: readonly RecordRef[];
  readonly buffers: readonly Buffer[];
  /** The offset after them. */
  readonly end: number;
}

/** Encrypts and seals the records for their places in the open segment, from `offset` on. */
function placeRecords({ seal, segment, ring }: LogState, records: readonly Encoded[], from: number): Placed {
  const [refs, buffers]: [RecordRef[], Buffer[]] = [[], []];
  let offset = from;
  for (const record of records) {
    const stored = encryptRecord(record, seal, offset, ring);
    sealRecord(stored, seal, offset);
    const bytes = bytesOfRecord(stored);
    refs.push({ segment, offset, bytes });
    buffers.push(...stored.filter((buffer) => buffer.length > 0));
    offset += bytes;
  }
  return { refs, buffers, end: offset };
}

async function openSegment(log: LogState): Promise<SpoolFile> {
  const { files, options } = log;
  const segment = ++log.segment;
  const path = buildPath(options, segment);
  const created = await files.create(path);
  log.seal = createSeal(segment, log.ring);
  const head = encodeFileHead(log.seal);
  const first = placeRecords(log, options.preamble(segment), sumBytes(head));
  try {
    await created.write([...head, ...first.buffers]);
    await files.syncDir(options.dir); // the name too
  } catch (error) {
    await created.close().catch(() => undefined);
    await files.unlink(path).catch(() => undefined);
    throw error;
  }
  log.size = first.end;
  options.onSegment(segment);
  return created;
}

function sumBytes(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

async function abandon(log: LogState): Promise<void> {
  const old = log.file;
  log.file = null;
  await old?.close().catch(() => undefined);
}

function failed(log: LogState, reason: string): void {
  if (log.failure === null) log.options.onFailure(reason);
  log.failure = reason;
  if (log.closed || log.cancelProbe !== null) return;
  log.cancelProbe = log.clock.after(PROBE_MS, () => {
    log.cancelProbe = null;
    append(log, encodeRecord(RECORD.file, { format: SPOOL_FORMAT })).catch(() => undefined); // failed() plans the next
  });
}

function healed(log: LogState): void {
  if (log.failure === null) return;
  log.failure = null;
  log.cancelProbe?.();
  log.cancelProbe = null;
  log.options.onFailure(null);
}

function buildPath({ dir, suffix }: AppendLogOptions, segment: number): string {
  return `${dir}/${segmentName(segment, suffix)}`;
}

const NOWHERE: RecordRef = { segment: -1, offset: 0, bytes: 0 };
const NOTHING: Encoded = [Buffer.alloc(0), Buffer.alloc(0)];
