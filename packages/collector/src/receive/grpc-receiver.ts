// gRPC receiver: OTLP/gRPC on Node's HTTP/2, with the admission, reader and intake of HTTP (accept.ts).
// Invariants:
//   - Metadata counts like the headers of HTTP; the key is checked before the body is read.
//   - Every outcome is a gRPC status. Backpressure and limits are RESOURCE_EXHAUSTED, a collector that stops or cannot
//     write UNAVAILABLE, both with RetryInfo (grpc-message.2).
//   - A call that goes wrong ends its own stream only.
//   grpc-receiver.5. The authority of a call is checked like the Host header (loopback-host.ts).
//   grpc-receiver.4. A call ends soon after its reply, although its peer neither reads the reply nor ends its own message.
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { checkHost, type HostRules } from "@holdpoint/base/http/server/loopback-host.ts";
import { exportResponse, type Refusal } from "../otlp/status.ts";
import { accept, type Accepting, type Rejections } from "./accept.ts";
import { formatRejection } from "./exchange.ts";
import { frame, OK, refusalTrailers, type Trailers, unframe } from "./grpc-message.ts";
import { type HeadRules, readHead } from "./request-head.ts";
import { type OtlpSignal, SIGNAL_OF_METHOD } from "./signals.ts";

export interface GrpcOptions extends HeadRules {
  readonly hosts: HostRules;
  readonly retryAfterSeconds: number;
}

export interface GrpcReceiving {
  readonly options: GrpcOptions;
  readonly accepting: Accepting;
  /** Status of the call, as HTTP counts it: 200, or that of the refusal's trailers. */
  readonly onReply: (grpcStatus: number) => void;
}

export type GrpcListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => void;

const REPLY_HEADERS = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-accept-encoding": "identity,gzip,deflate,zstd",
};

export function createGrpcReceiver(receiver: GrpcReceiving): GrpcListener {
  return (stream, headers, rawHeaders) => {
    stream.on("error", ignore);
    const path = headers[":path"];
    const type = headers["content-type"] ?? "";
    if (headers[":method"] !== "POST" || !/^application\/grpc(?:\+proto)?(?:;|$)/i.test(type)) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const stranger = readStranger(headers, receiver.options.hosts);
    if (stranger !== null) return refuse(receiver, stream, stranger); // grpc-receiver.5
    const signal = SIGNAL_OF_METHOD.get(typeof path === "string" ? path : "");
    if (signal === undefined)
      refuse(receiver, stream, {
        refusal: "not_found",
        message: "unknown method: this collector has Export of traces, logs, metrics",
      });
    else void exportItems(receiver, stream, signal, rawHeaders);
  };
}

/** `:authority` is what Host is to HTTP. */
function readStranger(headers: IncomingHttpHeaders, hosts: HostRules): Refusal | null {
  const host = headers[":authority"] ?? headers.host;
  try {
    checkHost({ headers: host === undefined ? {} : { host }, rawHeaders: [] }, hosts);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refusal: error.code === "forbidden_host" ? error.code : "bad_header", message: error.message };
  }
}

async function exportItems(
  receiver: GrpcReceiving,
  stream: ServerHttp2Stream,
  signal: OtlpSignal,
  rawHeaders: readonly string[],
): Promise<void> {
  const head = readHead(toHttpHeaders(rawHeaders), receiver.options);
  if ("refusal" in head) return refuse(receiver, stream, head);
  const verdict = await accept(receiver.accepting, { signal, head, stream, unframe });
  if (verdict.kind === "gone") return;
  if (verdict.kind === "refused") return refuse(receiver, stream, verdict);
  reply(receiver, stream, signal, verdict.rejections);
}

/** The encoding of gRPC is that of the message; the media type stands for protobuf. */
function toHttpHeaders(rawHeaders: readonly string[]): readonly string[] {
  const headers = ["content-type", "application/x-protobuf"];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase();
    const value = rawHeaders[at + 1] ?? "";
    if (name === "grpc-encoding") headers.push("content-encoding", value);
    else if (!OF_TRANSPORT.has(name) && !name.startsWith(":")) headers.push(name, value);
  }
  return headers;
}

const OF_TRANSPORT: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-length", "origin"]);

function reply(
  receiver: GrpcReceiving,
  stream: ServerHttp2Stream,
  signal: OtlpSignal,
  rejections: Rejections | null,
): void {
  receiver.onReply(0);
  if (stream.destroyed || stream.closed) return;
  endSoon(receiver, stream);
  stream.respond(REPLY_HEADERS, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(OK));
  const rejected = rejections?.rejected ?? 0;
  stream.end(frame(exportResponse(rejected, formatRejection(signal, rejections), { format: "protobuf", signal })));
}

/** The status alone, in the first frame; the rest of the body is not read. */
function refuse(receiver: GrpcReceiving, stream: ServerHttp2Stream, refused: Refusal): void {
  const { message, refusal, retryAfterSeconds = receiver.options.retryAfterSeconds } = refused;
  const trailers: Trailers = refusalTrailers(refusal, message, retryAfterSeconds);
  receiver.onReply(Number(trailers["grpc-status"]));
  if (stream.destroyed || stream.closed) return;
  endSoon(receiver, stream);
  stream.respond({ ...REPLY_HEADERS, ...trailers }, { endStream: true });
  stream.resume();
}

/** grpc-receiver.4. To the watch, the call is a body without progress. */
function endSoon({ accepting }: GrpcReceiving, stream: ServerHttp2Stream): void {
  const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;
  const end = (): void => stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
  stream.once("close", accepting.watch.add({ bytes: () => 0, tooSlow: end }));
}

const ignore = (): void => undefined;
