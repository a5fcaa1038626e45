// Record: the unit of every spool file, in two framings.
//   plain:  `magic, length, crc32 | content`: file records and marks
//   sealed: `magic, length, crc32, seal | content`: records that may contain bytes of senders
// Content is `type, header length, header (JSON), body`; with encryption all of it is encrypted (encrypted-record.ts).
// Invariants:
//   - The checksum decides whether a record is intact. A damaged record costs only itself.
//   - A sealed file begins with a file record that declares its format. The reader refuses a newer format and leaves
//     the file unchanged. Only the beginning of a file counts: elsewhere the same bytes may come from a sender.
//   - The seal binds a record to its file, segment and offset by a salt unknown to senders: a scan for the next record
//     never takes bytes inside a body for one.
//   - With an intact frame a scan skips the whole content, even torn or damaged content.
//   - A sealed file has its file record twice: damage to one of them has no effect.
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { readKeyId } from "@holdpoint/base/keyring.ts";

/** A version that would lose something of a newer file refuses it. */
export const SPOOL_FORMAT = 2;
/** Format of files without encryption. */
const PLAIN_FORMAT = 1;

/** Types of records. The numbers are on disk and never change their meaning. */
export const RECORD = { file: 1, request: 2, batch: 3, accounting: 4, marks: 5, decisions: 6 } as const;
export type RecordType = (typeof RECORD)[keyof typeof RECORD];

export interface SpoolRecord {
  readonly offset: number;
  /** Whole record, frame included. */
  readonly bytes: number;
  readonly type: number;
  readonly header: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** Binds the records of a sealed file to it. */
export interface Seal {
  readonly segment: number;
  /** With encryption it names the key of the file. */
  readonly salt: string;
}

/** Content at its place → readable content. null: it belongs elsewhere, or was changed. */
export type OpenContent = (content: Buffer, offset: number) => Buffer | null;

const READABLE: OpenContent = (content) => content;

const PLAIN = { magic: Buffer.from("HPr\u0001", "latin1"), frameBytes: 12 } as const;
const SEALED = { magic: Buffer.from("HPr\u0002", "latin1"), frameBytes: 20 } as const;
type Framing = typeof PLAIN | typeof SEALED;

const CRC_AT = 8;
const SEAL_AT = 12;
const SEAL_BYTES = 8;
const TYPE_BYTES = 5;
const RECORD_BYTES_MAX = 1024 * 1024 * 1024;
/** Fixed size of a file record, by format. */
const FILE_RECORD_BYTES = { [PLAIN_FORMAT]: 128, [SPOOL_FORMAT]: 160 } as const;
export const FILE_HEAD_BYTES_MAX = 2 * FILE_RECORD_BYTES[SPOOL_FORMAT];
const EMPTY = Buffer.alloc(0);

/** Two buffers, to avoid a copy of a large body. */
export type Encoded = readonly [head: Buffer, body: Buffer];

/** The log seals it later, at its final offset. */
export function encodeRecord(type: RecordType, header: object, body: Buffer = EMPTY): Encoded {
  return encode(SEALED, type, JSON.stringify(header), body);
}

/** For records without bytes of senders, or at the beginning of a file. */
export function encodePlainRecord(type: RecordType, header: object, body: Buffer = EMPTY): Encoded {
  return encode(PLAIN, type, JSON.stringify(header), body);
}

/** The record with its content changed by `change`, which sees it in two parts. */
export function changeContent([head, body]: Encoded, change: (parts: readonly Buffer[]) => Buffer): Encoded {
  const content = change([head.subarray(SEALED.frameBytes), body]);
  const frame = Buffer.allocUnsafe(SEALED.frameBytes);
  SEALED.magic.copy(frame, 0);
  frame.writeUInt32LE(content.length, 4);
  frame.writeUInt32LE(crc32(content), CRC_AT);
  return [frame, content];
}

function encode({ magic, frameBytes }: Framing, type: RecordType, json: string, body: Buffer): Encoded {
  const jsonBytes = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(frameBytes + TYPE_BYTES + jsonBytes);
  magic.copy(head, 0);
  head.writeUInt32LE(TYPE_BYTES + jsonBytes + body.length, 4);
  head.writeUInt8(type, frameBytes);
  head.writeUInt32LE(jsonBytes, frameBytes + 1);
  head.write(json, frameBytes + TYPE_BYTES, "utf8");
  head.writeUInt32LE(crc32(body, crc32(head.subarray(frameBytes))), CRC_AT);
  return [head, body];
}

/** Writes the seal into the record's head. */
export function sealRecord([head]: Encoded, seal: Seal, offset: number): void {
  computeSeal(head, seal, offset).copy(head, SEAL_AT);
}

/** The frame before the seal has length and checksum, which protects the content too. */
function computeSeal(frame: Buffer, { salt, segment }: Seal, offset: number): Buffer {
  const bound = `${salt} ${segment} ${offset} ${frame.toString("hex", 0, SEAL_AT)}`;
  return hash("sha256", bound, "buffer").subarray(0, SEAL_BYTES);
}

/** The beginning of a sealed file. */
export function encodeFileHead(seal: Seal): readonly Buffer[] {
  const format = readKeyId(seal.salt) === null ? PLAIN_FORMAT : SPOOL_FORMAT;
  const json = JSON.stringify({ format, ...seal });
  const padded = json.padEnd(FILE_RECORD_BYTES[format] - PLAIN.frameBytes - TYPE_BYTES);
  const [head] = encode(PLAIN, RECORD.file, padded, EMPTY);
  return [head, Buffer.from(head)];
}

export function bytesOfRecord(record: Encoded): number {
  return record[0].length + record[1].length;
}

/** The record at a known place of the buffer. null: it is damaged. */
export function readRecord(file: Buffer, at: number, open: OpenContent = READABLE): SpoolRecord | null {
  const framing = framingAt(file, at);
  const bytes = framing === null ? null : lengthAt(framing, file, at);
  return framing === null || bytes === null ? null : readContent(framing, file, { at, bytes, open });
}

/** Length of the record with this frame, or null. For reading a single record. */
export function frameLength(frame: Buffer): number | null {
  const framing = framingAt(frame, 0);
  return framing === null ? null : framing.frameBytes + frame.readUInt32LE(4);
}

function framingAt(file: Buffer, at: number): Framing | null {
  const framing = [PLAIN, SEALED].find(({ magic }) => isAt(file, at, magic));
  return framing === undefined || at + framing.frameBytes > file.length ? null : framing;
}

function isAt(file: Buffer, at: number, magic: Buffer): boolean {
  return file.subarray(at, at + magic.length).equals(magic);
}

/** Length of the whole record, which may be longer than the file. null: no record has this length. */
function lengthAt({ frameBytes }: Framing, file: Buffer, at: number): number | null {
  const length = file.readUInt32LE(at + 4);
  return length < TYPE_BYTES || length > RECORD_BYTES_MAX ? null : frameBytes + length;
}

function readContent(
  { frameBytes }: Framing,
  file: Buffer,
  { at, bytes, open }: { readonly at: number; readonly bytes: number; readonly open: OpenContent },
): SpoolRecord | null {
  if (at + bytes > file.length) return null;
  const stored = file.subarray(at + frameBytes, at + bytes);
  if (crc32(stored) !== file.readUInt32LE(at + CRC_AT)) return null;
  const content = open(stored, at);
  if (content === null || content.length < TYPE_BYTES) return null;
  const headerEnd = TYPE_BYTES + content.readUInt32LE(1);
  if (headerEnd > content.length) return null;
  const header = parseHeader(content.toString("utf8", TYPE_BYTES, headerEnd));
  if (header === null) return null;
  return { offset: at, bytes, type: content[0] ?? 0, header, body: content.subarray(headerEnd) };
}

function parseHeader(text: string): SpoolRecord["header"] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as SpoolRecord["header"]) : null;
  } catch {
    return null;
  }
}

