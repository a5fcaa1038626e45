// HTTP receiver: routes and limits (receive → decode → translate → assemble → batch → encode → upload). Replies are in
// exchange.ts.
// Invariants:
//   http-receiver.1. The receiver checks the key before it reads the body.
//   http-receiver.2. It replies 2xx only after `intake` has accepted the spans; in durable mode they are on disk by
//        then.
//   http-receiver.3. Every refusal is a google.rpc.Status in the encoding of the request, and only a transient cause is
//        503 with Retry-After.
//   http-receiver.4. /live and /ready need no key. /live reports that the event loop runs; /ready that the receiver
//        accepts new spans, and that no acknowledged span is at risk.
//   http-receiver.5. It refuses pages of other sites unless CORS_ALLOW_ORIGINS has their origin, and on loopback
//        foreign Host headers (loopback-host.ts).
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import { checkHost, checkSite, type HostRules } from "../../http/server/loopback-host.ts";
import type { Admission, Passage } from "./memory-admission.ts";
import { decode, decompress, TooLargeError } from "./decode-body.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import { DecodeError, type Decoded } from "../otlp/decoded.ts";
import type { RefusalKind } from "../otlp/status.ts";
import { refuse, reply, sendText, type Exchange } from "./exchange.ts";
import { createProgressWatch, readBody, type ProgressWatch } from "./read-body.ts";
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
  /** null: nothing acknowledged is at risk. Otherwise the reason; requests are still accepted. */
  readonly atRisk: () => string | null;
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
  "Unknown path. Send traces to POST /v1/traces; /live, /ready and /metrics report the collector's state.";

interface Receiving {
  readonly options: ReceiveOptions;
  readonly ports: ReceivePorts;
  readonly watch: ProgressWatch;
}

export function createReceiver(options: ReceiveOptions, ports: ReceivePorts): RequestListener {
  const receiver: Receiving = { options, ports, watch: createProgressWatch(ports.clock) };
  return (request, response) => {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    response.on("error", ignore);
    const exchange: Exchange = { request, response, format: "json" };
    const stranger = strangerOf(request, options); // http-receiver.5
    if (stranger !== null) refuse(receiver, exchange, ...stranger);
    else if (TRACE_PATHS.has(path)) onTraces(receiver, exchange);
    else onOther(receiver, exchange, path);
  };
}

function onTraces(receiver: Receiving, exchange: Exchange): void {
  const { request, response } = exchange;
  if (request.method === "POST") void exportTraces(receiver, exchange);
  else if (request.method === "OPTIONS") preflight(receiver, exchange);
  else {
    response.setHeader("allow", "POST");
    refuse(receiver, exchange, "method_not_allowed", "traces are sent with POST");
  }
}

function onOther(receiver: Receiving, exchange: Exchange, path: string): void {
  const { request, response } = exchange;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead && path === "/live") return sendText(response, 200, "live\n");
  if (isRead && path === "/ready") {
    const why = receiver.ports.notReady() ?? receiver.ports.atRisk(); // http-receiver.4
    return sendText(response, why === null ? 200 : 503, why === null ? "ready\n" : `${why}\n`);
  }
  if (isRead && path === "/metrics") return void showMetrics(receiver, response);
  refuse(receiver, exchange, "not_found", OTHER_SIGNALS[path] ?? NOT_FOUND);
}

async function exportTraces(receiver: Receiving, exchange: Exchange): Promise<void> {
  const { options, ports } = receiver;
  const head = readHead(exchange.request.rawHeaders, options); // http-receiver.1
  exchange.format = head.format;
  if ("refusal" in head) return refuse(receiver, exchange, head.refusal, head.message);
  allowOrigin(receiver, exchange.response, head.origin);
  const tenant = ports.tenants(head.apiKey, head.tenantId);
  const passage = ports.admission.enter(tenant.id);
  try {
    await takeIn(receiver, exchange, { head, tenant, passage });
  } catch (error) {
    if (error instanceof DecodeError) refuse(receiver, exchange, "undecodable", error.message);
    else if (error instanceof TooLargeError) refuse(receiver, exchange, error.kind, error.message);
    else {
      // A defect here must not make senders drop the spans: they retry 503, but not 500.
      ports.log.error("request_failed", {
        reason: error instanceof Error ? (error.stack ?? error.message) : "unknown",
      });
      refuse(receiver, exchange, "no_room", "the collector failed on this request");
    }
  } finally {
    passage.leave();
  }
}

interface Admitted {
  readonly head: RequestHead;
  readonly tenant: Tenant;
  readonly passage: Passage;
}

async function takeIn(receiver: Receiving, exchange: Exchange, { head, tenant, passage }: Admitted): Promise<void> {
  const { options, ports, watch } = receiver;
  const { request } = exchange;
  const why = ports.notReady();
  if (why !== null) return refuse(receiver, exchange, "stopping", why);
  const read = await readBody(
    request,
    { bytesMax: options.bodyBytesMax, contentLength: head.contentLength, grow: passage.grow },
    watch,
  );
  if (read.kind === "gone") return;
  if (read.kind === "too_slow") {
    refuse(receiver, exchange, "too_slow", "the body came too slowly");
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
  if (taken === "unwritable") return refuse(receiver, exchange, "spool_unwritable", "the spool cannot be written");
  freeBuffer(read.body);
  reply(receiver, exchange, decoded); // http-receiver.2
}

function allowOrigin({ options }: Receiving, response: ServerResponse, origin: string): void {
  if (origin === "" || !options.corsOrigins.includes(origin)) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
}

function preflight(receiver: Receiving, exchange: Exchange): void {
  const { request, response } = exchange;
  const origin = request.headers.origin ?? "";
  if (!receiver.options.corsOrigins.includes(origin))
    return refuse(receiver, exchange, "forbidden_origin", "this origin is not in CORS_ALLOW_ORIGINS");
  allowOrigin(receiver, response, origin);
  response.setHeader("access-control-allow-methods", "POST");
  response.setHeader(
    "access-control-allow-headers",
    "content-type, content-encoding, x-api-key, x-tenant-id, tracing-project, authorization",
  );
  response.setHeader("access-control-max-age", "600");
  response.writeHead(204).end();
}

async function showMetrics({ ports }: Receiving, response: ServerResponse): Promise<void> {
  const { type, text } = await ports.metrics();
  sendText(response, 200, text, type);
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
