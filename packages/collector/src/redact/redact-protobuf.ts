// Redact protobuf: rewrites the bytes of an OTLP request. Fields without a finding are copied, so that nothing is lost of
// fields that this version does not know.
// Invariants:
//   - An unknown field in which a rule finds something goes, at any level of its content. So does an id of another
//     length, and a field for numbers that holds such a text.
//   - After SLICE_BYTES of fields the caller may yield to other requests.
import type { Message, MessageField } from "./otlp-messages.ts";
import { changeText, changeWhole, type Redacting } from "./redact-value.ts";
import { findPlace } from "./rules-at.ts";
import { type Field, listFields, createOutput, type Range, REMOVED, decodeText } from "./protobuf-fields.ts";
import { hasFinding, rewriteKeyValue, rewriteWholeValue, type Rewriting } from "./redact-protobuf-value.ts";

const SLICE_BYTES = 128 * 1024;
/** Envelopes down to the items may yield; an item is one step. */
const ENVELOPE_DEPTH = 3;
/** Trace ids and span ids. */
const ID_BYTES: ReadonlySet<number> = new Set([0, 8, 16]);

interface Walk extends Rewriting {
  /** Bytes since the slice began. */
  worked: number;
}

/** Returns the new bytes, or null when nothing changes. @throws {DecodeError} */
export function* redactProtobuf(
  b: Buffer,
  message: Message,
  redacting: Redacting,
): Generator<undefined, Buffer | null> {
  const rewriting: Walk = { b, redacting, worked: 0 };
  return yield* rewriteEnvelope(rewriting, { start: 0, end: b.length }, message, 0);
}

/** As rewriteMessage, with pauses. */
function* rewriteEnvelope(
  rewriting: Walk,
  range: Range,
  message: Message,
  depth: number,
): Generator<undefined, Buffer | null> {
  const output = createOutput(rewriting.b, range);
  for (const one of listFields(rewriting.b, range)) {
    const field = message.byNumber.get(one.number);
    if (depth < ENVELOPE_DEPTH && field?.kind === "message" && one.isBytes) {
      output.put(one, yield* rewriteEnvelope(rewriting, one.content, field.message, depth + 1));
      continue;
    }
    output.put(one, rewriteField(rewriting, one, field));
    rewriting.worked += one.end - one.start;
    if (rewriting.worked < SLICE_BYTES) continue;
    rewriting.worked = 0;
    yield;
  }
  return output.bytes();
}

function rewriteMessage(rewriting: Rewriting, range: Range, message: Message): Buffer | null {
  const output = createOutput(rewriting.b, range);
  for (const one of listFields(rewriting.b, range))
    output.put(one, rewriteField(rewriting, one, message.byNumber.get(one.number)));
  return output.bytes();
}

/** REMOVED: the field goes. null: unchanged. */
function rewriteField(rewriting: Rewriting, one: Field, field: MessageField | undefined): Buffer | null {
  if (field === undefined) return hasFinding(rewriting, one) ? REMOVED : null;
  if (!one.isBytes) return null;
  if (field.kind === "keep") return isKept(rewriting, one, field.isId) ? null : REMOVED;
  if (field.kind === "message") return rewriteMessage(rewriting, one.content, field.message);
  if (field.kind === "attributes")
    return rewriteKeyValue(
      rewriting,
      one.content,
      findPlace(rewriting.redacting.places, { part: field.part, path: [] }),
      0,
    );
  const place = findPlace(rewriting.redacting.places, field);
  if (field.kind === "value") return rewriteWholeValue(rewriting, one.content, place, 0);
  const text = decodeText(rewriting.b, one.content);
  const change =
    place.whole === null
      ? changeText(rewriting.redacting, place, text)
      : changeWhole(rewriting.redacting, place.whole, place, text);
  return change === null ? null : change.kind === "drop" ? REMOVED : Buffer.from(change.text);
}

/** An id by its length; packed numbers, unless they are a text in which a rule finds something. */
function isKept(rewriting: Rewriting, one: Field, isId: boolean): boolean {
  const { end, start } = one.content;
  return isId ? ID_BYTES.has(end - start) : !hasFinding(rewriting, one);
}
