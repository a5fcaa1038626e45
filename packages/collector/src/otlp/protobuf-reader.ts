// Wire: the protobuf primitives that the OTLP reader needs, on a cursor over the body.
// Invariants:
//   - The reader stays inside the current message; a field that overruns its message refuses the request.
//   - The reader skips unknown fields and unexpected wire types, as the encoding requires, and refuses groups.
import { isUtf8 } from "node:buffer";
import { DecodeError } from "./decoded.ts";
import { type UnixNano, unixNanoOfHalves } from "./span.ts";

export interface Cursor {
  readonly b: Buffer;
  pos: number;
  /** Remaining number of values. */
  values: number;
  repairedTexts: number;
  /** Known fields that had another wire type than theirs: the item with them counts as rejected. */
  misfits: number;
}

const KEY_CACHE_MAX = 4_096;
const KEY_CACHED_BYTES_MAX = 96;
const SHORT_TEXT_BYTES = 20;
const TAG_MAX = 4_294_967_295;

/** Attribute keys repeat from span to span: a cache by the hash of their bytes saves most of the decoding. */
const keyCache = new Map<number, string>();

export function truncated(): DecodeError {
  return new DecodeError("the protobuf message is cut off or malformed");
}

export function varint(c: Cursor): number {
  let byte = c.b[c.pos++];
  if (byte === undefined) throw truncated();
  if (byte < 128) return byte;
  let value = byte & 127;
  for (let factor = 128; factor <= 562_949_953_421_312; factor *= 128) {
    byte = c.b[c.pos++];
    if (byte === undefined) throw truncated();
    value += (byte & 127) * factor;
    if (byte < 128) return value;
  }
  // Drops the upper bits of a 64-bit varint: callers read tags, lengths, enums and counts.
  for (let more = 0; more < 2; more++) {
    byte = c.b[c.pos++];
    if (byte === undefined) throw truncated();
    if (byte < 128) return Number.MAX_SAFE_INTEGER;
  }
  throw new DecodeError("a number takes more than ten bytes");
}

/** Length of a nested field → its end, inside `limit`. */
export function fieldEnd(c: Cursor, limit: number): number {
  const length = varint(c);
  const end = length + c.pos;
  if (end > limit) throw truncated();
  return end;
}

/** The numbers of fields that a message reads, for `skip`: a bit each. */
export function fieldNumbers(...numbers: readonly number[]): number {
  return numbers.reduce((bits, number) => bits | (1 << number), 0);
}

/**
 * Skips a field. An impossible field number means that these bytes are not OTLP. A field with a number of `known` is a
 * misfit.
 */
export function skip(c: Cursor, tag: number, limit: number, known = 0): void {
  if (tag < 8 || tag > TAG_MAX) throw truncated();
  if (tag < 256 && ((known >>> (tag >>> 3)) & 1) === 1) c.misfits++;
  const wire = tag & 7;
  if (wire === 0) varint(c);
  else if (wire === 1) c.pos += 8;
  else if (wire === 2) c.pos = fieldEnd(c, limit);
  else if (wire === 5) c.pos += 4;
  else throw new DecodeError(`wire type ${wire} is not supported`);
  if (c.pos > limit) throw truncated();
}

export function text(c: Cursor, limit: number): string {
  const end = fieldEnd(c, limit);
  const start = c.pos;
  c.pos = end;
  if (end - start <= SHORT_TEXT_BYTES) {
    const short = shortAscii(c.b, start, end);
    if (short !== null) return short;
  }
  const value = c.b.toString("utf8", start, end);
  // A one-byte string cannot hold U+FFFD, so this costs nothing for most texts.
  if (value.includes("\ufffd") && !isUtf8(c.b.subarray(start, end))) c.repairedTexts++;
  return value;
}

/** Joins short ASCII text, faster than a call into the runtime; null for anything else. */
function shortAscii(b: Buffer, start: number, end: number): string | null {
  let value = "";
  for (let at = start; at < end; at++) {
    const byte = b[at] ?? 128;
    if (byte > 127) return null;
    value += String.fromCharCode(byte);
  }
  return value;
}

export function key(c: Cursor, limit: number): string {
  const end = fieldEnd(c, limit);
  const { b, pos: start } = c;
  const length = end - start;
  c.pos = end;
  if (length > KEY_CACHED_BYTES_MAX) return b.toString("utf8", start, end);
  let hash = length;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (b[at] ?? 0)) | 0;
  const cached = keyCache.get(hash);
  if (cached !== undefined && cached.length === length) {
    let same = 0;
    while (same < length && cached.charCodeAt(same) === b[start + same]) same++;
    if (same === length) return cached;
  }
  const value = b.toString("utf8", start, end);
  if (keyCache.size < KEY_CACHE_MAX) keyCache.set(hash, value);
  return value;
}

export function fixed64(c: Cursor, limit: number): UnixNano {
  if (c.pos + 8 > limit) throw truncated();
  const low = c.b.readUInt32LE(c.pos);
  const high = c.b.readUInt32LE(c.pos + 4);
  c.pos += 8;
  return unixNanoOfHalves(high, low);
}

export function fixed32(c: Cursor, limit: number): number {
  if (c.pos + 4 > limit) throw truncated();
  const value = c.b.readUInt32LE(c.pos);
  c.pos += 4;
  return value;
}

export function double(c: Cursor, limit: number): number {
  if (c.pos + 8 > limit) throw truncated();
  const value = c.b.readDoubleLE(c.pos);
  c.pos += 8;
  return value;
}

/** Id bytes → lower-case hex; "" for more bytes than an id can have. */
export function hexId(c: Cursor, limit: number): string {
  const end = fieldEnd(c, limit);
  const value = end - c.pos > 16 ? "" : c.b.toString("hex", c.pos, end);
  c.pos = end;
  return value;
}

/** An int64 is a number while that is exact, else a bigint. */
export function int64(c: Cursor): number | bigint {
  const start = c.pos;
  let end = start;
  while ((c.b[end] ?? 0) > 127) end++;
  end++;
  if (end > c.b.length) throw truncated();
  if (end - start > 10) throw new DecodeError("a number takes more than ten bytes");
  if (end - start <= 7) return varint(c);
  c.pos = end;
  let value = 0n;
  for (let at = start; at < end; at++) value |= BigInt((c.b[at] ?? 0) & 127) << BigInt(7 * (at - start));
  const signed = BigInt.asIntN(64, value);
  const short = Number(signed);
  return Number.isSafeInteger(short) ? short : signed;
}

/** @throws {DecodeError} when the body holds more values than its length allows. */
export function spendValue(c: Cursor): void {
  if (--c.values < 0) throw new DecodeError("the request holds too many values for its size");
}
