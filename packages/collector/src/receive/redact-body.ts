// Redact body: one request from decompression to decoding. Everything after this step (decoder, spool, dead letters,
// forwarding) has only the redacted bytes.
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync } from "node:zlib";
import type { Redactor, RedactRequest } from "../redact/redact.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import { decompress, TooLargeError } from "./decode-body.ts";
import { inTurns } from "./in-turns.ts";
import type { Passage } from "./memory-admission.ts";
import type { RequestHead } from "./request-head.ts";

export interface Received {
  readonly head: RequestHead;
  /** The body as received. */
  readonly wire: Buffer;
  /** Decompressed. */
  readonly body: Buffer;
}

const AT_ONCE_BYTES = 256 * 1024;
const params = { [constants.ZSTD_c_compressionLevel]: 1 };
const inThread = promisify(zstdCompress);

/** The message, decompressed; at once when it is not compressed. @throws {DecodeError | TooLargeError} */
export function plainBody(
  { head, wire }: Omit<Received, "body">,
  bytesMax: number,
  { grow }: Pick<Passage, "grow">,
): Received | Promise<Received> {
  const plain = (body: Buffer): Received => {
    if (body.length > bytesMax) throw new TooLargeError("too_large");
    return { head, wire, body };
  };
  return head.encoding === "identity" ? plain(wire) : decompress(wire, head.encoding, { bytesMax, grow }).then(plain);
}

/** The body after redaction, and the form in which it is stored and forwarded. @throws {DecodeError | TooLargeError} */
export async function redactedBody(
  redactor: Redactor,
  plain: Received,
  { passage, signal }: { readonly passage: Pick<Passage, "grow">; readonly signal: RedactRequest["signal"] },
): Promise<Received> {
  const kept = await redactBody(redactor, plain, signal);
  if (kept === plain) return plain;
  if (!passage.grow(kept.wire.length)) throw new TooLargeError("no_room");
  if (plain.body !== plain.wire) freeBuffer(plain.body);
  return kept;
}

/** The same object when no rule matches. @throws {DecodeError} */
async function redactBody(redactor: Redactor, received: Received, signal: RedactRequest["signal"]): Promise<Received> {
  const { format, project, tenantId } = received.head;
  const redacting = inTurns(redactor.redact({ body: received.body, format, signal, project, tenantId }));
  const body = redacting instanceof Promise ? await redacting : redacting;
  if (body === received.body) return received;
  if (received.head.encoding === "identity") return { head: received.head, wire: body, body };
  const wire = body.length <= AT_ONCE_BYTES ? zstdCompressSync(body, { params }) : await inThread(body, { params });
  return { head: { ...received.head, encoding: "zstd" }, wire, body };
}
