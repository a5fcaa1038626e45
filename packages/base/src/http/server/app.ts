// App: routes → one request listener. Reads bodies, sends refusals, adds the common headers of every reply.
// The pieces:
//   request-path.ts   addresses, and the route of a path
//   loopback-host.ts  the checks of Host and of cross-site requests
//   cors.ts           origins that may call
//   body.ts           bodies as JSON, within their limits
//   body-turns.ts     large bodies, one after another
//   fetch-app.ts      the bridge to a custom app
//   problem.ts        errors as replies
//   write-reply.ts    a reply on its socket
//   app.ts            one request, from its head to its reply
//   reply.ts          the types of replies
//   sse.ts            events as a stream
//   long-poll.ts      a reply that may take hours
//   repeated-wait.ts  many waits for one promise
//   server.ts         the socket, with its limits
//   embedded-listener.ts  requests of a host program
//   loopback-client.ts    in-process requests
// Invariants:
//   - Every request gets exactly one reply, also if the route, the body or the peer fails.
//   - A custom app's own routes take precedence over the server's, and its middleware wraps them; a path that neither
//     serves is not found.
//   - The URL that handlers see comes from the routed path, never from the Host header.
//   - HEAD sends the head of the reply and ends: it does not wait for streamed chunks.
//   app.5. A long reply is encoded and written in pieces, with a turn of the event loop between two.
//   - No cache keeps a reply of a route, which is for its caller alone, unless the route says so.
//   - The cross-site check comes before every handler: routes of the server, routes and middleware of a custom app.
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError } from "../../api-error.ts";
import type { Log } from "../../log/log.ts";
import { type Address, type Found, parseAddress, createFinder } from "./request-path.ts";
import { type JsonBody, parseJsonBody, readForm, readJsonBody } from "./body.ts";
import { type BodyTurn, createBodyTurns, declaredBytes, type EnterBody, type TakesBodies } from "./body-turns.ts";
import { type LoopbackOrigin, findLoopbackOrigin } from "./loopback-client.ts";
import { type HostRules, checkHost, checkSite } from "./loopback-host.ts";
import { type CorsRules, createCors } from "./cors.ts";
import { toProblem } from "./problem.ts";
import type { HttpReply } from "./reply.ts";
import { type WebApp, type WebInner, callFetchApp, toResponse } from "./fetch-app.ts";
import { writeReply } from "./write-reply.ts";

export interface HttpRequest {
  readonly method: string;
  /** Prefix, path and query of the routed request: handlers decide about the same path. */
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
  /**
   * Reads the body, once. A route that rejects its caller first has read only the head.
   * @param bytesMax of this route; never more than that of the server
   */
  readonly readBody: (bytesMax?: number) => Promise<JsonBody>;
  /** The same for a form of HTML: its text as it was sent, for signatures. */
  readonly readForm: () => Promise<string>;
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
  /** Whether the memory takes large bodies of this size. Default: it takes all. */
  readonly takesBodies?: TakesBodies;
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

interface App {
  readonly options: AppOptions;
  readonly finder: ReturnType<typeof createFinder<HttpRoute>>;
  readonly cors: ReturnType<typeof createCors>;
  readonly enterBody: EnterBody;
}

/** One request and its reply. */
interface Exchange {
  readonly app: App;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly method: string;
  readonly onDisconnect: HttpRequest["onDisconnect"];
  /** Null until one answers. */
  route: HttpRoute | null;
}

/** Reads the body that a custom app passes on; null for the body of the request. */
type BodyReader = (() => Promise<string>) | null;

export function createApp(options: AppOptions): RequestListener {
  const enterBody = createBodyTurns(options.takesBodies);
  const app: App = { options, finder: createFinder(options.routes), cors: createCors(options.cors), enterBody };
  return (incoming, outgoing) => {
    serve(app, incoming, outgoing).catch((error: unknown) => {
      options.log.warning("reply_failed", { reason: error instanceof Error ? error.message : String(error) });
      outgoing.destroy(); // an incomplete reply must not look complete
    });
  };
}

async function serve(app: App, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { options, cors } = app;
  const startedAt = options.monotonic();
  const { method = "GET", headers } = incoming;
  const onDisconnect = (callback: () => void): void => {
    if (outgoing.destroyed && !outgoing.writableFinished) return callback();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished || method === "HEAD") callback(); // no reader for the rest
    });
  };
  const exchange: Exchange = { app, incoming, outgoing, method, onDisconnect, route: null };
  let reply: HttpReply;
  try {
    const answered = await answer(exchange);
    if (answered === null) return; // a preflight
    reply = answered;
  } catch (error) {
    reply = refusal(app, error);
  }
  options.onReply(exchange.route, reply.status, (options.monotonic() - startedAt) / 1000);
  const decided = "access-control-allow-origin" in (reply.headers ?? {}); // the custom app set its own
  const allowed = decided ? {} : cors.headers(headers.origin);
  const saysCache = Object.keys(reply.headers ?? {}).some((name) => name.toLowerCase() === "cache-control");
  const kept = exchange.route === null || saysCache ? {} : { "Cache-Control": "no-store" };
  await writeReply(outgoing, { ...reply, headers: { ...kept, ...reply.headers, ...allowed } }, method);
}

