// Loopback: in-process requests to this server's own listener: no port, no network, the same rules for callers.
// Invariants:
//   - A loopback request is parsed, authenticated and limited like every other one. Its origin grants no trust.
//   - Only path and query of a URL count; its host is this server. With `keepsHost` the URL's host is the Host header:
//     the browser checks compare it with the origin.
//   - Headers of the in-process connection do not leave with the response.
//   - The origin travels with the connection, not with a header: no request from outside can set it.
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { duplexPair, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Post, PostLimits, PostOutcome } from "../outbound/guarded-post.ts";

export type Loopback = (
  input: string | URL | Request,
  init?: RequestInit,
  origin?: LoopbackOrigin,
) => Promise<Response>;

/** The request that a loopback request serves, for the audit trail. */
export interface LoopbackOrigin {
  readonly remoteAddress: string;
  /** The gateway between the caller and the API. */
  readonly via: "mcp" | "a2a";
}

/** Not imported: server.ts says why. */
const { createServer, request: httpRequest } = process.getBuiltinModule("node:http");
const BASE = "http://localhost";
const BODILESS_STATUSES = new Set([204, 205, 304]);
const OF_THE_CONNECTION = new Set(["connection", "keep-alive", "transfer-encoding"]);

export function createLoopback(listener: RequestListener, { keepsHost = false } = {}): Loopback {
  const server = createServer({ keepAliveTimeout: 1 }, listener); // never listens: receives its connections directly
  return async (input, init, origin) => {
    const request = new Request(typeof input === "string" ? new URL(input, BASE) : input, {
      ...init,
      ...(init?.body instanceof ReadableStream ? { duplex: "half" } : {}),
    });
    const { pathname, search, host } = new URL(request.url);
    const [near, far] = duplexPair();
    if (origin !== undefined) origins.set(far, origin);
    server.emit("connection", far);
    const outgoing = httpRequest({
      createConnection: () => near,
      method: request.method,
      path: `${pathname}${search}`,
      headers: { ...copyHeaders(request.headers), host: keepsHost ? host : "localhost", connection: "close" },
      signal: request.signal,
    });
    const replied = once(outgoing, "response") as Promise<[IncomingMessage]>;
    if (request.body === null) outgoing.end();
    else await Promise.race([pipeline(Readable.fromWeb(request.body), outgoing), replied]);
    const [incoming] = await replied;
    return toResponse(incoming, request.method);
  };
}

const origins = new WeakMap<object, LoopbackOrigin>();

/** The origin of a request that a gateway sent, null for every other request. */
export function findLoopbackOrigin(incoming: IncomingMessage): LoopbackOrigin | null {
  return origins.get(incoming.socket) ?? null;
}

/** One POST to a route of this server, with the limits of an outbound one. Never throws. */
export async function postHere(
  loopback: Loopback,
  target: string,
  post: Post,
  { timeoutMs, signal }: PostLimits & { readonly signal: AbortSignal },
): Promise<PostOutcome> {
  try {
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const { status, body } = await loopback(target, {
      method: "POST",
      headers: post.headers,
      body: post.body,
      signal: either,
    });
    await body?.cancel();
    return { kind: "replied", status };
  } catch (error) {
    return { kind: "failed", reason: error instanceof Error ? error.message : "request failed" };
  }
}

function copyHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name !== "content-length" && name !== "connection"));
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
    const name = incoming.rawHeaders[at] ?? "";
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) headers.append(name, incoming.rawHeaders[at + 1] ?? "");
  }
  const status = incoming.statusCode ?? 500;
  const isBodiless = method === "HEAD" || BODILESS_STATUSES.has(status);
  if (isBodiless) incoming.resume();
  return new Response(isBodiless ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>), {
    status,
    headers,
  });
}
