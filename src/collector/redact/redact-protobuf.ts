// Redact protobuf: rewrites the bytes of an OTLP request. Fields without a finding are copied, so that nothing is lost of
// fields that this version does not know.
// Invariants:
//   redact-protobuf.1. A message without a candidate is not read.
//   redact-protobuf.2. An unknown field with a candidate goes: its content is unknown. So does an id of another length.
//   redact-protobuf.5. A field for an id or numbers with a candidate goes when it holds a text with a finding.
//   redact-protobuf.3. After SLICE_BYTES of fields with candidates the caller may yield to other requests. Others do not
//        count: requests that take turns have their decoded items in memory at the same time, and these then outlive the
//        young generation. Most large requests have a candidate by chance, such as an "@" in a time.
import { isUtf8 } from "node:buffer";
import type { Candidates } from "./find/candidates.ts";
import type { Message, MessageField } from "./otlp-messages.ts";
import { changeText, changeWhole, type Place, type Redacting, wholeRule } from "./redact-value.ts";
import { type Field, fieldsOf, outputOf, type Range, REMOVED, textOf } from "./protobuf-fields.ts";
import { rewriteKeyValue, rewriteWholeValue, type Rewriting } from "./redact-protobuf-value.ts";

const SLICE_BYTES = 128 * 1024;
/** Envelopes down to the items may yield; an item is one step. */
const ENVELOPE_DEPTH = 3;
const OTHER: Place = { part: "other", path: [] };
/** Trace ids and span ids. */
const ID_BYTES: ReadonlySet<number> = new Set([0, 8, 16]);

interface Walk extends Rewriting {
  /** Bytes of fields with candidates since the slice began. */
  worked: number;
}

/** Returns the new bytes, or null when nothing changes. @throws {DecodeError} */
export function* redactProtobuf(
  b: Buffer,
  message: Message,
  candidates: Candidates,
  redacting: Redacting,
): Generator<undefined, Buffer | null> {
  const rewriting: Walk = { b, candidates, redacting, worked: 0 };
  return yield* rewriteEnvelope(rewriting, { start: 0, end: b.length }, message, 0);
}

/** As rewriteMessage, with pauses. */
function* rewriteEnvelope(
  rewriting: Walk,
  range: Range,
  message: Message,
  depth: number,
): Generator<undefined, Buffer | null> {
  const output = outputOf(rewriting.b, range);
  for (const one of fieldsOf(rewriting.b, range)) {
    const field = message.byNumber.get(one.number);
    if (!rewriting.candidates.within(one.start, one.end)) continue; // redact-protobuf.1
    if (depth < ENVELOPE_DEPTH && field?.kind === "message" && one.isBytes) {
      output.put(one, yield* rewriteEnvelope(rewriting, one.content, field.message, depth + 1));
      continue;
    }
    output.put(one, rewriteField(rewriting, one, field));
    rewriting.worked += one.end - one.start;
    if (rewriting.worked < SLICE_BYTES) continue;
    rewriting.worked = 0;
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
  if (!one.isBytes) return null;
  if (field.kind === "keep") return isKept(rewriting, one.content, field.isId) ? null : REMOVED; // redact-protobuf.5
  if (field.kind === "message") return rewriteMessage(rewriting, one.content, field.message);
  if (field.kind === "attributes") return rewriteKeyValue(rewriting, one.content, { part: field.part, path: [] }, 0);
  if (field.kind === "value") return rewriteWholeValue(rewriting, one.content, field, 0);
  const text = textOf(rewriting.b, one.content);
  const rule = wholeRule(rewriting.redacting, field);
  const change =
    rule === null ? changeText(rewriting.redacting, field, text) : changeWhole(rewriting.redacting, rule, field, text);
  return change === null ? null : change.kind === "drop" ? REMOVED : Buffer.from(change.text);
}

/** An id by its length; packed numbers, unless they are a text in which a rule finds something. */
function isKept({ b, redacting }: Rewriting, content: Range, isId: boolean): boolean {
  const { end, start } = content;
  if (isId) return ID_BYTES.has(end - start);
  return !isUtf8(b.subarray(start, end)) || changeText(redacting, OTHER, textOf(b, content)) === null;
}
