// Scan: one pass over the bytes of a JSON request before JSON.parse, which accepts a million nested arrays, blocks the
// event loop in proportion to the body, and rounds bare integers. The scan refuses excessive depth and width, finds the
// range of each item (the reader parses one span or log record at a time and yields in between), and finds bare
// integers of 16 digits and more (the reader quotes them to keep every digit). It does not check syntax: JSON.parse
// reads every byte afterwards, in an item or in the skeleton. Invariants:
//   - skeleton ∪ items = body: JSON.parse reads every byte.
//   - Nothing nests deeper than JSON_DEPTH_MAX; the body's length bounds the containers.
import { randomUUID } from "node:crypto";
import { DecodeError, DEPTH_MAX, type Signal, valuesMax } from "./decoded.ts";

export interface JsonScan {
  /** The body without the elements of the arrays of items: each of these holds only the mark of its group. */
  readonly skeleton: string;
  readonly groups: readonly (readonly ByteRange[])[];
  /** Text of one range. */
  readonly decodeText: (range: ByteRange) => string;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An attribute's value sits ten levels deep in a request; each level of an OTLP value takes three of JSON. */
export const JSON_DEPTH_MAX = 16 + 3 * DEPTH_MAX;
/** `{resourceSpans: [{scopeSpans: [{spans: […`, and the same for log records. */
const ITEMS_DEPTH = 6;
const SLICE_BYTES = 256 * 1024;
export const LONG_INTEGER_DIGITS = 16;
/** The scan skips strings up to this length byte by byte, longer ones with a native search. */
const SHORT_STRING_BYTES = 48;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ITEM_KEYS: Readonly<Record<Signal | "metrics", readonly Buffer[]>> = {
  traces: [Buffer.from("spans")],
  logs: [Buffer.from("logRecords"), Buffer.from("log_records")],
  metrics: [Buffer.from("metrics")],
};

/** No sender knows it, so nothing that one writes passes for a mark. */
const MARK = `group ${randomUUID()} `;
const QUOTED_MARK = new RegExp(`"${MARK}(\\d+)"`, "g");

/** The number of the group; null: no mark. */
export function groupOfMark(value: unknown): number | null {
  return isGroupMark(value) ? Number(value.slice(MARK.length)) : null;
}

export function isGroupMark(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(MARK);
}

/** The skeleton with the texts of the items in the places of the marks. */
export function withGroups(skeleton: string, items: readonly (readonly string[])[]): string {
  return skeleton.replaceAll(QUOTED_MARK, (_, group: string) => (items[Number(group)] ?? []).join(","));
}

/** `longIntegers`: quoted in all texts, or as they are. Yields between slices. @throws {DecodeError} */
export function* scanJson(
  b: Buffer,
  signal: Signal | "metrics",
  longIntegers: "quoted" | "as it is" = "quoted",
): Generator<undefined, JsonScan> {
  const itemKeys = ITEM_KEYS[signal];
  let containers = valuesMax(b.length);
  let depth = 0;
  /** Bit n: the container at depth n + 1 is an array. Only the first few matter. */
  let arrays = 0;
  let keyStart = 0;
  let keyEnd = 0;
  let elementStart = -1;
  const groups: ByteRange[][] = [];
  let group: ByteRange[] = [];
  const quoted: ByteRange[] = [];
  const pieces: string[] = [];
  let pieceStart = 0;
  let sliceEnd = SLICE_BYTES;
  const decodeText = (range: ByteRange): string => textWithQuotes(b, range, quoted);
  const length = b.length;
  for (let at = 0; at < length; at++) {
    const byte = b[at] ?? 0;
    if (byte === QUOTE) {
      const end = stringEnd(b, at);
      if (depth === ITEMS_DEPTH - 1) {
        keyStart = at + 1;
        keyEnd = end;
      }
      at = end;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > JSON_DEPTH_MAX) throw new DecodeError(`values are nested more than ${DEPTH_MAX} deep`);
      if (--containers < 0) throw new DecodeError("the request holds too many values for its size");
      if (depth <= ITEMS_DEPTH) {
        if (byte === 0x5b) arrays |= 1 << depth;
        else arrays &= ~(1 << depth);
        if (depth === ITEMS_DEPTH && arrays === ITEMS_PATH && isItemKey(b, keyStart, keyEnd, itemKeys)) {
          group = [];
          pieces.push(decodeText({ start: pieceStart, end: at + 1 }), `"${MARK}${groups.length}"`);
          groups.push(group);
          elementStart = at + 1;
        }
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      if (depth === ITEMS_DEPTH && elementStart >= 0) {
        closeGroup(b, group, elementStart, at);
        elementStart = -1;
        pieceStart = at;
      }
      depth--;
    } else if (byte === 0x2c) {
      if (depth === ITEMS_DEPTH && elementStart >= 0) {
        group.push({ start: elementStart, end: at });
        elementStart = at + 1;
      }
    } else if (byte >= 0x30 && byte <= 0x39) {
      const end = numberEnd(b, at);
      if (longIntegers === "quoted" && end - at >= LONG_INTEGER_DIGITS && isWhole(b, at, end))
        quoted.push({ start: b[at - 1] === 0x2d ? at - 1 : at, end });
      at = end - 1;
    }
    if (at >= sliceEnd) {
      sliceEnd = at + SLICE_BYTES;
      yield;
    }
  }
  if (elementStart >= 0) throw new DecodeError("the JSON ends inside a list of items");
  pieces.push(decodeText({ start: pieceStart, end: length }));
  return { skeleton: pieces.join(""), groups, decodeText };
}

/** Depths 2, 4 and 6 are arrays, 1, 3 and 5 are objects. */
const ITEMS_PATH = (1 << 2) | (1 << 4) | (1 << 6);

function isItemKey(b: Buffer, start: number, end: number, keys: readonly Buffer[]): boolean {
  return keys.some((key) => end - start === key.length && b.compare(key, 0, key.length, start, end) === 0);
}

/**
 * The last element runs to the bracket. `[]` has none; `[{},]` has an empty one, which JSON.parse then refuses.
 */
function closeGroup(b: Buffer, group: ByteRange[], start: number, end: number): void {
  if (group.length === 0 && b.toString("latin1", start, end).trim() === "") return;
  group.push({ start, end });
}

/** Position of the closing quote of the string that opens at `open`; the end of the body when there is none. */
function stringEnd(b: Buffer, open: number): number {
  const shortEnd = Math.min(b.length, open + SHORT_STRING_BYTES);
  for (let at = open + 1; at < shortEnd; at++) {
    const byte = b[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  let from = open + 1;
  for (;;) {
    const end = b.indexOf(QUOTE, from);
    if (end < 0) return b.length;
    let slashes = 0;
    while (end - slashes - 1 > open && b[end - slashes - 1] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    from = end + 1;
  }
}

function numberEnd(b: Buffer, start: number): number {
  let end = start;
  for (;;) {
    const byte = b[end] ?? 0;
    const isPart =
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2e ||
      byte === 0x65 ||
      byte === 0x45 ||
      byte === 0x2b ||
      byte === 0x2d;
    if (!isPart) return end;
    end++;
  }
}

function isWhole(b: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((b[at] ?? 0) < 0x30 || (b[at] ?? 0) > 0x39) return false;
  return true;
}

function textWithQuotes(b: Buffer, range: ByteRange, longIntegers: readonly ByteRange[]): string {
  let first = lowerBound(longIntegers, range.start);
  let one = longIntegers[first];
  if (one === undefined || one.end > range.end) return b.toString("utf8", range.start, range.end);
  let text = "";
  let from = range.start;
  for (; one !== undefined && one.end <= range.end; one = longIntegers[++first]) {
    text += `${b.toString("utf8", from, one.start)}"${b.toString("latin1", one.start, one.end)}"`;
    from = one.end;
  }
  return text + b.toString("utf8", from, range.end);
}

function lowerBound(ranges: readonly ByteRange[], start: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
