// Redact protobuf: rewrites the bytes of an OTLP request. Fields without a finding are copied, so that nothing is lost of
// fields that this version does not know.
// Invariants:
//   redact-protobuf.1. A message without a candidate is not read.
//   redact-protobuf.2. An unknown field with a candidate goes: its content is unknown.
//   redact-protobuf.3. Between two slices of SLICE_BYTES the caller may yield to other requests.
import { varintBytes } from "../otlp/varint.ts";
import { type Cursor, fieldEnd, skip, truncated, varint } from "../otlp/protobuf-reader.ts";
import type { Candidates } from "./candidates.ts";
import type { Message, MessageField } from "./otlp-messages.ts";
import { type Change, changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";

const SLICE_BYTES = 128 * 1024;
/** Envelopes down to the items may yield; an item is one step. */
const ENVELOPE_DEPTH = 3;
const DEPTH_MAX = 130;
const REMOVED = Buffer.alloc(0);

interface Rewriting {
  readonly b: Buffer;
  readonly candidates: Candidates;
  readonly redacting: Redacting;
  /** Position at which the next slice begins. */
  sliceEnd: number;
}

/** A range of bytes. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the new bytes, or null when nothing changes. @throws {DecodeError} */
export function* redactProtobuf(
  b: Buffer,
  message: Message,
  candidates: Candidates,
  redacting: Redacting,
): Generator<undefined, Buffer | null> {
  const rewriting: Rewriting = { b, candidates, redacting, sliceEnd: SLICE_BYTES };
  return yield* rewriteEnvelope(rewriting, { start: 0, end: b.length }, message, 0);
}

/** As rewriteMessage, with pauses. */
function* rewriteEnvelope(
  rewriting: Rewriting,
  range: Range,
  message: Message,
  depth: number,
): Generator<undefined, Buffer | null> {
  const output = outputOf(rewriting.b, range);
  for (const one of fieldsOf(rewriting.b, range)) {
    const field = message.byNumber.get(one.number);
    if (!rewriting.candidates.within(one.start, one.end)) continue; // redact-protobuf.1
    if (depth < ENVELOPE_DEPTH && field?.kind === "message" && one.isBytes)
      output.put(one, yield* rewriteEnvelope(rewriting, one.content, field.message, depth + 1));
    else output.put(one, rewriteField(rewriting, one, field));
    if (one.end < rewriting.sliceEnd) continue;
    rewriting.sliceEnd = one.end + SLICE_BYTES;
    yield; // redact-protobuf.3
  }
  return output.bytes();
}

function rewriteMessage(rewriting: Rewriting, range: Range, message: Message): Buffer | null {
  const output = outputOf(rewriting.b, range);
  for (const one of fieldsOf(rewriting.b, range))
    if (rewriting.candidates.within(one.start, one.end))
      output.put(one, rewriteField(rewriting, one, message.byNumber.get(one.number)));
  return output.bytes();
}

/** REMOVED: the field goes. null: unchanged. */
function rewriteField(rewriting: Rewriting, one: Field, field: MessageField | undefined): Buffer | null {
  if (field === undefined) return REMOVED; // redact-protobuf.2
  if (field.kind === "keep" || !one.isBytes) return null;
  if (field.kind === "message") return rewriteMessage(rewriting, one.content, field.message);
  if (field.kind === "attributes") return rewriteKeyValue(rewriting, one.content, { part: field.part, path: [] }, 0);
  if (field.kind === "value") return rewriteWholeValue(rewriting, one.content, field, 0);
  const text = textOf(rewriting.b, one.content);
  const rule = wholeRule(rewriting.redacting, field);
  const change =
    rule === null ? changeText(rewriting.redacting, field, text) : changeWhole(rewriting.redacting, rule, field, text);
  return change === null ? null : change.kind === "drop" ? REMOVED : Buffer.from(change.text);
}

/** One attribute, or one entry of a map. */
function rewriteKeyValue(rewriting: Rewriting, range: Range, above: Place, depth: number): Buffer | null {
  const { b, redacting } = rewriting;
  const fields = [...fieldsOf(b, range)];
  const keyField = fields.findLast(({ isBytes, number }) => number === 1 && isBytes);
  const key = keyField === undefined ? "" : textOf(b, keyField.content);
  const place: Place = { part: above.part, path: [...above.path, key] };
  const output = outputOf(b, range);
  for (const one of fields) {
    if (one.number === 2 && one.isBytes) {
      const changed = rewriteWholeValue(rewriting, one.content, place, depth);
      if (changed === REMOVED) return REMOVED;
      output.put(one, changed);
    } else if (one === keyField) {
      const change = changeText(redacting, { part: above.part, path: above.path }, key);
      if (change?.kind === "drop") return REMOVED;
      output.put(one, change === null ? null : Buffer.from(change.text));
    } else if (one.number > 2 && rewriting.candidates.within(one.start, one.end)) output.put(one, REMOVED);
  }
  return output.bytes();
}

function rewriteWholeValue(rewriting: Rewriting, range: Range, place: Place, depth: number): Buffer | null {
  const { b, redacting } = rewriting;
  const rule = wholeRule(redacting, place);
  if (rule !== null) {
    const text = rule.action === "hash" ? b.toString("utf8", contentStart(b, range), range.end) : "";
    return valueOf(changeWhole(redacting, rule, place, text));
  }
  return rewriteValue(rewriting, range, place, depth);
}

/** Of a text: without its tag and length, so that equal texts have equal hashes in both encodings. */
function contentStart(b: Buffer, range: Range): number {
  for (const { content, isBytes, number } of fieldsOf(b, range)) if (number === 1 && isBytes) return content.start;
  return range.start;
}

const STRING = 1;
const INT = 3;
const ARRAY = 5;
const MAP = 6;
const BYTES = 7;

/** AnyValue. */
function rewriteValue(rewriting: Rewriting, range: Range, place: Place, depth: number): Buffer | null {
  const { b, candidates, redacting } = rewriting;
  if (depth > DEPTH_MAX) throw truncated();
  const output = outputOf(b, range);
  let entry = 0;
  for (const one of fieldsOf(b, range)) {
    if (one.number === INT && !one.isBytes) {
      const change = changeText(redacting, place, String(int64At(b, one)));
      if (change !== null) return valueOf(change);
    } else if (!one.isBytes || one.number === BYTES) continue;
    else if (one.number === STRING) {
      const change = candidates.within(one.start, one.end)
        ? changeText(redacting, place, textOf(b, one.content))
        : changeDeeper(rewriting, one.content, place);
      if (change !== null) return valueOf(change);
    } else if (one.number === ARRAY || one.number === MAP) {
      const inner = outputOf(b, one.content);
      for (const item of fieldsOf(b, one.content)) {
        const index = String(entry++);
        if (!item.isBytes || item.number !== 1) continue;
        if (one.number === MAP) inner.put(item, rewriteKeyValue(rewriting, item.content, place, depth + 1));
        else {
          const at: Place = { part: place.part, path: [...place.path, index] };
          const changed = rewriteWholeValue(rewriting, item.content, at, depth + 1);
          inner.put(item, changed === REMOVED ? EMPTY_VALUE : changed);
        }
      }
      output.put(one, inner.bytes());
    } else if (one.number > BYTES && candidates.within(one.start, one.end)) output.put(one, REMOVED);
  }
  return output.bytes();
}

/** A key made this attribute a candidate; its text has none, but may hold members that a path names. */
function changeDeeper(rewriting: Rewriting, content: Range, place: Place): Change {
  const first = rewriting.b[content.start];
  const mayBeJson = first === 0x7b || first === 0x5b;
  return mayBeJson ? changeText(rewriting.redacting, place, textOf(rewriting.b, content)) : null;
}

/** An element that goes leaves an empty value: the positions of the others stay. */
const EMPTY_VALUE = Buffer.alloc(0, 0);

function valueOf(change: Change): Buffer | null {
  if (change === null) return null;
  if (change.kind === "drop") return REMOVED;
  const text = Buffer.from(change.text);
  return Buffer.concat([Buffer.from([0x0a]), varintBytes(text.length), text]);
}

function textOf(b: Buffer, { end, start }: Range): string {
  return b.toString("utf8", start, end);
}

function int64At(b: Buffer, { content }: Field): bigint {
  let value = 0n;
  for (let at = content.start, shift = 0n; at < content.end; at++, shift += 7n)
    value |= BigInt((b[at] ?? 0) & 127) << shift;
  return BigInt.asIntN(64, value);
}

interface Field extends Range {
  readonly number: number;
  /** Wire type 2. */
  readonly isBytes: boolean;
  /** Without tag and length. */
  readonly content: Range;
}

/** @throws {DecodeError} */
function* fieldsOf(b: Buffer, { end, start }: Range): Generator<Field, undefined> {
  const c: Cursor = { b, pos: start, values: 0, repairedTexts: 0 };
  while (c.pos < end) {
    const at = c.pos;
    const tag = varint(c);
    const isBytes = (tag & 7) === 2 && tag >= 8;
    let from = c.pos;
    if (isBytes) {
      const to = fieldEnd(c, end);
      from = c.pos;
      c.pos = to;
    } else skip(c, tag, end);
    if (c.pos > end) throw truncated();
    yield { number: Math.floor(tag / 8), isBytes, start: at, end: c.pos, content: { start: from, end: c.pos } };
  }
}

interface Output {
  /** Puts new content into the place of a field. null: it stays. */
  readonly put: (field: Field, content: Buffer | null) => void;
  /** null: nothing changed. */
  readonly bytes: () => Buffer | null;
}

function outputOf(b: Buffer, { end, start }: Range): Output {
  const parts: Buffer[] = [];
  let copied = start;
  return {
    put(field, content) {
      if (content === null) return;
      parts.push(b.subarray(copied, field.start));
      if (content !== REMOVED) parts.push(varintBytes(field.number * 8 + 2), varintBytes(content.length), content);
      copied = field.end;
    },
    bytes() {
      if (copied === start) return null;
      parts.push(b.subarray(copied, end));
      return Buffer.concat(parts);
    },
  };
}
