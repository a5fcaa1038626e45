// Exchange: one request of a sender and the reply to it. Rules: http-receiver.ts.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  nameContentType,
  exportResponse,
  REFUSALS,
  type Refusal,
  statusBody,
  type WireFormat,
} from "../otlp/status.ts";
import type { Rejections } from "./accept.ts";
import { discard } from "./read-body.ts";
import type { OtlpSignal } from "./signals.ts";

/** One request and its reply. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Format of refusals. JSON until the head says otherwise. */
  format: WireFormat;
}

/** The part of the receiver that a reply needs. */
interface Replying {
  readonly options: { readonly retryAfterSeconds: number };
  readonly ports: { readonly onReply: (status: number) => void };
}

export function refuse({ options, ports }: Replying, exchange: Exchange, refused: Refusal): void {
  const { request, response, format } = exchange;
  const { message, refusal, retryAfterSeconds = options.retryAfterSeconds } = refused;
  const [status] = REFUSALS[refusal];
  const body = statusBody(refusal, message, format);
  const headers: Record<string, string | number> = {
    "content-type": nameContentType(format),
    "content-length": body.length,
  };
  if (status === 503 || status === 429) headers["retry-after"] = retryAfterSeconds;
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (!response.headersSent) response.writeHead(status, headers).end(body);
  if (!request.complete) discard(request);
  ports.onReply(status);
}

/** `rejections` null: a signal that is not stored, accepted whole. */
export function reply(
  { ports }: Replying,
  { response, format }: Exchange,
  signal: OtlpSignal,
  rejections: Rejections | null,
): void {
  const rejected = rejections?.rejected ?? 0;
  const body = exportResponse(rejected, formatRejection(signal, rejections), { format, signal });
  response.writeHead(200, rejected === 0 ? WHOLE_REPLY[format] : buildHeaders(body, format));
  // A reply without a body or with a text body goes out in one write with the head; a buffer needs a second write (a
  // tenth of the cost).
  if (body.length === 0) response.end();
  else response.end(body.toString("latin1"), "latin1");
  ports.onReply(200);
}

/** "" without a rejected item. */
export function formatRejection(signal: OtlpSignal, rejections: Rejections | null): string {
  if (rejections === null || rejections.rejected === 0) return "";
  return `${rejections.rejected} ${signal === "logs" ? "log records" : "spans"} rejected: ${rejections.reason}`;
}

function buildHeaders(body: Buffer, format: WireFormat): string[] {
  return ["content-type", nameContentType(format), "content-length", String(body.length)];
}

/** Headers of the usual reply, created once. */
const WHOLE_REPLY: Readonly<Record<WireFormat, string[]>> = {
  json: buildHeaders(exportResponse(0, "", { format: "json", signal: "traces" }), "json"),
  protobuf: buildHeaders(exportResponse(0, "", { format: "protobuf", signal: "traces" }), "protobuf"),
};

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}
