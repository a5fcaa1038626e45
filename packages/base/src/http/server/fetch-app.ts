// Fetch app: an app with the web's Request and Response, behind node:http.
// Invariants:
//   - The app receives at most `bytesMax` of a body, counted while read; beyond that the server replies itself.
//   - If the peer disconnects, the request's signal aborts and the reply's source is cancelled.
//   - A failing app fails only its own request: it throws, returns a non-Response, or breaks off.
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../api-error.ts";
import { refuseBody } from "./body.ts";
import type { HttpReply } from "./reply.ts";

export interface WebApp {
  /**
   * `first`: the app has its own route for this request, with precedence over the server's. `around`: it has only
   * middleware for it. `rest`: it handles requests without a server route. `none`: it has nothing either.
   */
  readonly claim: (method: string, path: string) => "first" | "around" | "rest" | "none";
  readonly fetch: (request: Request, inner: WebInner) => Response | Promise<Response>;
}

/** The server, from the app's side. Neither member throws: a refusal is a Response. */
export interface WebInner {
  /** Authorizes the caller for a route of the app's own. The env is for the app: `{auth}`. */
  readonly admit: () => Promise<{ readonly env: object } | { readonly refusal: Response }>;
  /** The server's own reply. @param read yields the body as text if the app has read it, else null. */
  readonly next: (read: (() => Promise<string>) | null) => Promise<Response>;
}

export interface WebCall {
  readonly incoming: IncomingMessage;
  /** Path and query for the app. */
  readonly target: string;
  readonly bytesMax: number;
  readonly inner: WebInner;
  readonly onDisconnect: (callback: () => void) => void;
}

/** @throws {ApiError} `body_too_large`, `method_not_allowed`, `not_found`; any error of the app */
export async function callFetchApp(app: WebApp, call: WebCall): Promise<HttpReply> {
  const controller = new AbortController();
  call.onDisconnect(() => controller.abort());
  const body = countedBody(call.incoming, call.bytesMax);
  const request = webRequest(call, body.stream, controller.signal);
  let response: unknown;
  try {
    response = await app.fetch(request, call.inner);
  } catch (error) {
    throw body.refusal() ?? error;
  }
  const refusal = body.refusal(); // the app does not know that the body is incomplete
  if (refusal !== null) throw refusal;
  if (!isResponse(response)) throw new Error("the custom app did not return a Response");
  return replyOfResponse(response, call.onDisconnect);
}

function webRequest(
  { incoming, target }: WebCall,
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Request {
  const { method = "GET", headers } = incoming;
  if (method === "TRACE" || method === "CONNECT")
    throw new ApiError("method_not_allowed", `${method} is not supported.`);
  const address = `http://${headers.host ?? "localhost"}${target}`;
  const url = new URL(URL.canParse(address) ? address : `http://localhost${target}`);
  // Dot segments, escaped or not: the checked path would differ from the served path.
  if (url.pathname !== target.split("?")[0]) throw new ApiError("not_found", "No route has this path.");
  const sent = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    sent.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  }
  const isBodiless = method === "GET" || method === "HEAD";
  return new Request(url, { method, headers: sent, signal, body: isBodiless ? null : body, duplex: "half" });
}

interface CountedBody {
  readonly stream: ReadableStream<Uint8Array> | null;
  /** Set once the body exceeds the limit. */
  readonly refusal: () => ApiError | null;
}

/** @throws {ApiError} `body_too_large` if its Content-Length exceeds the limit. */
function countedBody(incoming: IncomingMessage, bytesMax: number): CountedBody {
  let refused: ApiError | null = null;
  const refuse = (): ApiError => {
    refused = refuseBody(incoming, bytesMax);
    return refused;
  };
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (length > bytesMax) throw refuse();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let size = 0;
    // An app that reads half a body still sends its reply: the server discards the rest afterwards.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bytesMax) throw refuse();
      yield new Uint8Array(chunk);
    }
  }
  const isEmpty = length === 0 && incoming.headers["transfer-encoding"] === undefined;
  return { stream: isEmpty ? null : ReadableStream.from(chunks()), refusal: () => refused };
}

/** A reply of the server, from the app's side. */
export function toResponse({ status, body, headers = {} }: HttpReply): Response {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of typeof value === "string" ? [value] : value) sent.append(name, one);
  if (typeof body === "string" && !sent.has("content-type")) sent.set("content-type", "application/json");
  const stream = body === null || typeof body === "string" ? body : ReadableStream.from(encodeChunks(body));
  return new Response(stream, { status, headers: sent });
}

async function* encodeChunks(body: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of body) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

/** Checked by shape: an app may use its own Response class. */
function isResponse(value: unknown): value is Response {
  if (typeof value !== "object" || value === null || !("status" in value) || !("headers" in value)) return false;
  return typeof value.status === "number" && value.status >= 200 && value.status <= 599;
}

/** Headers of the connection, which belongs to the server. */
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "set-cookie"]);

/** A web Response as a reply of the server. */
export function replyOfResponse(response: Response, onDisconnect: WebCall["onDisconnect"]): HttpReply {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (!CONNECTION_HEADERS.has(name)) headers[name] = value;
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  return {
    status: response.status,
    headers,
    body: response.body === null ? null : pieces(response.body, onDisconnect),
  };
}

async function* pieces(
  body: ReadableStream<Uint8Array>,
  onDisconnect: WebCall["onDisconnect"],
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  onDisconnect(cancel); // also while waiting for the next chunk
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    cancel();
  }
}
