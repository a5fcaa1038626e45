// Split of a protobuf request. Walks the headers of its fields, reads the ids of items only, and copies their bytes.
// Invariants: split.1–3 (split.ts), and
//   split-protobuf.1. Fields of a resource or a scope group that are no items go into every share that has an item of
//        the group.
import { assign, NO_TRACE } from "./assign.ts";
import { DecodeError } from "../decoded.ts";
import { ownerOfBytes } from "./owner.ts";
import { type Cursor, fieldEnd, skip, truncated, varint } from "../protobuf-reader.ts";
import type { Share, SplitRules } from "./rules.ts";

const SLICE_BYTES = 1024 * 1024;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** Fields: the only one of a request, and that of the items in a scope group. */
const GROUP_TAG = 10;
const ITEM_TAG = 18;
/** Field 1000: the predecessor of field 2 (instrumentation library spans). */
const OLD_SCOPE_TAG = 8002;

/** `ranges` is flat: start, end, start, end, … */
interface Group {
  /** Number of its first item. */
  readonly first: number;
  readonly ranges: number[];
  readonly scopes: ScopeGroup[];
}

interface ScopeGroup {
  readonly ranges: number[];
  /** Number of its first item. */
  readonly first: number;
}

interface Walk {
  readonly groups: Group[];
  /** Range of each item, flat. */
  readonly items: number[];
  readonly owners: number[];
  /** Position at which the walk yields next. */
  sliceEnd: number;
}

/** Yields between slices. @throws {DecodeError} */
export function* splitProtobuf(body: Buffer, rules: SplitRules): Generator<undefined, Share[]> {
  const walk: Walk = { groups: [], items: [], owners: [], sliceEnd: SLICE_BYTES };
  const c: Cursor = { b: body, pos: 0, values: 0, repairedTexts: 0 };
  while (c.pos < body.length) {
    const tag = varint(c);
    if (tag < 8) throw new DecodeError("the body is not a protobuf message");
    if (tag !== GROUP_TAG) {
      skip(c, tag, body.length);
      continue;
    }
    const group: Group = { first: walk.owners.length, ranges: [], scopes: [] };
    walk.groups.push(group);
    const end = fieldEnd(c, body.length);
    while (c.pos < end) {
      const start = c.pos;
      const inner = varint(c);
      if (inner !== ITEM_TAG && inner !== OLD_SCOPE_TAG) {
        skip(c, inner, end);
        group.ranges.push(start, c.pos);
      } else group.scopes.push(yield* walkScope(c, fieldEnd(c, end), walk, rules));
      if (c.pos > end) throw truncated();
    }
  }
  const shares: Share[] = [];
  for (const [worker, indexes] of assign(walk.owners, rules).entries()) {
    if (indexes === null) continue;
    const isWhole = indexes.length === walk.owners.length;
    const bytes = isWhole ? copyOf(body) : shareBytes(body, walk, indexes);
    shares.push({ worker, bytes, indexes: Uint32Array.from(indexes) });
    if (body.length > SLICE_BYTES) yield;
  }
  return shares;
}

function* walkScope(
  c: Cursor,
  end: number,
  walk: Walk,
  { signal, workers }: SplitRules,
): Generator<undefined, ScopeGroup> {
  const scope: ScopeGroup = { ranges: [], first: walk.owners.length };
  const ownerOf = signal === "traces" ? ownerOfSpan : ownerOfRecord;
  while (c.pos < end) {
    const start = c.pos;
    const tag = varint(c);
    if (tag === ITEM_TAG) {
      const itemEnd = fieldEnd(c, end);
      walk.owners.push(ownerOf(c, itemEnd, workers));
      walk.items.push(start, itemEnd);
      c.pos = itemEnd;
    } else {
      skip(c, tag, end);
      scope.ranges.push(start, c.pos);
    }
    if (c.pos < walk.sliceEnd) continue;
    walk.sliceEnd = c.pos + SLICE_BYTES;
    yield;
  }
  if (c.pos !== end) throw truncated();
  return scope;
}

