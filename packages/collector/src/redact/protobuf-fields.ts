// Protobuf fields: the fields of one message with their positions, and the message again with some of them replaced.
import { type Cursor, fieldEnd, skip, truncated, varint } from "../otlp/protobuf-reader.ts";
import { varintBytes } from "../otlp/varint.ts";

/** In the place of a field: it goes. */
export const REMOVED = Buffer.alloc(0);

/** A range of bytes. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The bytes as UTF-8. */
export function decodeText(b: Buffer, { end, start }: Range): string {
  return b.toString("utf8", start, end);
}

/** A field with its tag. */
export interface Field extends Range {
  readonly number: number;
  /** Wire type 2. */
  readonly isBytes: boolean;
  /** Without tag and length. */
  readonly content: Range;
}

/** The fields of the message in this range. @throws {DecodeError} */
export function* listFields(b: Buffer, { end, start }: Range): Generator<Field, undefined> {
  const c: Cursor = { b, pos: start, values: 0, repairedTexts: 0, misfits: 0 };
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

/** A message that is written again. */
export interface Output {
  /** Puts new content into the place of a field. null: it stays. */
  readonly put: (field: Field, content: Buffer | null) => void;
  /** null: nothing changed. */
  readonly bytes: () => Buffer | null;
}

/** The message in this range, without a change yet. */
export function createOutput(b: Buffer, { end, start }: Range): Output {
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
