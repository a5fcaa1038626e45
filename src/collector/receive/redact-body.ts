// Redact body: one request between decompression and decoding. Everything after this step (decoder, spool, dead letters,
// forwarding) has only the redacted bytes.
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync } from "node:zlib";
import type { Redactor, RedactRequest } from "../redact/redact.ts";
import { inTurns } from "./in-turns.ts";
import type { RequestHead } from "./request-head.ts";

export interface Received {
  readonly head: RequestHead;
  /** As it came. */
  readonly wire: Buffer;
  /** Decompressed. */
  readonly body: Buffer;
}

const AT_ONCE_BYTES = 256 * 1024;
const params = { [constants.ZSTD_c_compressionLevel]: 1 };
const inThread = promisify(zstdCompress);

/** The same object when no rule matches. @throws {DecodeError} */
export async function redactBody(
  redactor: Redactor | null,
  received: Received,
  signal: RedactRequest["signal"],
): Promise<Received> {
  if (redactor === null) return received;
  const { format, project, tenantId } = received.head;
  const redacting = inTurns(redactor.redact({ body: received.body, format, signal, project, tenantId }));
  const body = redacting instanceof Promise ? await redacting : redacting;
  if (body === received.body) return received;
  if (received.head.encoding === "identity") return { head: received.head, wire: body, body };
  const wire = body.length <= AT_ONCE_BYTES ? zstdCompressSync(body, { params }) : await inThread(body, { params });
  return { head: { ...received.head, encoding: "zstd" }, wire, body };
}
