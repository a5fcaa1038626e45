// HTTP receiver: routes, limits and replies (receive → decode → translate → assemble → batch → encode → upload).
// Invariants:
//   http-receiver.1. The key is checked before any byte of the body is read.
//   http-receiver.2. 2xx is written only after `intake` has accepted the spans; in durable mode they are on disk by
//        then.
//   http-receiver.3. Every refusal is a google.rpc.Status in the encoding of the request, and only a transient cause is
//        503 with Retry-After.
//   http-receiver.4. /live and /ready need no key. /live reports that the event loop runs; /ready that new spans would
//        be accepted.
//   http-receiver.5. Pages of other sites are refused unless CORS_ALLOW_ORIGINS has their origin. On loopback, foreign
//        Host headers are refused (http/browser.ts).
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import { checkHost, checkSite, type HostRules } from "../../http/server/loopback-host.ts";
import type { Admission, Passage } from "./memory-admission.ts";
import { decode, decompress, TooLargeError } from "./decode-body.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import { DecodeError, type Decoded } from "../otlp/decoded.ts";
import {
  contentTypeOf,
  exportResponse,
  REFUSALS,
  type RefusalKind,
  statusBody,
  type WireFormat,
} from "../otlp/status.ts";
import { createProgressWatch, discard, readBody } from "./read-body.ts";
import { type HeadRules, readHead, type RequestHead } from "./request-head.ts";
import type { RequestContext } from "../shared/trace-run.ts";
import type { Tenant } from "../shared/tenants.ts";

interface ReceivedRequest {
  readonly head: RequestHead;
  readonly context: RequestContext;
  /** The received bytes, compressed as `head.encoding` declares. */
  readonly wire: Buffer;
  readonly decoded: Decoded;
}

export type Intake = (request: ReceivedRequest) => Promise<"taken" | "no_room" | "unwritable">;

export interface ReceiveOptions extends HeadRules {
  readonly bodyBytesMax: number;
  readonly decompressedBytesMax: number;
  readonly corsOrigins: readonly string[];
  readonly hosts: HostRules;
  readonly retryAfterSeconds: number;
}

export interface ReceivePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly admission: Admission;
  readonly tenants: (apiKey: string, tenantId: string) => Tenant;
  readonly intake: Intake;
  /** null: ready. Otherwise the reason. */
  readonly notReady: () => string | null;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly onReply: (status: number, spans: number) => void;
}

const TRACE_PATHS = new Set(["/v1/traces", "/v1/traces/", "/v1/traces/v1/traces", "/otel/v1/traces"]);
const OTHER_SIGNALS: Readonly<Record<string, string>> = {
  "/v1/logs": "This collector takes traces only. Turn the log exporter off, for example with OTEL_LOGS_EXPORTER=none.",
  "/v1/metrics":
    "This collector takes traces only. Turn the metric exporter off, for example with OTEL_METRICS_EXPORTER=none.",
};
const NOT_FOUND =
  "There is nothing here. Traces go to POST /v1/traces; /live, /ready and /metrics tell how this collector is.";

