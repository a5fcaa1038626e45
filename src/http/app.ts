// App: routes → one request listener. Reads bodies, answers refusals, adds the headers that every reply has.
// Invariant AP1: every request gets exactly one reply, also when the route, the body or the peer fails.
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { readJsonBody, type JsonBody } from "./body.ts";
import { checkHost, corsHeaders, preflightHeaders } from "./browser.ts";
import { problemOf } from "./problem.ts";

export interface HttpRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** A name that comes several times has its values in one text, with commas between them. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Of the peer of the connection; empty when it has gone. */
  readonly remoteAddress: string;
  /** Once. A route that turns its caller away before it asks has cost them a head, not a body. */
  readonly readBody: () => Promise<JsonBody>;
  /** Calls back when the peer goes away before it has its reply. */
  readonly onHangUp: (callback: () => void) => void;
}

export interface HttpReply {
  readonly status: number;
  /** JSON text, other text with its Content-Type in the headers, or pieces over time. */
  readonly body: string | AsyncIterable<string | Uint8Array> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** `/threads/{thread_id}/runs` */
  readonly path: string;
  readonly handle: (request: HttpRequest) => Promise<HttpReply>;
}

export interface AppOptions {
  readonly routes: readonly HttpRoute[];
  readonly bodyBytesMax: number;
  /** The server listens on loopback only. */
  readonly loopback: boolean;
  readonly log: Log;
  readonly onReply: (route: HttpRoute | null, status: number, seconds: number) => void;
  readonly monotonic: () => number;
}

export function createApp(options: AppOptions): RequestListener {
  const find = createFinder(options.routes);
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const startedAt = options.monotonic();
    const { path, query } = splitUrl(incoming.url ?? "/");
    let route: HttpRoute | null = null;
    let reply: HttpReply;
    try {
      if (options.loopback) checkHost(incoming.headers.host);
      const found = find(incoming.method ?? "GET", path);
      if (found === "preflight") {
        const { origin, "access-control-request-headers": headers } = incoming.headers;
        return write(outgoing, { status: 204, body: null, headers: preflightHeaders(origin, headers) });
      }
      route = found.route;
      reply = await route.handle({
        method: incoming.method ?? "GET",
        url: incoming.url ?? "/",
        path,
        query,
        params: found.params,
        headers: incoming.headers,
        remoteAddress: incoming.socket.remoteAddress ?? "",
        readBody: () => readJsonBody(incoming, options.bodyBytesMax),
        onHangUp: (callback) => {
          outgoing.once("close", () => {
            if (!outgoing.writableFinished) callback();
          });
        },
      });
    } catch (error) {
      const { status, text, headers } = problemOf(error, options.log);
      reply = { status, headers, body: text };
    }
    options.onReply(route, reply.status, (options.monotonic() - startedAt) / 1000);
    const cors = corsHeaders(incoming.headers.origin);
    await write(outgoing, { ...reply, headers: { ...reply.headers, ...cors } });
  };
  return (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      options.log.warning("reply_failed", { reason: error instanceof Error ? error.message : String(error) });
      outgoing.destroy(); // AP1: a reply that cannot be finished is seen as cut, not as whole
    });
  };
}

interface Found {
  readonly route: HttpRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** What the router answers: handlers with their parameters, as text or as places in a list of texts. */
type Matches = readonly [
  handlers: readonly (readonly [HttpRoute, Readonly<Record<string, string | number>>])[],
  texts?: readonly string[],
];

/** @returns a function that throws {ApiError} `not_found` or `method_not_allowed` when no route fits. */
function createFinder(routes: readonly HttpRoute[]): (method: string, path: string) => Found | "preflight" {
  const router = new SmartRouter<HttpRoute>({ routers: [new RegExpRouter(), new TrieRouter()] });
  const methods = new Set<string>();
  for (const route of routes) {
    methods.add(route.method.toUpperCase());
    router.add(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), route);
  }
  const match = (method: string, path: string): Found | null => {
    const [handlers, stash] = router.match(method, path) as Matches;
    const first = handlers[0];
    if (first === undefined) return null;
    const params = Object.entries(first[1]).map(([name, value]): [string, string] => {
      const raw = typeof value === "number" ? (stash?.[value] ?? "") : value;
      return [name, decode(raw)];
    });
    return { route: first[0], params: Object.fromEntries(params) };
  };
  return (method, path) => {
    const found = match(method === "HEAD" ? "GET" : method, path);
    if (found !== null) return found;
    const others = [...methods].filter((other) => match(other, path) !== null);
    if (others.length === 0) throw new ApiError("not_found", "No such address; GET /openapi.json lists them.");
    if (method === "OPTIONS") return "preflight";
    const allow = others.join(", ");
    throw new ApiError("method_not_allowed", `This address takes ${allow}.`, {}, { Allow: allow });
  };
}

function decode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

function splitUrl(url: string): { readonly path: string; readonly query: Readonly<Record<string, string>> } {
  const mark = url.indexOf("?");
  if (mark < 0) return { path: url, query: {} };
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    query[name] = name in query ? `${query[name]},${value}` : value;
  }
  return { path: url.slice(0, mark), query: { ...query } };
}

async function write(outgoing: ServerResponse, { status, body, headers }: HttpReply): Promise<void> {
  if (typeof body === "string") {
    outgoing.writeHead(status, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      ...headers,
    });
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  if (body !== null) {
    for await (const piece of body) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(piece)) await Promise.race([once(outgoing, "drain"), once(outgoing, "close")]);
    }
  }
  outgoing.end();
}
