// Bind messages: the parameters of prepared statements, in the wire format of PostgreSQL. All statements of a packet go
// into one buffer and one write: `pg` makes a buffer of each message, and the socket a list of them.
// Invariants:
//   bind-messages.1. The server gets the bytes that `pg` would send, but that parameters of text need no format codes.
//   - The buffer is as long as its longest content could be; only its written part goes out.
import { parameterText, type Parameter } from "./pool.ts";

export interface PreparedStatement {
  /** On the connection, in ASCII. */
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

type Value = string | Buffer | null;

const BIND = 0x42; // "B"
/** Without a portal's name or a limit of rows. */
const EXECUTE = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
/** Bytes of a Bind message: type, length, two ends of names, numbers of format codes, values and result formats. */
const BIND_BYTES = 1 + 4 + 2 + 2 + 2 + 2;
/** Characters are written here up to this length: a call of the buffer costs more. */
const SHORT = 48;
const UTF8_BYTES_MAX = 3;

/**
 * Bind and Execute of each statement, then Sync.
 * Source: PostgreSQL, "Message Formats" of the frontend/backend protocol 3.0.
 */
export function bindMessages(statements: readonly PreparedStatement[]): Buffer {
  const values = statements.map(({ parameters }) => parameters.map(parameterText));
  let bytesMax = SYNC.length;
  for (const [at, { name }] of statements.entries()) bytesMax += countBytesMax(name, values[at] ?? []);
  const buffer = Buffer.allocUnsafe(bytesMax);
  let end = 0;
  for (const [at, { name }] of statements.entries()) {
    end = writeBind(buffer, end, name, values[at] ?? []);
    end += EXECUTE.copy(buffer, end);
  }
  end += SYNC.copy(buffer, end);
  return buffer.subarray(0, end);
}

function countBytesMax(name: string, values: readonly Value[]): number {
  let bytes = BIND_BYTES + name.length + EXECUTE.length;
  for (const value of values) {
    bytes += 2 + 4; // format code, length
    if (value === null) continue;
    if (typeof value !== "string") bytes += value.length;
    else bytes += value.length <= SHORT ? value.length * UTF8_BYTES_MAX : Buffer.byteLength(value);
  }
  return bytes;
}

/** @returns the place behind the message */
function writeBind(buffer: Buffer, start: number, name: string, values: readonly Value[]): number {
  buffer[start] = BIND;
  let end = start + 5;
  buffer[end++] = 0; // the unnamed portal
  end = writeText(buffer, end, name);
  buffer[end++] = 0;
  end = writeFormats(buffer, end, values);
  end = buffer.writeInt16BE(values.length, end);
  for (const value of values) end = writeValue(buffer, end, value);
  end = buffer.writeInt16BE(0, end); // all results are text
  buffer.writeInt32BE(end - start - 1, start + 1);
  return end;
}

/** bind-messages.1. No code stands for text. */
function writeFormats(buffer: Buffer, start: number, values: readonly Value[]): number {
  if (!values.some((value) => typeof value === "object" && value !== null)) return buffer.writeInt16BE(0, start);
  let end = buffer.writeInt16BE(values.length, start);
  for (const value of values) end = buffer.writeInt16BE(typeof value === "string" || value === null ? 0 : 1, end);
  return end;
}

function writeValue(buffer: Buffer, start: number, value: Value): number {
  if (value === null) return buffer.writeInt32BE(-1, start);
  const end =
    typeof value === "string" ? writeText(buffer, start + 4, value) : start + 4 + value.copy(buffer, start + 4);
  buffer.writeInt32BE(end - start - 4, start);
  return end;
}

function writeText(buffer: Buffer, start: number, text: string): number {
  if (text.length > SHORT) return start + buffer.write(text, start);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return start + buffer.write(text, start);
    buffer[start + at] = code;
  }
  return start + text.length;
}
