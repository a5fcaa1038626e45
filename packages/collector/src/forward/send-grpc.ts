// Send gRPC: one unary Export call to a destination, over one HTTP/2 connection that calls share.
// Invariants:
//   - Every end of a call has one outcome: a status that says "later" is tried again, one that says "never" is refused,
//     and a wrong secret or address pauses the destination and loses nothing.
//   - A reply above REPLY_BYTES_MAX, and one that does not come in time, end the call. A broken connection is
//     opened again by the next call.
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock } from "@holdpoint/base/clock.ts";
import { fieldEnd, skip, varint, type Cursor } from "../otlp/protobuf-reader.ts";
import { toOutcome } from "../upload/backend/reply.ts";
import type { SendOutcome } from "../upload/backend/port.ts";
import type { ForwardRequest } from "./forward-request.ts";

export interface GrpcLine {
  readonly call: (call: GrpcCall) => Promise<GrpcReply>;
  readonly close: () => void;
}

export interface GrpcCall {
  readonly signal: ForwardRequest["signal"];
  /** Plain protobuf. */
  readonly message: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly abort: AbortSignal;
}

export interface GrpcReply {
  readonly outcome: SendOutcome;
  /** The message of a call that was taken, without its frame. */
  readonly message: Buffer;
}

const SERVICES: Readonly<Record<ForwardRequest["signal"], string>> = {
  traces: "trace.v1.TraceService",
  logs: "logs.v1.LogsService",
  metrics: "metrics.v1.MetricsService",
};
const REPLY_BYTES_MAX = 64 * 1024;
const PREFIX_BYTES = 5;
const GZIP_LEVEL = 1;
const zip = promisify(gzip);

export function createGrpcLine(
  { endpoint, userAgent }: { readonly endpoint: string; readonly userAgent: string },
  clock: Clock,
): GrpcLine {
  const { origin, pathname } = new URL(endpoint);
  const base = pathname.replace(/\/+$/, "");
  let session: ClientHttp2Session | null = null;

  function open(): ClientHttp2Session {
    if (session !== null && !session.closed && !session.destroyed) return session;
    const opened = connect(origin);
    opened.on("error", () => undefined); // each call has its own end
    opened.on("goaway", () => opened.close());
    opened.unref();
    return (session = opened);
  }

  return {
    async call({ abort, headers, message, signal, timeoutMs }) {
      const body = framed(await zip(message, { level: GZIP_LEVEL }));
      const path = `${base}/opentelemetry.proto.collector.${SERVICES[signal]}/Export`;
      const request = { ":method": "POST", ":path": path, ...headers, ...CALL_HEADERS, "user-agent": userAgent };
      return await exchange({ session: open(), request, body, timeoutMs, abort }, clock);
    },
    close: () => session?.destroy(),
  };
}

const CALL_HEADERS = {
  "content-type": "application/grpc+proto",
  te: "trailers",
  "grpc-encoding": "gzip",
  "grpc-accept-encoding": "identity",
};

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES, 1);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

interface Exchange {
  readonly session: ClientHttp2Session;
  readonly request: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly timeoutMs: number;
  readonly abort: AbortSignal;
}

function exchange({ abort, body, request, session, timeoutMs }: Exchange, clock: Clock): Promise<GrpcReply> {
  return new Promise((resolve) => {
    const stream = session.request(request, { signal: abort });
    let head: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let bytes = 0;
    let fault = "the call ended without a status";
    const chunks: Buffer[] = [];
    const cancel = clock.after(timeoutMs, () => {
      fault = `no reply within ${timeoutMs} ms`;
      session.destroy(); // it may be dead: the next call opens another one
    });
    stream.on("response", (headers) => (head = headers));
    stream.on("trailers", (headers) => (trailers = headers));
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= REPLY_BYTES_MAX) chunks.push(chunk);
      else stream.close();
    });
    stream.on("error", (error: Error) => {
      fault = "code" in error ? String(error.code) : "the call failed";
    });
    stream.on("close", () => {
      cancel();
      const message = Buffer.concat(chunks).subarray(PREFIX_BYTES);
      resolve({ outcome: readOutcome({ ...head, ...trailers }, fault, clock.now()), message });
    });
    stream.end(body);
  });
}

/** Outcome of `{…headers, …trailers}`. */
function readOutcome(headers: IncomingHttpHeaders, fault: string, nowMs: number): SendOutcome {
  const { ":status": status = 0 } = headers as { readonly ":status"?: number };
  const code = headers["grpc-status"];
  if (typeof code !== "string") {
    if (status === 0 || status === 200) return { kind: "retry", reason: fault, afterMs: null };
    return toOutcome(status, "", headers["retry-after"], nowMs);
  }
  const details = headers["grpc-status-details-bin"];
  return outcomeOfStatus(Number(code), typeof details === "string" ? details : "");
}

/** Cancelled, unknown, deadline exceeded, aborted, out of range, internal, unavailable, data loss. */
const LATER: ReadonlySet<number> = new Set([1, 2, 4, 10, 11, 13, 14, 15]);
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;

export function outcomeOfStatus(code: number, details: string): SendOutcome {
  const reason = `gRPC status ${code}`;
  if (code === 0) return { kind: "sent" };
  const afterMs = readRetryDelay(details);
  if (LATER.has(code)) return { kind: "retry", reason, afterMs };
  if (code === RESOURCE_EXHAUSTED)
    return afterMs === null ? { kind: "too_large", reason } : { kind: "retry", reason, afterMs };
  return code === INVALID_ARGUMENT ? { kind: "refused", reason } : { kind: "parked", reason };
}

const RETRY_INFO = "google.rpc.RetryInfo";
const DELAY_MS_MAX = 3_600_000;

/** The delay of google.rpc.RetryInfo in google.rpc.Status, in base64; null for none, and for bytes that are none. */
function readRetryDelay(details: string): number | null {
  try {
    const status = Buffer.from(details, "base64");
    for (const any of readFields(status, 3)) {
      const [type = Buffer.alloc(0)] = readFields(any, 1);
      const [duration] = type.toString().endsWith(RETRY_INFO) ? readFields(readFields(any, 2)[0] ?? status, 1) : [];
      if (duration !== undefined) return Math.min(DELAY_MS_MAX, readMilliseconds(duration));
    }
  } catch {
    // no details
  }
  return null;
}

function cursorOver(b: Buffer): Cursor {
  return { b, pos: 0, values: 0, repairedTexts: 0, misfits: 0 };
}

/** The messages and texts in one field. */
function readFields(b: Buffer, number: number): readonly Buffer[] {
  const cursor = cursorOver(b);
  const found: Buffer[] = [];
  while (cursor.pos < b.length) {
    const tag = varint(cursor);
    if (tag !== number * 8 + 2) skip(cursor, tag, b.length);
    else {
      const end = fieldEnd(cursor, b.length);
      found.push(b.subarray(cursor.pos, end));
      cursor.pos = end;
    }
  }
  return found;
}

function readMilliseconds(duration: Buffer): number {
  const cursor = cursorOver(duration);
  let milliseconds = 0;
  while (cursor.pos < duration.length) {
    const tag = varint(cursor);
    if (tag === 8) milliseconds += varint(cursor) * 1000;
    else if (tag === 16) milliseconds += varint(cursor) / 1_000_000;
    else skip(cursor, tag, duration.length);
  }
  return milliseconds;
}