/** Senders write the trace id first: the rest of the span is not read. */
function ownerOfSpan(c: Cursor, end: number, workers: number): number {
  while (c.pos < end) {
    const tag = varint(c);
    if (tag !== 10) skip(c, tag, end);
    else return fieldEnd(c, end) - c.pos === TRACE_ID_BYTES ? ownerOfBytes(c.b, c.pos, workers) : NO_TRACE;
  }
  return NO_TRACE;
}

/** A record has a trace only with both ids (protobuf-log-record.1). */
function ownerOfRecord(c: Cursor, end: number, workers: number): number {
  let owner = NO_TRACE;
  let hasSpan = false;
  while (c.pos < end) {
    const tag = varint(c);
    if (tag !== 74 && tag !== 82) {
      skip(c, tag, end);
      continue;
    }
    const idEnd = fieldEnd(c, end);
    const bytes = idEnd - c.pos;
    if (tag === 74) owner = bytes === TRACE_ID_BYTES ? ownerOfBytes(c.b, c.pos, workers) : NO_TRACE;
    else hasSpan = bytes === SPAN_ID_BYTES && !c.b.subarray(c.pos, idEnd).equals(NO_SPAN);
    c.pos = idEnd;
  }
  return hasSpan ? owner : NO_TRACE;
}

const NO_SPAN = Buffer.alloc(SPAN_ID_BYTES);

/** The parts of one share, sizes first: a length precedes its content. */
function shareBytes(body: Buffer, { groups, items }: Walk, indexes: readonly number[]): Buffer {
  const parts: { readonly group: Group; bytes: number; readonly scopes: ScopePart[] }[] = [];
  let total = 0;
  let at = 0;
  for (const [number, group] of groups.entries()) {
    const end = groups[number + 1]?.first ?? Infinity;
    if (!((indexes[at] ?? Infinity) < end)) continue;
    const part = { group, bytes: lengthOf(group.ranges), scopes: [] as ScopePart[] };
    for (const [inner, scope] of group.scopes.entries()) {
      const scopeEnd = group.scopes[inner + 1]?.first ?? end;
      const own: number[] = [];
      for (let index = indexes[at]; index !== undefined && index < scopeEnd; index = indexes[++at])
        addRange(own, items[2 * index] ?? 0, items[2 * index + 1] ?? 0);
      if (own.length === 0) continue;
      const bytes = lengthOf(scope.ranges) + lengthOf(own);
      part.scopes.push({ scope, own, bytes });
      part.bytes += 1 + varintBytes(bytes) + bytes;
    }
    parts.push(part);
    total += 1 + varintBytes(part.bytes) + part.bytes;
  }
  const out = Buffer.allocUnsafeSlow(total);
  let to = 0;
  for (const { group, bytes, scopes } of parts) {
    to = writeHeader(out, to, GROUP_TAG, bytes);
    to = copyRanges(body, group.ranges, out, to);
    for (const part of scopes) {
      to = writeHeader(out, to, ITEM_TAG, part.bytes);
      to = copyRanges(body, part.scope.ranges, out, to); // split-protobuf.1
      to = copyRanges(body, part.own, out, to);
    }
  }
  return out;
}

interface ScopePart {
  readonly scope: ScopeGroup;
  readonly own: readonly number[];
  readonly bytes: number;
}

/** Neighbours become one range, copied at once. */
function addRange(ranges: number[], start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end;
  else ranges.push(start, end);
}

function lengthOf(ranges: readonly number[]): number {
  let bytes = 0;
  for (let at = 0; at < ranges.length; at += 2) bytes += (ranges[at + 1] ?? 0) - (ranges[at] ?? 0);
  return bytes;
}

function copyRanges(from: Buffer, ranges: readonly number[], out: Buffer, to: number): number {
  let at = to;
  for (let next = 0; next < ranges.length; next += 2) at += from.copy(out, at, ranges[next], ranges[next + 1]);
  return at;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let left = value; left >= 128; left = Math.floor(left / 128)) bytes++;
  return bytes;
}

function writeHeader(out: Buffer, to: number, tag: number, bytes: number): number {
  let at = to;
  out[at++] = tag;
  let left = bytes;
  for (; left >= 128; left = Math.floor(left / 128)) out[at++] = (left % 128) | 128;
  out[at++] = left;
  return at;
}

function copyOf(body: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.length);
  body.copy(copy);
  return copy;
}
