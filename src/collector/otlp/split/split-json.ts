// Split of a JSON request. One pass finds the range of each item (json-scan.ts); of an item, only its ids are read.
// Invariants: split.1–3 (split.ts), and
//   split-json.1. Bytes outside the items are in every share, so that a fault in them refuses the whole request.
//   split-json.2. A request with an item in an unusual place, which the scan does not find, has one share.
import { isUtf8 } from "node:buffer";
import { DecodeError } from "../decoded.ts";
import { assign, NO_TRACE } from "./assign.ts";
import { readSpanId, readTraceId } from "../json-ids.ts";
import { type ByteRange, type JsonScan, scanJson } from "../json-scan.ts";
import { groupsInOrder, NOT_UTF8 } from "../json.ts";
import { ownerOfHex } from "./owner.ts";
import type { Share, SplitRules } from "./rules.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = Buffer.from(",");

/** Yields between slices. @throws {DecodeError} */
export function* splitJson(body: Buffer, rules: SplitRules): Generator<undefined, Share[]> {
  if (!isUtf8(body)) throw new DecodeError(NOT_UTF8);
  const scan = yield* scanJson(body, rules.signal);
  const order = groupsInOrder(scan, rules.signal);
  const ranges: ByteRange[] = [];
  for (const group of order ?? []) ranges.push(...(scan.groups[group] ?? []));
  const owners = ranges.map((range) => ownerOfItem(body, range, rules));
  if (order === null) return [whole(body, rules)]; // split-json.2
  const shares: Share[] = [];
  for (const [worker, indexes] of assign(owners, rules).entries()) {
    if (indexes === null) continue;
    const own = new Set(indexes.map((index) => ranges[index]));
    const isWhole = indexes.length === owners.length;
    const bytes = isWhole ? Buffer.concat([body]) : shareBytes(body, scan, own);
    shares.push({ worker, bytes: owning(bytes), indexes: Uint32Array.from(indexes) });
    yield;
  }
  return shares;
}

/** `indexes` is empty: the reader numbers the items itself. */
function whole(body: Buffer, { tenantOwner }: SplitRules): Share {
  return { worker: tenantOwner, bytes: owning(Buffer.concat([body])), indexes: new Uint32Array(0) };
}

function shareBytes(body: Buffer, scan: JsonScan, own: ReadonlySet<ByteRange | undefined>): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const group of scan.groups) {
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) continue;
    pieces.push(body.subarray(from, first.start));
    let isFirst = true;
    for (const range of group) {
      if (!own.has(range)) continue;
      if (!isFirst) pieces.push(COMMA);
      pieces.push(body.subarray(range.start, range.end));
      isFirst = false;
    }
    from = last.end;
  }
  pieces.push(body.subarray(from));
  return Buffer.concat(pieces);
}

function owning(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function ownerOfItem(b: Buffer, range: ByteRange, { signal, workers }: SplitRules): number {
  const ids = idsOf(b, range, signal === "logs");
  const traceId = readTraceId(ids.trace);
  if (traceId === "" || (signal === "logs" && readSpanId(ids.span) === "")) return NO_TRACE;
  return ownerOfHex(traceId, workers);
}

interface Ids {
  trace: unknown;
  span: unknown;
}

/** The members of the item itself, not of its links or attributes: those are deeper. */
function idsOf(b: Buffer, { start, end }: ByteRange, withSpan: boolean): Ids {
  const ids: Ids = { trace: undefined, span: undefined };
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = b[at];
    if (byte === QUOTE) {
      const close = closingQuote(b, at, end);
      const name = depth === 1 ? idNameOf(b, at + 1, close) : null;
      if (name !== null) {
        const value = valueAfter(b, close + 1, end);
        if (value !== undefined) ids[name] ??= value;
        if (ids.trace !== undefined && (!withSpan || ids.span !== undefined)) return ids;
      }
      at = close;
    } else if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return ids;
}

const NAMES: readonly (readonly [text: Buffer, name: keyof Ids])[] = [
  [Buffer.from("traceId"), "trace"],
  [Buffer.from("trace_id"), "trace"],
  [Buffer.from("spanId"), "span"],
  [Buffer.from("span_id"), "span"],
];

function idNameOf(b: Buffer, start: number, end: number): keyof Ids | null {
  for (const [text, name] of NAMES)
    if (text.length === end - start && b.compare(text, 0, text.length, start, end) === 0) return name;
  return null;
}

function closingQuote(b: Buffer, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    if (b[at] === BACKSLASH) at++;
    else if (b[at] === QUOTE) return at;
  }
  return end;
}

/** The member's value; undefined when this string is no key. */
function valueAfter(b: Buffer, from: number, end: number): unknown {
  let at = from;
  while (isSpace(b[at])) at++;
  if (b[at] !== 0x3a) return undefined;
  at++;
  while (isSpace(b[at])) at++;
  const stop = b[at] === QUOTE ? closingQuote(b, at, end) + 1 : endOfBytes(b, at, end);
  try {
    return JSON.parse(b.toString("utf8", at, stop)) as unknown;
  } catch {
    return undefined;
  }
}

/** `[171, …]` and `{"type": "Buffer", "data": […]}`: ids as byte arrays hold no brackets in strings. */
function endOfBytes(b: Buffer, from: number, end: number): number {
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = b[at];
    if (byte === 0x7b || byte === 0x5b) depth++;
    if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
    if (depth === 0 && byte === 0x2c) return at;
  }
  return end;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
