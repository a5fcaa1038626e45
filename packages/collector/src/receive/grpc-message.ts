// gRPC message: the frame of one message, and the status in the trailers.
// Invariants:
//   - One message a call: a second one, or a length that is not that of the body, refuses it.
//   grpc-message.2. A refusal that a sender may repeat carries RetryInfo: without it, RESOURCE_EXHAUSTED is final.
import { DecodeError } from "../otlp/decoded.ts";
import { REFUSALS, type RefusalKind } from "../otlp/status.ts";
import { varintBytes } from "../otlp/varint.ts";
import type { FramedMessage } from "./accept.ts";
import type { RequestHead } from "./request-head.ts";

const PREFIX_BYTES = 5;

/** Flag (1 compressed), length, message. @throws {DecodeError} */
export function unframe(bytes: Buffer, head: RequestHead): FramedMessage {
  if (bytes.length < PREFIX_BYTES) throw new DecodeError("the call has no message");
  const flag = bytes.readUInt8(0);
  const length = bytes.readUInt32BE(1);
  if (length !== bytes.length - PREFIX_BYTES)
    throw new DecodeError("the length of the message is not that of the call");
  if (flag > 1) throw new DecodeError("the compressed flag of the message is neither 0 nor 1");
  const isPlain = flag === 0;
  if (!isPlain && head.encoding === "identity")
    throw new DecodeError("the message is compressed, and the call names no grpc-encoding");
  return { wire: bytes.subarray(PREFIX_BYTES), head: isPlain ? { ...head, encoding: "identity" } : head };
}

export function frame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export type Trailers = Readonly<Record<string, string>>;

export const OK: Trailers = Object.freeze({ "grpc-status": "0" });

const UNIMPLEMENTED = 12;
const RESOURCE_EXHAUSTED = 8;

/** Refusals whose code differs from that of OTLP/HTTP. No room is the sender's to wait for; the others are the server's. */
const CODES: Partial<Record<RefusalKind, number>> = {
  no_room: RESOURCE_EXHAUSTED,
  not_found: UNIMPLEMENTED,
  unsupported_media_type: UNIMPLEMENTED,
};

const RETRIED: ReadonlySet<RefusalKind> = new Set(["over_limit", "no_room", "spool_unwritable", "stopping"]);

export function refusalTrailers(kind: RefusalKind, message: string, retryAfterSeconds: number): Trailers {
  const code = CODES[kind] ?? REFUSALS[kind][1];
  const status = { "grpc-status": String(code), "grpc-message": percentEncoded(message) };
  if (!RETRIED.has(kind)) return status;
  const details = richStatus(code, message, retryAfterSeconds); // grpc-message.2
  return { ...status, "grpc-status-details-bin": details.toString("base64") };
}

/** Printable ASCII stays, the rest of the UTF-8 bytes and "%" become escapes. */
function percentEncoded(text: string): string {
  return text.replaceAll(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent);
}

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

/** google.rpc.Status {code, message, details: [RetryInfo {retry_delay: {seconds}}]}; all lengths fit into one byte. */
function richStatus(code: number, message: string, seconds: number): Buffer {
  const duration = Buffer.concat([Buffer.from([0x08]), varintBytes(Math.max(1, Math.ceil(seconds)))]);
  const any = Buffer.concat([short(1, Buffer.from(RETRY_INFO)), short(2, short(1, duration))]);
  return Buffer.concat([Buffer.from([0x08, code]), short(2, Buffer.from(message).subarray(0, 127)), short(3, any)]);
}

function short(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
}
