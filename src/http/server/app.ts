// App: routes → one request listener. Reads bodies, sends refusals, adds the common headers of every reply.
// Invariants:
//   app.1. Every request gets exactly one reply, also if the route, the body or the peer fails.
//   app.2. A custom app's own routes take precedence over the server's, and its middleware wraps them; a path that
//        neither serves is not found.
//   app.3. The URL that handlers see comes from the routed path, never from the Host header.
//   app.4. HEAD sends the head of the reply and ends: it does not wait for streamed chunks.
//   app.5. A long reply is encoded and written in pieces, with a turn of the event loop between two.
//   app.6. The cross-site check comes before every handler: routes of the server, routes and middleware of a custom
//        app.
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError } from "../../base/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import { type Address, type Found, addressOf, createFinder } from "./request-path.ts";
import { type JsonBody, jsonBodyOf, readJsonBody } from "./body.ts";
import { type LoopbackOrigin, loopbackOriginOf } from "./loopback-client.ts";
import { type HostRules, checkHost, checkSite } from "./loopback-host.ts";
import { type CorsRules, createCors } from "./cors.ts";
import { problemOf } from "./problem.ts";
import type { HttpReply } from "./reply.ts";
import { type WebApp, type WebInner, callFetchApp, responseOf } from "./fetch-app.ts";

export interface HttpRequest {
  readonly method: string;
  /** Prefix, path and query of the routed request: handlers decide about the same path (app.3). */
  readonly url: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** The values of a repeated name are one text, separated by commas. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Address of the connection's peer; empty after a disconnect. */
  readonly remoteAddress: string;
  /** The gateway that sent the request in the name of its caller; absent for other requests. */
  readonly via?: LoopbackOrigin["via"];
  /** Reads the body, once. A route that rejects its caller first has read only the head. */
  readonly readBody: () => Promise<JsonBody>;
  /** Calls back if the peer disconnects before the reply, and after the reply to a HEAD. */
  readonly onDisconnect: (callback: () => void) => void;
}

export interface HttpRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** `/threads/{thread_id}/runs` */
  readonly path: string;
  /** Authenticates its callers. */
  readonly guarded?: boolean;
  readonly handle: (request: HttpRequest) => Promise<HttpReply>;
}

/** A request before its body is read. */
export type RequestHead = Pick<HttpRequest, "method" | "url" | "headers">;

export interface CustomApp extends WebApp {
  /** Rejects callers without access to routes of the app; the app receives its result. */
  readonly admit: (head: RequestHead) => Promise<object>;
  /** Rejects callers before the app's middleware sees them. */
  readonly admitBefore: (head: RequestHead, route: HttpRoute | null) => Promise<void>;
}

export interface AppOptions {
  readonly routes: readonly HttpRoute[];
  readonly custom: CustomApp | null;
  /** `""`, or the prefix of all paths. */
  readonly prefix: string;
  readonly cors: CorsRules;
  readonly bodyBytesMax: number;
  readonly hosts: HostRules;
  readonly log: Log;
  readonly onReply: (route: HttpRoute | null, status: number, seconds: number) => void;
  readonly monotonic: () => number;
}

/** The responder: a route of ours, the custom app, or the CORS preflight. */
type Answerer =
  | { readonly kind: "route"; readonly route: HttpRoute; readonly params: HttpRequest["params"] }
  | { readonly kind: "custom"; readonly app: CustomApp }
  | { readonly kind: "preflight" };

