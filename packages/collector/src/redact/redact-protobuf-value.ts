// Redact protobuf value: changes one attribute or one value of an OTLP request in protobuf (redact-protobuf.ts).
// Invariants:
//   - A field of another number, and bytes in the place of a number, go when a rule finds something in them.
//   - Of the keys of one attribute, the last counts; the others go.
import { DecodeError } from "../otlp/decoded.ts";
import { truncated } from "../otlp/protobuf-reader.ts";
import { varintBytes } from "../otlp/varint.ts";
import { type Change, changeText, changeWhole, type Redacting } from "./redact-value.ts";
import { findPlace, type Place, placeBelow, type PlaceName } from "./rules-at.ts";
import { type Field, listFields, createOutput, type Range, REMOVED, decodeText } from "./protobuf-fields.ts";

const DEPTH_MAX = 130;

export interface Rewriting {
  readonly b: Buffer;
  readonly redacting: Redacting;
}

/** One attribute, or one entry of a map. */
export function rewriteKeyValue(rewriting: Rewriting, range: Range, above: Place, depth: number): Buffer | null {
  const { b, redacting } = rewriting;
  const fields = [...listFields(b, range)];
  const keyField = fields.findLast(({ isBytes, number }) => number === 1 && isBytes);
  const key = keyField === undefined ? "" : decodeText(b, keyField.content);
  const place = placeBelow(redacting.places, above, key);
  const output = createOutput(b, range);
  for (const one of fields) {
    if (one.number === 2 && one.isBytes) {
      const changed = rewriteWholeValue(rewriting, one.content, place, depth);
      if (changed === REMOVED) return REMOVED;
      output.put(one, changed);
    } else if (one === keyField) {
      const change = changeText(redacting, above, key);
      if (change?.kind === "drop") return REMOVED;
      output.put(one, change === null ? null : Buffer.from(change.text));
    } else if (one.number === 1 && one.isBytes) output.put(one, REMOVED);
    else if ((one.number !== 1 || one.isBytes) && hasFinding(rewriting, one)) output.put(one, REMOVED);
  }
  return output.bytes();
}

/** AnyValue, or what the rule for the whole of it leaves. */
export function rewriteWholeValue(rewriting: Rewriting, range: Range, place: Place, depth: number): Buffer | null {
  const { b, redacting } = rewriting;
  const rule = place.whole;
  if (rule !== null) {
    const text = rule.action === "hash" ? b.toString("utf8", contentStart(b, range), range.end) : "";
    return encodeValue(changeWhole(redacting, rule, place, text));
  }
  return rewriteValue(rewriting, range, place, depth);
}

/** Start of a text: without its tag and length, so that equal texts have equal hashes in both encodings. */
function contentStart(b: Buffer, range: Range): number {
  for (const { content, isBytes, number } of listFields(b, range)) if (number === 1 && isBytes) return content.start;
  return range.start;
}

const STRING = 1;
const INT = 3;
const ARRAY = 5;
const MAP = 6;
const BYTES = 7;

/** AnyValue. */
function rewriteValue(rewriting: Rewriting, range: Range, place: Place, depth: number): Buffer | null {
  const { b, redacting } = rewriting;
  if (depth > DEPTH_MAX) throw truncated();
  const output = createOutput(b, range);
  let entry = 0;
  for (const one of listFields(b, range)) {
    if (one.number === INT && !one.isBytes) {
      const change = changeText(redacting, place, String(int64At(b, one)));
      if (change !== null) return encodeValue(change);
    } else if (!one.isBytes || one.number === BYTES) continue;
    else if (one.number === STRING) {
      const change = changeText(redacting, place, decodeText(b, one.content));
      if (change !== null) return encodeValue(change);
    } else if (one.number === ARRAY || one.number === MAP) {
      const inner = createOutput(b, one.content);
      for (const item of listFields(b, one.content)) {
        if (!item.isBytes || item.number !== 1) {
          if (hasFinding(rewriting, item)) inner.put(item, REMOVED);
        } else if (one.number === MAP) inner.put(item, rewriteKeyValue(rewriting, item.content, place, depth + 1));
        else {
          const at = placeBelow(redacting.places, place, String(entry++));
          const changed = rewriteWholeValue(rewriting, item.content, at, depth + 1);
          inner.put(item, changed === REMOVED ? EMPTY_VALUE : changed);
        }
      }
      output.put(one, inner.bytes());
    } else if (hasFinding(rewriting, one)) output.put(one, REMOVED);
  }
  return output.bytes();
}

/** An element that goes leaves an empty value: the positions of the others stay. */
const EMPTY_VALUE = Buffer.alloc(0, 0);

function encodeValue(change: Change): Buffer | null {
  if (change === null) return null;
  if (change.kind === "drop") return REMOVED;
  const text = Buffer.from(change.text);
  return Buffer.concat([Buffer.from([0x0a]), varintBytes(text.length), text]);
}

function int64At(b: Buffer, { content }: Field): bigint {
  let value = 0n;
  for (let at = content.start, shift = 0n; at < content.end; at++, shift += 7n)
    value |= BigInt((b[at] ?? 0) & 127) << shift;
  return BigInt.asIntN(64, value);
}

const OTHER: PlaceName = { part: "other", path: [] };
/** Each level is searched as a text: a field that nests deeper goes. */
const UNKNOWN_DEPTH_MAX = 16;

/** A rule finds something in a field that the protocol does not have: in its text, its number, or a field inside it. */
export function hasFinding({ b, redacting }: Rewriting, one: Field, depth = 0): boolean {
  const place = findPlace(redacting.places, OTHER);
  const silent: Redacting = { ...redacting, counts: [], report: null };
  if (!one.isBytes) return changeText(silent, place, String(int64At(b, one))) !== null;
  if (changeText(silent, place, decodeText(b, one.content)) !== null) return true;
  if (depth > UNKNOWN_DEPTH_MAX) return true;
  try {
    return [...listFields(b, one.content)].some((inner) => hasFinding({ b, redacting }, inner, depth + 1));
  } catch (error) {
    if (error instanceof DecodeError) return false; // no message
    throw error;
  }
}
