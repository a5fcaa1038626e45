// Record: the unit of every spool file. `magic, length, crc32 | type, header length, header (JSON), body`.
// Invariants:
//   RC1. A record is read only when its checksum fits; a bad one costs itself and nothing else: the scan goes on at the
//        next place where magic, length and checksum agree.
//   RC2. The first record of a file says the format's version. A newer version is refused, the file left untouched.
import { crc32 } from "node:zlib";

export const SPOOL_FORMAT = 1;

/** What a record holds. The numbers are on disk: never reused for another meaning. */
export const RECORD = { file: 1, request: 2, batch: 3, books: 4, marks: 5, decisions: 6 } as const;
export type RecordType = (typeof RECORD)[keyof typeof RECORD];

export interface SpoolRecord {
  readonly offset: number;
  /** Whole record, frame included. */
  readonly bytes: number;
  readonly type: number;
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

const MAGIC = Buffer.from("HPr\u0001", "latin1");
const FRAME_BYTES = 12;
const TYPE_BYTES = 5;
const RECORD_BYTES_MAX = 1024 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Two buffers, so that a large body is never copied. */
export function encodeRecord(type: RecordType, header: object, body: Buffer = EMPTY): readonly [Buffer, Buffer] {
  const json = JSON.stringify(header);
  const jsonBytes = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(FRAME_BYTES + TYPE_BYTES + jsonBytes);
  MAGIC.copy(head, 0);
  head.writeUInt32LE(TYPE_BYTES + jsonBytes + body.length, 4);
  head.writeUInt8(type, FRAME_BYTES);
  head.writeUInt32LE(jsonBytes, FRAME_BYTES + 1);
  head.write(json, FRAME_BYTES + TYPE_BYTES, "utf8");
  head.writeUInt32LE(crc32(body, crc32(head.subarray(FRAME_BYTES))), 8);
  return [head, body];
}

export function bytesOfRecord(record: readonly [Buffer, Buffer]): number {
  return record[0].length + record[1].length;
}

export interface Scan {
  readonly records: SpoolRecord[];
  /** Damaged stretches between intact records: never what a crash leaves. */
  readonly badStretches: number;
  /** Bytes after the last intact record: what a crash may leave. */
  readonly tornBytes: number;
}

export function scanRecords(file: Buffer): Scan {
  const records: SpoolRecord[] = [];
  let badStretches = 0;
  let at = 0;
  let damagedSince = -1;
  while (at < file.length) {
    const record = readRecord(file, at);
    if (record !== null) {
      if (damagedSince >= 0) badStretches++;
      damagedSince = -1;
      records.push(record);
      at += record.bytes;
      continue;
    }
    if (damagedSince < 0) damagedSince = at;
    const next = file.indexOf(MAGIC, at + 1); // RC1
    if (next < 0) break;
    at = next;
  }
  return { records, badStretches, tornBytes: damagedSince < 0 ? 0 : file.length - damagedSince };
}

/** null: no intact record begins here. */
export function readRecord(file: Buffer, at: number): SpoolRecord | null {
  if (at + FRAME_BYTES + TYPE_BYTES > file.length || !file.subarray(at, at + 4).equals(MAGIC)) return null;
  const length = file.readUInt32LE(at + 4);
  const start = at + FRAME_BYTES;
  if (length < TYPE_BYTES || length > RECORD_BYTES_MAX || start + length > file.length) return null;
  const content = file.subarray(start, start + length);
  if (crc32(content) !== file.readUInt32LE(at + 8)) return null;
  const headerEnd = TYPE_BYTES + content.readUInt32LE(1);
  if (headerEnd > length) return null;
  const header = JSON.parse(content.toString("utf8", TYPE_BYTES, headerEnd)) as SpoolRecord["header"];
  return { offset: at, bytes: FRAME_BYTES + length, type: content[0] ?? 0, header, body: content.subarray(headerEnd) };
}

/** Length of the record whose frame this is, or null. For reading one record out of a file. */
export function frameLength(frame: Buffer): number | null {
  if (frame.length < FRAME_BYTES || !frame.subarray(0, 4).equals(MAGIC)) return null;
  return FRAME_BYTES + frame.readUInt32LE(4);
}

export class SpoolVersionError extends Error {
  constructor(path: string, format: unknown) {
    super(
      `${path} was written in spool format ${String(format)}, and this version reads up to ${SPOOL_FORMAT}. ` +
        "Use the newer version, or set another SPOOL_DIR. Nothing was changed.",
    );
    this.name = "SpoolVersionError";
  }
}

/** RC2. @throws {SpoolVersionError} */
export function checkFormat(path: string, records: readonly SpoolRecord[]): void {
  for (const record of records)
    if (record.type === RECORD.file && Number(record.header["format"]) > SPOOL_FORMAT)
      throw new SpoolVersionError(path, record.header["format"]);
}