/** @returns null for a preflight, whose reply is written already */
async function answer(exchange: Exchange): Promise<HttpReply | null> {
  const { app, incoming, outgoing, method } = exchange;
  const { options, cors } = app;
  const { url = "/", headers } = incoming;
  checkHost(incoming, options.hosts);
  const address = parseAddress(url, options.prefix);
  if (address === null) throw new ApiError("not_found", `All paths are below ${options.prefix}/.`);
  const answerer = chooseAnswerer(app, method, address, headers);
  if (answerer.kind === "preflight") {
    const allowed = cors.preflight(headers.origin, headers["access-control-request-headers"]);
    await writeReply(outgoing, { status: 204, body: null, headers: allowed }, method);
    return null;
  }
  checkSite(incoming, cors.allows, "http.cors can allow an origin");
  if (answerer.kind === "custom") return callCustomApp(exchange, address, answerer.app);
  return callRoute(exchange, address, answerer, null);
}

function chooseAnswerer(app: App, method: string, { path }: Address, headers: IncomingHttpHeaders): Answerer {
  const { finder } = app;
  const { custom } = app.options;
  if (method === "OPTIONS") {
    const isPreflight = headers["access-control-request-method"] !== undefined;
    if (isPreflight || finder.knows(path)) return { kind: "preflight" }; // also for unknown paths, so that pages see the 404
  }
  const claim = custom === null ? "none" : custom.claim(method, path);
  if (custom !== null && (claim === "first" || claim === "around" || (claim === "rest" && !finder.knows(path))))
    return { kind: "custom", app: custom };
  return { kind: "route", ...finder.find(method, path) };
}

async function callRoute(
  exchange: Exchange,
  address: Address,
  { route, params }: Found<HttpRoute>,
  read: BodyReader,
): Promise<HttpReply> {
  const { app, incoming, method, onDisconnect } = exchange;
  const { headers } = incoming;
  exchange.route = route;
  let turn: BodyTurn | null = null;
  const readBody = async (bytesMax = Infinity): Promise<JsonBody> => {
    if (read !== null) return parseJsonBody(await read(), headers["content-type"], bytesMax);
    const limit = Math.min(bytesMax, app.options.bodyBytesMax);
    turn = await app.enterBody(declaredBytes(incoming, limit));
    const body = await readJsonBody(incoming, limit);
    turn.read();
    return body;
  };
  const readFormText = async (): Promise<string> =>
    read === null ? readForm(incoming, app.options.bodyBytesMax) : read();
  const origin = findLoopbackOrigin(incoming);
  const remoteAddress = origin?.remoteAddress ?? incoming.socket.remoteAddress ?? "";
  const { path, query } = address;
  const url = shownUrl(app, address);
  const request = {
    method,
    url,
    path,
    query,
    params,
    headers,
    remoteAddress,
    readBody,
    readForm: readFormText,
    onDisconnect,
  };
  const sent: HttpRequest = origin === null ? request : { ...request, via: origin.via };
  try {
    return placed(await route.handle(sent), app.options.prefix);
  } finally {
    (turn as BodyTurn | null)?.leave();
  }
}

/** The app answers itself, or passes the request on to a route of the server. */
async function callCustomApp(exchange: Exchange, address: Address, custom: CustomApp): Promise<HttpReply> {
  const { app, incoming, method, onDisconnect } = exchange;
  const { options, finder } = app;
  const { path, search } = address;
  const head: RequestHead = { method, url: shownUrl(app, address), headers: incoming.headers };
  const isOwn = custom.claim(method, path) === "around" && finder.knows(path);
  await custom.admitBefore(head, isOwn ? finder.find(method, path).route : null);
  const inner: WebInner = {
    admit: () =>
      custom.admit(head).then(
        (env) => ({ env }),
        (error: unknown) => ({ refusal: toResponse(refusal(app, error)) }),
      ),
    next: async (read) => {
      try {
        return toResponse(await callRoute(exchange, address, finder.find(method, path), read));
      } catch (error) {
        return toResponse(refusal(app, error));
      }
    },
  };
  const call = { incoming, target: `${path}${search}`, bytesMax: options.bodyBytesMax, inner, onDisconnect };
  return callFetchApp(custom, call);
}

function shownUrl({ options }: App, { path, search }: Address): string {
  return `${options.prefix}${path}${search}`;
}

function refusal({ options }: App, error: unknown): HttpReply {
  const { status, text, headers } = toProblem(error, options.log);
  return placed({ status, headers, body: text }, options.prefix);
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