export function createReceiver(options: ReceiveOptions, ports: ReceivePorts): RequestListener {
  const watch = createProgressWatch(ports.clock);

  function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    kind: RefusalKind,
    message: string,
    format: WireFormat,
  ): void {
    const [status] = REFUSALS[kind];
    const body = statusBody(kind, message, format);
    const headers: Record<string, string | number> = {
      "content-type": contentTypeOf(format),
      "content-length": body.length,
    };
    if (status === 503) headers["retry-after"] = options.retryAfterSeconds; // http-receiver.3
    if (status === 401) headers["www-authenticate"] = "Bearer";
    if (!response.headersSent) response.writeHead(status, headers).end(body);
    if (!request.complete) discard(request);
    ports.onReply(status, 0);
  }

  async function exportTraces(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const head = readHead(request.rawHeaders, options); // http-receiver.1
    if ("refusal" in head) return refuse(request, response, head.refusal, head.message, head.format);
    allowOrigin(response, head.origin);
    const tenant = ports.tenants(head.apiKey, head.tenantId);
    const passage = ports.admission.enter(tenant.id);
    try {
      await takeIn(request, response, head, tenant, passage);
    } catch (error) {
      if (error instanceof DecodeError) refuse(request, response, "undecodable", error.message, head.format);
      else if (error instanceof TooLargeError) refuse(request, response, error.kind, error.message, head.format);
      else {
        // A defect here must not make senders drop the spans: they retry 503, but not 500.
        ports.log.error("request_failed", {
          reason: error instanceof Error ? (error.stack ?? error.message) : "unknown",
        });
        refuse(request, response, "no_room", "the collector failed on this request", head.format);
      }
    } finally {
      passage.leave();
    }
  }

  async function takeIn(
    request: IncomingMessage,
    response: ServerResponse,
    head: RequestHead,
    tenant: Tenant,
    passage: Passage,
  ): Promise<void> {
    const why = ports.notReady();
    if (why !== null) return refuse(request, response, "stopping", why, head.format);
    const read = await readBody(
      request,
      { bytesMax: options.bodyBytesMax, contentLength: head.contentLength, grow: passage.grow },
      watch,
    );
    if (read.kind === "gone") return;
    if (read.kind === "too_slow") {
      refuse(request, response, "too_slow", "the body came too slowly", head.format);
      return void request.destroy();
    }
    if (read.kind !== "read") throw new TooLargeError(read.kind);
    const limits = { bytesMax: options.decompressedBytesMax, grow: passage.grow };
    const body = head.encoding === "identity" ? read.body : await decompress(read.body, head.encoding, limits);
    if (body.length > options.decompressedBytesMax) throw new TooLargeError("too_large");
    const step = decode(body, head.format);
    const decoded = step instanceof Promise ? await step : step;
    if (body !== read.body) freeBuffer(body); // spans hold copies only
    const context: RequestContext = { tenant, project: head.project, receivedMs: ports.clock.now() };
    const taken = await ports.intake({ head, context, wire: read.body, decoded });
    if (taken === "no_room") throw new TooLargeError("no_room");
    if (taken === "unwritable")
      return refuse(request, response, "spool_unwritable", "the spool cannot be written", head.format);
    freeBuffer(read.body);
    reply(response, head.format, decoded); // http-receiver.2
  }

  function reply(response: ServerResponse, format: WireFormat, decoded: Decoded): void {
    const message = decoded.rejected > 0 ? `${decoded.rejected} spans rejected: ${decoded.reason}` : "";
    const body = exportResponse(decoded.rejected, message, format);
    response.writeHead(200, decoded.rejected === 0 ? WHOLE_REPLY[format] : headersOf(body, format));
    // No body, or a text body, is sent in one write with the head; a buffer needs a second write (a tenth of the cost).
    if (body.length === 0) response.end();
    else response.end(body.toString("latin1"), "latin1");
    ports.onReply(200, decoded.spans.length);
  }

  function allowOrigin(response: ServerResponse, origin: string): void {
    if (origin === "" || !options.corsOrigins.includes(origin)) return;
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("vary", "origin");
  }

  function preflight(request: IncomingMessage, response: ServerResponse): void {
    const origin = request.headers.origin ?? "";
    if (!options.corsOrigins.includes(origin))
      return refuse(request, response, "forbidden_origin", "this origin is not in CORS_ALLOW_ORIGINS", "json");
    allowOrigin(response, origin);
    response.setHeader("access-control-allow-methods", "POST");
    response.setHeader(
      "access-control-allow-headers",
      "content-type, content-encoding, x-api-key, x-tenant-id, tracing-project, authorization",
    );
    response.setHeader("access-control-max-age", "600");
    response.writeHead(204).end();
  }

  async function showMetrics(response: ServerResponse): Promise<void> {
    const { type, text } = await ports.metrics();
    sendText(response, 200, text, type);
  }

  return (request, response) => {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    response.on("error", ignore);
    const stranger = strangerOf(request, options); // http-receiver.5
    if (stranger !== null) return refuse(request, response, ...stranger, "json");
    if (TRACE_PATHS.has(path)) {
      if (request.method === "POST") void exportTraces(request, response);
      else if (request.method === "OPTIONS") preflight(request, response);
      else {
        response.setHeader("allow", "POST");
        refuse(request, response, "method_not_allowed", "traces are sent with POST", "json");
      }
      return;
    }
    if (request.method !== "GET" && request.method !== "HEAD")
      return refuse(request, response, "not_found", OTHER_SIGNALS[path] ?? NOT_FOUND, "json");
    if (path === "/live") return sendText(response, 200, "live\n");
    if (path === "/ready") {
      const why = ports.notReady(); // http-receiver.4
      return sendText(response, why === null ? 200 : 503, why === null ? "ready\n" : `${why}\n`);
    }
    if (path === "/metrics") {
      void showMetrics(response);
      return;
    }
    refuse(request, response, "not_found", OTHER_SIGNALS[path] ?? NOT_FOUND, "json");
  };
}

/** The reason to refuse this request: its Host header or its origin. */
function strangerOf(
  request: IncomingMessage,
  { hosts, corsOrigins }: ReceiveOptions,
): readonly [kind: RefusalKind, message: string] | null {
  try {
    checkHost(request, hosts);
    checkSite(request, (origin = "") => corsOrigins.includes(origin), "CORS_ALLOW_ORIGINS can allow an origin");
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message } = error;
    return [code === "forbidden_host" || code === "forbidden_origin" ? code : "bad_header", message];
  }
}

const ignore = (): void => undefined;

function headersOf(body: Buffer, format: WireFormat): string[] {
  return ["content-type", contentTypeOf(format), "content-length", String(body.length)];
}

/** Headers of the usual reply, created once. */
const WHOLE_REPLY: Readonly<Record<WireFormat, string[]>> = {
  json: headersOf(exportResponse(0, "", "json"), "json"),
  protobuf: headersOf(exportResponse(0, "", "protobuf"), "protobuf"),
};

function sendText(response: ServerResponse, status: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}
