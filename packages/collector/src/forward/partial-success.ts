// Partial success: the items that a destination rejected in a request that it took, as its reply names them.
// Invariants:
//   - Any reply is safe to read: an unreadable one names nothing. Counts are at most REJECTED_MAX.
//   - The message is one line of at most MESSAGE_CHARS_MAX characters, without secrets of the destination.
import { fieldEnd, skip, text, varint, type Cursor } from "../otlp/protobuf-reader.ts";

export interface PartialSuccess {
  /** Spans, log records or data points. 0 with a message is a warning. */
  readonly rejected: number;
  readonly message: string;
}

const REJECTED_MAX = 1_000_000_000;
const MESSAGE_CHARS_MAX = 500;
const SECRET_CHARS_MIN = 6;
const REJECTED_NAMES = [
  "rejectedSpans",
  "rejected_spans",
  "rejectedLogRecords",
  "rejected_log_records",
  "rejectedDataPoints",
  "rejected_data_points",
];

/**
 * @param body an export response of OTLP, in the encoding that `contentType` names
 * @param secrets header values of the destination, which its message may repeat
 * @returns null without `partial_success`
 */
export function readPartialSuccess(
  body: Buffer,
  contentType: string | undefined,
  secrets: readonly string[],
): PartialSuccess | null {
  const found = read(body, contentType?.toLowerCase() ?? "");
  if (found === null) return null;
  const rejected = found.rejected > 0 && found.rejected <= REJECTED_MAX ? Math.floor(found.rejected) : 0;
  if (rejected === 0 && found.message === "") return null;
  return { rejected, message: cleaned(found.message, secrets) };
}

function read(body: Buffer, contentType: string): PartialSuccess | null {
  try {
    if (contentType.includes("json")) return readJson(body);
    if (contentType.includes("protobuf")) return readProtobuf(body);
  } catch {
    // an unreadable reply names nothing
  }
  return null;
}

function readJson(body: Buffer): PartialSuccess | null {
  const reply = JSON.parse(body.toString()) as Readonly<Record<string, unknown>> | null;
  const partial = (reply?.["partialSuccess"] ?? reply?.["partial_success"]) as
    | Record<string, unknown>
    | null
    | undefined;
  if (typeof partial !== "object" || partial === null) return null;
  const message = partial["errorMessage"] ?? partial["error_message"];
  const rejected = REJECTED_NAMES.map((name) => Number(partial[name] ?? 0)).find((count) => count > 0);
  return { rejected: rejected ?? 0, message: typeof message === "string" ? message : "" };
}

/** `{1: {1: rejected, 2: message}}` in every signal. */
function readProtobuf(body: Buffer): PartialSuccess | null {
  const cursor: Cursor = { b: body, pos: 0, values: 0, repairedTexts: 0, misfits: 0 };
  let found: { rejected: number; message: string } | null = null;
  while (cursor.pos < body.length) {
    const tag = varint(cursor);
    if (tag !== 0x0a) {
      skip(cursor, tag, body.length);
      continue;
    }
    found ??= { rejected: 0, message: "" };
    const end = fieldEnd(cursor, body.length);
    while (cursor.pos < end) {
      const inner = varint(cursor);
      if (inner === 0x08) found.rejected = varint(cursor);
      else if (inner === 0x12) found.message = text(cursor, end);
      else skip(cursor, inner, end);
    }
  }
  return found;
}

function cleaned(message: string, secrets: readonly string[]): string {
  const words = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  let clean = message;
  for (const word of words) if (word.length >= SECRET_CHARS_MIN) clean = clean.replaceAll(word, "[secret]");
  const line = clean.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length <= MESSAGE_CHARS_MAX ? line : `${line.slice(0, MESSAGE_CHARS_MAX)}…`;
}
