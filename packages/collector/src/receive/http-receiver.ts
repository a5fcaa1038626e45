// HTTP receiver: routes and limits (receive → decode → translate → assemble → batch → encode → upload). Replies are in
// exchange.ts.
// Invariants:
//   - The receiver checks the key before it reads the body.
//   - It replies 2xx only to an export that accept.ts has accepted.
//   - Every refusal is a google.rpc.Status in the encoding of the request, and only a transient cause has Retry-After:
//     503, and 429 for a key over its limits.
//   - /live and /ready need no key. /live reports that the event loop runs; /ready that the receiver accepts new spans,
//     and that no acknowledged span is at risk.
//   - It refuses pages of other sites unless CORS_ALLOW_ORIGINS has their origin, and on loopback foreign Host headers
//     (loopback-host.ts).
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { checkHost, checkSite, type HostRules } from "@holdpoint/base/http/server/loopback-host.ts";
import type { RefusalKind } from "../otlp/status.ts";
import { accept, type Accepting, type AcceptLimits, type AcceptPorts } from "./accept.ts";
import { refuse, reply, sendText, type Exchange } from "./exchange.ts";
import { createProgressWatch } from "./read-body.ts";
import { readFormat, type HeadRules, readHead } from "./request-head.ts";
import { createSharedTurn } from "./shared-turn.ts";
import { type OtlpSignal, SIGNAL_OF_PATH } from "./signals.ts";

export interface ReceiveOptions extends HeadRules, AcceptLimits {
  readonly corsOrigins: readonly string[];
  readonly hosts: HostRules;
  readonly retryAfterSeconds: number;
}

export interface ReceivePorts extends AcceptPorts {
  /** null: nothing acknowledged is at risk. Otherwise the reason; requests are still accepted. */
  readonly atRisk: () => string | null;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly onReply: (status: number) => void;
}

const NOT_FOUND =
  "Unknown path. Send traces to POST /v1/traces, log records to /v1/logs; /live, /ready and /metrics report the collector's state.";

interface Receiving {
  readonly options: ReceiveOptions;
  readonly ports: ReceivePorts;
  readonly accepting: Accepting;
}

export function createReceiver(options: ReceiveOptions, ports: ReceivePorts): RequestListener {
  const watch = createProgressWatch(ports.clock);
  const accepting: Accepting = { limits: options, ports, watch, turn: createSharedTurn() };
  const receiver: Receiving = { options, ports, accepting };
  return (request, response) => {
    const url = request.url ?? "/";
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    response.on("error", ignore);
    const exchange: Exchange = { request, response, format: "json" };
    const stranger = findStranger(request, options);
    if (stranger !== null) return refuseAs(receiver, exchange, ...stranger);
    const signal = SIGNAL_OF_PATH.get(path);
    if (signal === undefined) onOther(receiver, exchange, path);
    else onSignal(receiver, exchange, signal);
  };
}

function onSignal(receiver: Receiving, exchange: Exchange, signal: OtlpSignal): void {
  const { request, response } = exchange;
  if (request.method === "POST") void exportItems(receiver, exchange, signal);
  else if (request.method === "OPTIONS") preflight(receiver, exchange);
  else {
    response.setHeader("allow", "POST");
    refuseAs(receiver, exchange, "method_not_allowed", `${signal} are sent with POST`);
  }
}

/** A refusal before the head is read: in the encoding that its Content-Type declares. */
function refuseAs(receiver: Receiving, exchange: Exchange, kind: RefusalKind, message: string): void {
  exchange.format = readFormat(exchange.request.headers["content-type"] ?? "") ?? "json";
  refuse(receiver, exchange, { refusal: kind, message });
}

function onOther(receiver: Receiving, exchange: Exchange, path: string): void {
  const { request, response } = exchange;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (isRead && path === "/live") return sendText(response, 200, "live\n");
  if (isRead && path === "/ready") {
    const why = receiver.ports.notReady() ?? receiver.ports.atRisk();
    return sendText(response, why === null ? 200 : 503, why === null ? "ready\n" : `${why}\n`);
  }
  if (isRead && path === "/metrics") return void showMetrics(receiver, response);
  refuseAs(receiver, exchange, "not_found", NOT_FOUND);
}

async function exportItems(receiver: Receiving, exchange: Exchange, signal: OtlpSignal): Promise<void> {
  const { request, response } = exchange;
  const head = readHead(request.rawHeaders, receiver.options);
  exchange.format = head.format;
  if ("refusal" in head) return refuse(receiver, exchange, head);
  allowOrigin(receiver, response, head.origin);
  const verdict = await accept(receiver.accepting, { signal, head, stream: request });
  if (verdict.kind === "accepted") return reply(receiver, exchange, signal, verdict.rejections);
  if (verdict.kind === "gone") return;
  refuse(receiver, exchange, verdict);
  if (verdict.refusal === "too_slow") request.destroy();
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
    return refuseAs(receiver, exchange, "forbidden_origin", "this origin is not in CORS_ALLOW_ORIGINS");
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
function findStranger(
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
