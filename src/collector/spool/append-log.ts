// Append log: a folder of numbered, append-only segment files with group commit.
// Invariants:
//   append-log.1. append() resolves when the record and the name of its file survive a power cut.
//   append-log.2. An error of write or sync fails every append of that group, and abandons the segment: after a failed
//        sync the content on disk is unknown, so the segment is never used again.
//   append-log.3. During the sync of one group the next group collects: there is one sync at a time for any number of
//        appends.
//   append-log.5. A segment that was deleted or replaced takes no more records: the group that finds it so is refused,
//        and the next one gets a new segment.
//   append-log.4. A failed log probes the disk every PROBE_MS and reports when writes succeed again.
import type { Clock } from "../../base/clock.ts";
import type { FilePort, SpoolFile } from "./file-port.ts";
import { bytesOfRecord, encodeFileHead, encodeRecord, newSalt, RECORD, sealRecord, SPOOL_FORMAT } from "./record.ts";
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
export function segmentOf(name: string, suffix: string): number | null {
  const match = /^(\d{10})\.(\w+)$/.exec(name);
  return match !== null && match[2] === suffix ? Number(match[1]) : null;
}

export function createAppendLog(
  options: AppendLogOptions,
  ports: { readonly files: FilePort; readonly clock: Clock },
): AppendLog {
  const { files, clock } = ports;
  let pending: Pending[] = [];
  let committing: Promise<void> | null = null;
  let file: SpoolFile | null = null;
  let segment = options.firstSegment - 1;
  let seal: Seal = { segment, salt: "" };
  let size = 0;
  let failure: string | null = null;
  let cancelProbe: (() => void) | null = null;
  let closed = false;

  const pathOf = (number: number): string => `${options.dir}/${segmentName(number, options.suffix)}`;

  async function openSegment(): Promise<SpoolFile> {
    segment++;
    const path = pathOf(segment);
    const created = await files.create(path);
    seal = { segment, salt: newSalt() };
    const head = encodeFileHead(seal);
    const first = options.preamble(segment);
    let bytes = head.reduce((sum, part) => sum + part.length, 0);
    for (const record of first) {
      sealRecord(record, seal, bytes);
      bytes += bytesOfRecord(record);
    }
    try {
      await created.write([...head, ...first.flat()].filter((buffer) => buffer.length > 0));
      await files.syncDir(options.dir); // append-log.1: the name too
    } catch (error) {
      await created.close().catch(() => undefined);
      await files.unlink(path).catch(() => undefined);
      throw error;
    }
    size = bytes;
    options.onSegment(segment);
    return created;
  }

  function takeGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    while (count < pending.length && bytes < GROUP_BYTES_MAX)
      bytes += bytesOfRecord(pending[count++]?.record ?? NOTHING);
    return pending.splice(0, count);
  }

  async function commitAll(): Promise<void> {
    while (pending.length > 0) {
      const group = takeGroup();
      try {
        if (file !== null && size >= options.segmentBytesMax) await abandon();
        file ??= await openSegment();
        let offset = size;
        const refs = group.map(({ record }): RecordRef => {
          const ref = { segment, offset, bytes: bytesOfRecord(record) };
          sealRecord(record, seal, offset);
          offset += ref.bytes;
          return ref;
        });
        await file.write(group.flatMap(({ record }) => record).filter((buffer) => buffer.length > 0));
        await file.sync(); // append-log.1
        if (!(await file.isAt(pathOf(segment))))
          throw new Error(`${segmentName(segment, options.suffix)} was deleted or replaced under the collector`); // append-log.5
        size = offset;
        healed();
        group.forEach((one, index) => one.resolve(refs[index] ?? NOWHERE));
      } catch (error) {
        await abandon(); // append-log.2
        failed(error instanceof Error ? error.message : String(error));
        for (const one of group) one.reject(error);
      }
    }
  }

  async function abandon(): Promise<void> {
    const old = file;
    file = null;
    await old?.close().catch(() => undefined);
  }

  function kick(): void {
    committing ??= commitAll().finally(() => {
      committing = null;
      if (pending.length > 0) kick();
    });
  }

  function failed(reason: string): void {
    if (failure === null) options.onFailure(reason);
    failure = reason;
    if (closed || cancelProbe !== null) return;
    cancelProbe = clock.after(PROBE_MS, () => {
      cancelProbe = null;
      append(encodeRecord(RECORD.file, { format: SPOOL_FORMAT })).catch(() => undefined); // append-log.4: failed() plans the next
    });
  }

  function healed(): void {
    if (failure === null) return;
    failure = null;
    cancelProbe?.();
    cancelProbe = null;
    options.onFailure(null);
  }

  function append(record: Encoded): Promise<RecordRef> {
    if (closed) return Promise.reject(new Error("the spool is closed"));
    return new Promise((resolve, reject) => {
      pending.push({ record, resolve, reject });
      kick();
    });
  }

  return {
    append,
    current: () => (file === null ? -1 : segment),
    failure: () => failure,
    async close() {
      closed = true;
      cancelProbe?.();
      for (let last = committing; last !== null; last = committing) await last;
      await abandon();
    },
  };
}

const NOWHERE: RecordRef = { segment: -1, offset: 0, bytes: 0 };
const NOTHING: Encoded = [Buffer.alloc(0), Buffer.alloc(0)];
