// Web: an app that speaks the web's Request and Response, behind node:http.
// Invariants:
//   WE1. No more than `bytesMax` of a body are passed on, counted as they are read; then the reply is ours.
//   WE2. When the peer goes away, the request's signal aborts and the reply's source is cancelled.
//   WE3. Whatever the app does is this request's fault only: it throws, answers with something else, or breaks off.
import type { IncomingMessage } from "node:http";
import { ApiError } from "../base/errors.ts";
import type { HttpReply } from "./app.ts";

export interface WebApp {
  /**
   * `first`: the app has a route of its own for this, which wins over the server's. `around`: it has only middleware
   * for this. `rest`: it takes this when the server has nothing there. `none`: it has nothing either.
   */
  readonly claim: (method: string, path: string) => "first" | "around" | "rest" | "none";
  readonly fetch: (request: Request, inner: WebInner) => Response | Promise<Response>;
}

/** The server, as an app calls it. Neither throws: a refusal is a Response. */
export interface WebInner {
  /** Lets the caller in to a route of the app's own. The env is for the app: `{auth}`. */
  readonly admit: () => Promise<{ readonly env: object } | { readonly refusal: Response }>;
  /** The server's own reply. @param read gives the body as text where the app has read it; null where it has not. */
  readonly next: (read: (() => Promise<string>) | null) => Promise<Response>;
}

export interface WebCall {
  readonly incoming: IncomingMessage;
  /** Path and query as the app shall see them. */
  readonly target: string;
  readonly bytesMax: number;
  readonly inner: WebInner;
  readonly onHangUp: (callback: () => void) => void;
}

/** @throws {ApiError} `body_too_large`, `method_not_allowed`, `not_found`; whatever the app throws */
export async function askWebApp(app: WebApp, call: WebCall): Promise<HttpReply> {
  const controller = new AbortController();
  call.onHangUp(() => controller.abort()); // WE2
  const body = countedBody(call.incoming, call.bytesMax);
  const request = webRequest(call, body.stream, controller.signal);
  let response: unknown;
  try {
    response = await app.fetch(request, call.inner);
  } catch (error) {
    throw body.refusal() ?? error;
  }
  const refusal = body.refusal(); // an app that answers to a body cut short knows less than we do
  if (refusal !== null) throw refusal;
  if (!isResponse(response)) throw new Error("the custom app did not answer with a Response"); // WE3
  return replyOf(response, call.onHangUp);
}

function webRequest(
  { incoming, target }: WebCall,
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Request {
  const { method = "GET", headers } = incoming;
  if (method === "TRACE" || method === "CONNECT") throw new ApiError("method_not_allowed", `${method} is not served.`);
  const address = `http://${headers.host ?? "localhost"}${target}`;
  const url = new URL(URL.canParse(address) ? address : `http://localhost${target}`);
  // Dot segments, escaped or not: the path that was looked at would not be the path that is served.
  if (url.pathname !== target.split("?")[0]) throw new ApiError("not_found", "No such address.");
  const sent = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    sent.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  }
  const isBodiless = method === "GET" || method === "HEAD";
  return new Request(url, { method, headers: sent, signal, body: isBodiless ? null : body, duplex: "half" });
}

interface CountedBody {
  readonly stream: ReadableStream<Uint8Array> | null;
  /** Set once there was too much of it. */
  readonly refusal: () => ApiError | null;
}

/** @throws {ApiError} `body_too_large` when its header says so. */
function countedBody(incoming: IncomingMessage, bytesMax: number): CountedBody {
  let refused: ApiError | null = null;
  const refuse = (): ApiError => {
    refused = new ApiError(
      "body_too_large",
      `The body may have at most ${bytesMax} bytes.`,
      {},
      { Connection: "close" },
    );
    return refused;
  };
  const length = Number(incoming.headers["content-length"] ?? 0);
  if (length > bytesMax) throw refuse();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let size = 0;
    // An app that reads half a body is no reason to cut its reply off: the rest is thrown away after the reply.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > bytesMax) throw refuse(); // WE1
      yield new Uint8Array(chunk);
    }
  }
  const isEmpty = length === 0 && incoming.headers["transfer-encoding"] === undefined;
  return { stream: isEmpty ? null : ReadableStream.from(chunks()), refusal: () => refused };
}

/** A reply of the server as an app sees it. */
export function responseOf({ status, body, headers = {} }: HttpReply): Response {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const one of typeof value === "string" ? [value] : value) sent.append(name, one);
  if (typeof body === "string" && !sent.has("content-type")) sent.set("content-type", "application/json");
  const stream = body === null || typeof body === "string" ? body : ReadableStream.from(bytesOf(body));
  return new Response(stream, { status, headers: sent });
}

async function* bytesOf(body: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of body) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

/** By shape: an app may bring a Response of its own. */
function isResponse(value: unknown): value is Response {
  if (typeof value !== "object" || value === null || !("status" in value) || !("headers" in value)) return false;
  return typeof value.status === "number" && value.status >= 200 && value.status <= 599;
}

/** Headers that belong to the connection, which is ours. */
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "set-cookie"]);

function replyOf(response: Response, onHangUp: WebCall["onHangUp"]): HttpReply {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of response.headers) if (!CONNECTION_HEADERS.has(name)) headers[name] = value;
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  return { status: response.status, headers, body: response.body === null ? null : pieces(response.body, onHangUp) };
}

async function* pieces(body: ReadableStream<Uint8Array>, onHangUp: WebCall["onHangUp"]): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  onHangUp(cancel); // WE2: also while the next piece is awaited
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