/** Reads a file in one of the framings (scan.ts). */
export interface Frames {
  readonly magic: Buffer;
  /** Length of the record at a magic; null when there is no frame of this file. */
  readonly lengthAt: (file: Buffer, at: number) => number | null;
  readonly readAt: (file: Buffer, at: number, bytes: number) => SpoolRecord | null;
}

export const PLAIN_FRAMES: Frames = {
  magic: PLAIN.magic,
  lengthAt: (file, at) => (at + PLAIN.frameBytes > file.length ? null : lengthAt(PLAIN, file, at)),
  readAt: (file, at, bytes) => readContent(PLAIN, file, { at, bytes, open: READABLE }),
};

export function sealedFrames(seal: Seal, open: OpenContent): Frames {
  return {
    magic: SEALED.magic,
    lengthAt(file, at) {
      if (at + SEALED.frameBytes > file.length) return null;
      const shown = file.subarray(at + SEAL_AT, at + SEALED.frameBytes);
      return computeSeal(file.subarray(at, at + SEAL_AT), seal, at).equals(shown) ? lengthAt(SEALED, file, at) : null;
    },
    readAt: (file, at, bytes) => readContent(SEALED, file, { at, bytes, open }),
  };
}

export interface FileHead {
  readonly format: number;
  /** Null in a file of marks, which is not sealed. */
  readonly salt: string | null;
  readonly bytes: number;
  /** One of two is damaged. */
  readonly damaged: boolean;
}

/** Null: the file does not begin with a file record: it has marks, or is damaged. */
export function readFileHead(file: Buffer): FileHead | null {
  const [first, ...copies] = [0, ...Object.values(FILE_RECORD_BYTES)].map((at) => {
    const record = isAt(file, at, PLAIN.magic) ? readRecord(file, at) : null;
    return record?.type === RECORD.file && (at === 0 || record.bytes === at) ? record : null;
  });
  const second = copies.find((copy) => copy !== null);
  const found = first ?? second;
  if (found === null || found === undefined) return null;
  const { format, salt } = found.header;
  if (typeof salt !== "string") return { format: Number(format), salt: null, bytes: found.bytes, damaged: false };
  const bytes = 2 * found.bytes;
  const damaged = file.length >= bytes && (first === null || second === undefined);
  return { format: Number(format), salt, bytes, damaged };
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
