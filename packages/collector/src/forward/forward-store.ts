// Forward store: where the requests of a forward queue are: in memory, or in segments on disk with a file of cursors.
// Invariants:
//   - A segment is removed only when no request in it is needed.
//   - The file of cursors is replaced whole. After a crash it may be behind: destinations get the requests since then
//     twice, and none is lost.
//   - Segments hold no key of a sender.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { type AppendLog, createAppendLog, segmentName, parseSegment } from "../spool/append-log.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import { readRecordAt } from "../spool/read-record.ts";
import { encodeRecord, RECORD, type SpoolRecord } from "../spool/record.ts";
import { scanFile } from "../spool/scan.ts";
import type { ForwardRequest } from "./forward-request.ts";

export interface Place {
  readonly segment: number;
  readonly offset: number;
}

export interface StoredForward {
  readonly bytes: number;
  readonly signal: ForwardRequest["signal"];
  readonly place: Place;
  /** null: it is no longer readable. */
  readonly load: () => Promise<ForwardRequest | null>;
}

export interface ForwardStore {
  readonly recovered: readonly StoredForward[];
  /** The first place that the destination had not passed; null for a new destination. */
  readonly passedBy: (destination: string) => Place | null;
  readonly append: (request: ForwardRequest) => Promise<StoredForward>;
  /** `next` is the oldest request that is needed; null for none. */
  readonly release: (next: StoredForward | null) => void;
  /** The place of each destination's next request. */
  readonly savePassed: (next: ReadonlyMap<string, Place>) => void;
  readonly close: () => Promise<void>;
}

export function createMemoryStore(): ForwardStore {
  return {
    recovered: [],
    passedBy: () => null,
    append({ wire, ...rest }) {
      const request: ForwardRequest = { ...rest, wire: Buffer.from(wire) }; // the receiver reuses its buffer
      const bytes = wire.length;
      const place = { segment: 0, offset: 0 };
      return Promise.resolve({ bytes, signal: rest.signal, place, load: () => Promise.resolve(request) });
    },
    release: () => undefined,
    savePassed: () => undefined,
    close: () => Promise.resolve(),
  };
}

export interface DiskStorePorts {
  readonly files: FilePort;
  readonly clock: Clock;
  readonly log: Log;
  readonly ring: Keyring | null;
}

/** In SPOOL_DIR. */
export const FORWARD_FOLDER = "forward";
export const FORWARD_SUFFIX = "fwd";
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;
const CURSORS = "cursors.json";
const SAVE_MS = 500;

/** Reads the folder of an earlier process, and opens a new segment after its own. */
export async function openDiskStore(dir: string, ports: DiskStorePorts): Promise<ForwardStore> {
  const { files } = ports;
  await files.makeDir(dir);
  const names = await files.list(dir);
  const segments = names
    .map((name) => parseSegment(name, FORWARD_SUFFIX))
    .filter((segment) => segment !== null)
    .sort((one, other) => one - other);
  const recovered: StoredForward[] = [];
  for (const segment of segments) recovered.push(...(await readSegment(dir, segment, ports)));
  const passed = placesIn(names.includes(CURSORS) ? await readText(files, `${dir}/${CURSORS}`) : "{}");
  // Cursors may be ahead of the files: numbers never begin again below them.
  const newest = Math.max(0, ...segments, ...[...passed.values()].map(({ segment }) => segment));
  const held = new Set(segments);
  const main = openLog(dir, newest + 1, held, ports);
  const cursors = createCursorFile(dir, ports);
  return {
    recovered,
    passedBy: (destination) => passed.get(destination) ?? null,
    async append({ wire, ...header }) {
      const ref = await main.append(encodeRecord(RECORD.request, { ...header }, wire));
      return storedAt(dir, { ...ref, signal: header.signal }, ports);
    },
    release(next) {
      for (const segment of held) {
        const isNeeded = segment === main.current() || (next !== null && segment >= next.place.segment);
        if (isNeeded) continue;
        held.delete(segment);
        void files.unlink(`${dir}/${segmentName(segment, FORWARD_SUFFIX)}`).catch(() => undefined);
      }
    },
    savePassed: (next) => cursors.save(next),
    async close() {
      await cursors.close();
      await main.close();
    },
  };
}