export function createApp(options: AppOptions): RequestListener {
  const finder = createFinder(options.routes);
  const cors = createCors(options.cors);
  const answererOf = (method: string, { path }: Address, headers: IncomingHttpHeaders): Answerer => {
    const { custom: app } = options;
    if (method === "OPTIONS") {
      const isPreflight = headers["access-control-request-method"] !== undefined;
      if (isPreflight || finder.knows(path)) return { kind: "preflight" }; // also for unknown paths, so that pages see the 404
    }
    const claim = app === null ? "none" : app.claim(method, path);
    if (app !== null && (claim === "first" || claim === "around" || (claim === "rest" && !finder.knows(path))))
      return { kind: "custom", app }; // app.2
    return { kind: "route", ...finder.find(method, path) };
  };
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const startedAt = options.monotonic();
    const { method = "GET", url = "/", headers } = incoming;
    const onDisconnect = (callback: () => void): void => {
      if (outgoing.destroyed && !outgoing.writableFinished) return callback();
      outgoing.once("close", () => {
        if (!outgoing.writableFinished || method === "HEAD") callback(); // app.4: no reader for the rest
      });
    };
    let route: HttpRoute | null = null;
    const refuse = (error: unknown): HttpReply => {
      const { status, text, headers: own } = problemOf(error, options.log);
      return placed({ status, headers: own, body: text }, options.prefix);
    };
    let reply: HttpReply;
    try {
      checkHost(incoming, options.hosts);
      const address = addressOf(url, options.prefix);
      if (address === null) throw new ApiError("not_found", `All paths are below ${options.prefix}/.`);
      const { path, query, search } = address;
      const seen = `${options.prefix}${path}${search}`; // app.3
      const ask = async (found: Found<HttpRoute>, read: (() => Promise<string>) | null): Promise<HttpReply> => {
        const { params } = found;
        route = found.route;
        const readBody = async (): Promise<JsonBody> =>
          read === null
            ? readJsonBody(incoming, options.bodyBytesMax)
            : jsonBodyOf(await read(), headers["content-type"]);
        const origin = loopbackOriginOf(incoming);
        const remoteAddress = origin?.remoteAddress ?? incoming.socket.remoteAddress ?? "";
        const via = origin === null ? {} : { via: origin.via };
        const asked = {
          method,
          url: seen,
          path,
          query,
          params,
          headers,
          remoteAddress,
          ...via,
          readBody,
          onDisconnect,
        };
        return placed(await route.handle(asked), options.prefix);
      };
      const answerer = answererOf(method, address, headers);
      if (answerer.kind === "preflight") {
        const allowed = cors.preflight(headers.origin, headers["access-control-request-headers"]);
        return await write(outgoing, { status: 204, body: null, headers: allowed }, method);
      }
      checkSite(incoming, cors.allows, "http.cors can allow an origin"); // app.6
      if (answerer.kind === "custom") {
        const { app } = answerer;
        const head = { method, url: seen, headers };
        const isOwn = app.claim(method, path) === "around" && finder.knows(path);
        await app.admitBefore(head, isOwn ? finder.find(method, path).route : null);
        const inner: WebInner = {
          admit: () =>
            app.admit(head).then(
              (env) => ({ env }),
              (error: unknown) => ({ refusal: responseOf(refuse(error)) }),
            ),
          next: async (read) => {
            try {
              return responseOf(await ask(finder.find(method, path), read));
            } catch (error) {
              return responseOf(refuse(error));
            }
          },
        };
        const call = { incoming, target: `${path}${search}`, bytesMax: options.bodyBytesMax, inner, onDisconnect };
        reply = await callFetchApp(app, call);
      } else {
        reply = await ask(answerer, null);
      }
    } catch (error) {
      reply = refuse(error);
    }
    options.onReply(route, reply.status, (options.monotonic() - startedAt) / 1000);
    const decided = "access-control-allow-origin" in (reply.headers ?? {}); // the custom app set its own
    const allowed = decided ? {} : cors.headers(headers.origin);
    await write(outgoing, { ...reply, headers: { ...reply.headers, ...allowed } }, method);
  };
  return (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      options.log.warning("reply_failed", { reason: error instanceof Error ? error.message : String(error) });
      outgoing.destroy(); // app.1: an incomplete reply must not look complete
    });
  };
}

/** Header addresses, as clients see them. */
function placed(reply: HttpReply, prefix: string): HttpReply {
  if (prefix === "" || reply.headers === undefined) return reply;
  const headers = Object.entries(reply.headers).map(([name, value]): [string, string | string[]] => {
    const isAddress = name === "Location" || name === "Content-Location";
    return [name, isAddress && typeof value === "string" && value.startsWith("/") ? `${prefix}${value}` : value];
  });
  return { ...reply, headers: Object.fromEntries(headers) };
}

async function write(outgoing: ServerResponse, reply: HttpReply, method: string): Promise<void> {
  const { status, body, headers, stallMs } = reply;
  if (typeof body === "string") {
    outgoing.writeHead(status, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      ...headers,
    });
    if (body.length > PIECE_UNITS && method !== "HEAD") await writePieces(outgoing, body);
    else outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  if (body !== null && method === "HEAD") void body[Symbol.asyncIterator]().return?.(); // app.4
  else if (body !== null) {
    outgoing.flushHeaders(); // the first chunk may take long
    for await (const piece of body) {
      if (outgoing.destroyed) return;
      writeNow(outgoing, piece);
      if (outgoing.writableNeedDrain) await drained(outgoing, stallMs);
    }
  }
  outgoing.end();
}

const PIECE_UNITS = 512 * 1024;

/** app.5. */
async function writePieces(outgoing: ServerResponse, body: string): Promise<void> {
  for (let at = 0; at < body.length && !outgoing.destroyed;) {
    let end = Math.min(at + PIECE_UNITS, body.length);
    const last = body.charCodeAt(end - 1);
    if (end < body.length && last >= 0xd800 && last < 0xdc00) end--; // both halves of a character stay together
    outgoing.write(body.slice(at, end));
    at = end;
    await new Promise((resolve) => setImmediate(resolve));
    if (outgoing.writableNeedDrain && !outgoing.destroyed) await drained(outgoing, undefined);
  }
  outgoing.end();
}

/** In one write and at once: a graph that runs on without a pause would delay the chunk. */
function writeNow(outgoing: ServerResponse, piece: string | Uint8Array): void {
  const { socket } = outgoing;
  socket?.cork();
  outgoing.cork();
  outgoing.write(piece);
  outgoing.uncork();
  socket?.uncork();
}

/** Resolves once the peer has read the data, or has disconnected. */
function drained(outgoing: ServerResponse, stallMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stalled = stallMs === undefined ? undefined : setTimeout(() => outgoing.destroy(), stallMs);
    const done = (): void => {
      clearTimeout(stalled);
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
