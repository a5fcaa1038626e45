// Send request: one HTTP request to a destination: stored requests of one signal, joined where the encoding allows it.
// Invariants:
//   - Messages of protobuf join by appending their bytes. JSON goes one request at a time, as it came.
//   - No reason holds a header or the text of a reply: both can hold secrets. The message of a partial success is
//     cleaned of them.
//   - A reply of any size ends a request: only its first bytes are read.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock } from "@holdpoint/base/clock.ts";
import { decompress } from "../receive/decode-body.ts";
import { nameContentType } from "../otlp/status.ts";
import type { RedactorOptions } from "../redact/redact.ts";
import { createLine, exchange } from "../upload/backend/exchange.ts";
import type { SendOutcome } from "../upload/backend/port.ts";
import { toOutcome } from "../upload/backend/reply.ts";
import type { ForwardRequest } from "./forward-request.ts";
import type { Destination } from "./forward-schema.ts";
import { type PartialSuccess, readPartialSuccess } from "./partial-success.ts";
import { createGrpcLine } from "./send-grpc.ts";
import { createShaper, type ShapeRequest } from "./shape-request.ts";

export type ForwardOutcome =
  | Exclude<SendOutcome, { readonly kind: "sent" }>
  /**
   * `partial`: the items that the destination rejected. OTLP forbids to send them again. `requests`: without those of
   * which its rules left nothing.
   */
  | { readonly kind: "sent"; readonly requests: number; readonly partial: PartialSuccess | null };

export type SendRequests = (requests: readonly ForwardRequest[], signal: AbortSignal) => Promise<ForwardOutcome>;

export interface ConnectionOptions {
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
  readonly redaction: RedactorOptions;
}

const zip = promisify(gzip);
const GZIP_LEVEL = 1;
const LIMITS = { bytesMax: Infinity, grow: (): boolean => true };

/** @throws {Error} for a pattern that RE2 does not accept. */
export function createSender(destination: Destination, connection: ConnectionOptions, clock: Clock): SendRequests {
  const shape = createShaper(destination, connection.redaction);
  const send =
    destination.protocol === "grpc" ? grpcSender(destination, clock) : httpSender(destination, connection, clock);
  return async (requests, signal) => {
    let wanted: readonly ForwardRequest[];
    try {
      wanted = shape === null ? requests : await shapeAll(shape, requests);
    } catch {
      return { kind: "refused", reason: "the rules of the destination cannot read it" };
    }
    return await send(wanted, signal);
  };
}

async function shapeAll(shape: ShapeRequest, requests: readonly ForwardRequest[]): Promise<readonly ForwardRequest[]> {
  const shaped: ForwardRequest[] = [];
  for (const request of requests) {
    const made = await shape(request);
    if (made !== null) shaped.push({ ...request, format: made.format, encoding: "identity", wire: made.body });
  }
  return shaped;
}

function grpcSender({ endpoint, headers, timeout_ms: timeoutMs }: Destination, clock: Clock): SendRequests {
  const line = createGrpcLine({ endpoint, userAgent: USER_AGENT }, clock);
  const metadata = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return async (requests, abort) => {
    const [first] = requests;
    if (first === undefined) return { kind: "sent", requests: 0, partial: null };
    if (first.format === "json") return { kind: "refused", reason: "metrics in JSON have no form over gRPC" };
    try {
      const message = Buffer.concat(requests.map(({ wire }) => wire));
      const reply = await line.call({ signal: first.signal, message, headers: metadata, timeoutMs, abort });
      if (reply.outcome.kind !== "sent") return reply.outcome;
      const partial = readPartialSuccess(reply.message, nameContentType("protobuf"), Object.values(headers));
      return { kind: "sent", requests: requests.length, partial };
    } catch (error) {
      return { kind: "retry", reason: readCode(error), afterMs: null };
    }
  };
}

function readCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "the request failed";
}

const USER_AGENT = "holdpoint-collector";

function httpSender(destination: Destination, connection: ConnectionOptions, clock: Clock): SendRequests {
  const { endpoint, headers, timeout_ms: timeoutMs } = destination;
  const { httpsProxy, noProxy } = connection;
  const line = createLine({ endpoint, connectionsMax: 2, userAgent: USER_AGENT, httpsProxy, noProxy }, clock);
  return async (requests, signal) => {
    const [first] = requests;
    if (first === undefined) return { kind: "sent", requests: 0, partial: null };
    try {
      const { body, encoding } = await mergeBody(first, requests);
      const reply = await exchange(line, {
        path: `/v1/${first.signal}`,
        method: "POST",
        headers: {
          ...headers,
          "content-type": nameContentType(first.format),
          "content-length": body.length,
          ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
        },
        body,
        timeoutMs,
        signal,
        isReplyCut: true,
      });
      const outcome = toOutcome(reply.status, "", reply.headers["retry-after"], clock.now());
      if (outcome.kind !== "sent") return outcome;
      const partial = readPartialSuccess(reply.bytes, reply.headers["content-type"], Object.values(headers));
      return { kind: "sent", requests: requests.length, partial };
    } catch (error) {
      return { kind: "retry", reason: readCode(error), afterMs: null };
    }
  };
}

export function isJoinable(one: Pick<ForwardRequest, "format" | "signal">, other: typeof one): boolean {
  return one.format === "protobuf" && other.format === "protobuf" && one.signal === other.signal;
}

async function mergeBody(
  first: ForwardRequest,
  requests: readonly ForwardRequest[],
): Promise<{ readonly body: Buffer; readonly encoding: "identity" | "gzip" }> {
  const { encoding } = first;
  if (requests.length === 1 && (encoding === "identity" || encoding === "gzip")) return { body: first.wire, encoding };
  const plain: Buffer[] = [];
  for (const { encoding: own, wire } of requests) plain.push(await decompress(wire, own, LIMITS));
  return { body: await zip(Buffer.concat(plain), { level: GZIP_LEVEL }), encoding: "gzip" };
}