function openLog(
  dir: string,
  firstSegment: number,
  held: Set<number>,
  { clock, files, log, ring }: DiskStorePorts,
): AppendLog {
  return createAppendLog(
    {
      dir,
      suffix: FORWARD_SUFFIX,
      firstSegment,
      segmentBytesMax: SEGMENT_BYTES_MAX,
      preamble: () => [],
      onSegment: (segment) => held.add(segment),
      onFailure(reason) {
        if (reason === null) log.info("forward_log_recovered");
        else log.error("forward_log_failed", { reason });
      },
    },
    { files, clock, ring },
  );
}

async function readSegment(dir: string, segment: number, ports: DiskStorePorts): Promise<readonly StoredForward[]> {
  const path = `${dir}/${segmentName(segment, FORWARD_SUFFIX)}`;
  const bytes = await ports.files.size(path);
  const file = await ports.files.openToRead(path);
  try {
    const { badStretches, records } = scanFile(await file.read(0, bytes), { path, segment }, ports.ring);
    if (badStretches > 0) ports.log.error("forward_segment_damaged", { path, stretches: badStretches });
    return records
      .filter(({ type }) => type === RECORD.request)
      .map((record) => storedAt(dir, { ...record, segment, signal: toRequest(record).signal }, ports));
  } finally {
    await file.close();
  }
}

function storedAt(
  dir: string,
  ref: Place & { readonly bytes: number; readonly signal: ForwardRequest["signal"] },
  ports: DiskStorePorts,
): StoredForward {
  const { bytes, offset, segment, signal } = ref;
  return {
    bytes,
    signal,
    place: { segment, offset },
    async load() {
      try {
        const path = `${dir}/${segmentName(segment, FORWARD_SUFFIX)}`;
        const record = await readRecordAt(path, { segment, offset, bytes }, ports);
        return record === null ? null : toRequest(record);
      } catch (error) {
        ports.log.error("forward_read_failed", { reason: error instanceof Error ? error.message : "unknown" });
        return null;
      }
    },
  };
}

function toRequest({ body, header }: SpoolRecord): ForwardRequest {
  const { encoding, format, project, signal, tenantId } = header as Omit<ForwardRequest, "wire">;
  return { encoding, format, signal, project, tenantId, wire: body };
}

interface CursorFile {
  readonly save: (next: ReadonlyMap<string, Place>) => void;
  readonly close: () => Promise<void>;
}

/** Writes at most every SAVE_MS, and once at the end. */
function createCursorFile(dir: string, { clock, files, log }: DiskStorePorts): CursorFile {
  let waiting: string | null = null;
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();
  function write(): void {
    cancel = null;
    const text = waiting;
    waiting = null;
    if (text === null) return;
    writing = writing
      .then(() => replaceFile(files, dir, text))
      .catch((error: unknown) => {
        log.warning("forward_cursors_not_saved", { reason: error instanceof Error ? error.message : "unknown" });
      });
  }
  return {
    save(next) {
      waiting = JSON.stringify(Object.fromEntries(next));
      cancel ??= clock.after(SAVE_MS, write);
    },
    async close() {
      cancel?.();
      write();
      await writing;
    },
  };
}

async function replaceFile(files: FilePort, dir: string, text: string): Promise<void> {
  const next = `${dir}/${CURSORS}.next`;
  await files.unlink(next).catch(() => undefined);
  const file = await files.create(next);
  try {
    await file.write([Buffer.from(text)]);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(next, `${dir}/${CURSORS}`);
  await files.syncDir(dir);
}

async function readText(files: FilePort, path: string): Promise<string> {
  const file = await files.openToRead(path);
  try {
    return (await file.read(0, await files.size(path))).toString();
  } finally {
    await file.close();
  }
}

/** A file that cannot be read starts every destination at the oldest request. */
function placesIn(text: string): ReadonlyMap<string, Place> {
  try {
    const found = JSON.parse(text) as Readonly<Record<string, Place>>;
    return new Map(Object.entries(found));
  } catch {
    return new Map();
  }
}
