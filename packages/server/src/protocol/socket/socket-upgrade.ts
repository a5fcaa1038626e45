// Socket upgrade: an upgrade request → a session of the thread protocol, or a closed socket that says why.
// Invariants:
//   - A refusal after the handshake has a close code of 4000 and the HTTP status: browsers take a refused handshake for
//     a network error and try again.
//   - A page of another origin opens no socket unless CORS allows the origin: browsers send cookies along.
//   - Credentials in a subprotocol are read and never sent back.
//   - A cookie counts for a page of another origin only where CORS allows credentials for the origin, as in other
//     calls.
//   - Only an admitted socket holds one of the places of its thread.
//   - A socket carries commands, so it is authenticated like a call that changes something: a session of the console
//     requires a page of its own origin.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { isUuid } from "@holdpoint/base/ids.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Cors } from "@holdpoint/base/http/server/cors.ts";
import { type HostRules, checkHost, checkSite, isFromElsewhere } from "@holdpoint/base/http/server/loopback-host.ts";
import { toApiError } from "@holdpoint/base/http/server/problem.ts";
import { parseAddress } from "@holdpoint/base/http/server/request-path.ts";
import { ANONYMOUS } from "../../auth/authorize.ts";
import type { AgentContext } from "../../context/context.ts";
import { withOrigin } from "../../routes/route.ts";
import { watchScope } from "../attach.ts";
import { CLOSED, startSession } from "./socket-session.ts";
import { redeemTicket } from "../socket-tickets.ts";

const PATH = /^\/threads\/([^/]+)\/stream\/events$/;
const FRAME_BYTES_MAX = 1024 * 1024;
const SOCKETS_MAX = 64;
const SUBPROTOCOL = "holdpoint";
const BEARER = /^bearer\.([\w-]+)$/;

export interface UpgradeRules {
  readonly prefix: string;
  readonly hosts: HostRules;
  readonly cors: Pick<Cors, "allows" | "headers">;
}

export type OnUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function createUpgrade(agent: AgentContext, rules: UpgradeRules): OnUpgrade {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const open = new Map<string, number>();
  return (incoming, raw, head) => {
    const threadId = parseThread(incoming, rules.prefix);
    if (threadId === null) {
      raw.end(
        "HTTP/1.1 404 Not Found\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
      );
      return;
    }
    sockets.handleUpgrade(incoming, raw, head, (socket) => {
      if (!isUuid(threadId)) return socket.close(4422, "invalid_request");
      void admit(agent, rules, { incoming, socket, threadId, takePlace: () => takePlace(open, threadId, socket) });
    });
  };
}

/** @returns false if the thread has no place left */
function takePlace(open: Map<string, number>, threadId: string, socket: WebSocket): boolean {
  const count = (open.get(threadId) ?? 0) + 1;
  if (count > SOCKETS_MAX || socket.readyState === socket.CLOSED) return false; // its "close" has been
  open.set(threadId, count);
  socket.once("close", () => {
    const rest = (open.get(threadId) ?? 1) - 1;
    if (rest === 0) open.delete(threadId);
    else open.set(threadId, rest);
  });
  return true;
}

function parseThread({ url = "" }: IncomingMessage, prefix: string): string | null {
  const path = parseAddress(url, prefix)?.path ?? "";
  return PATH.exec(path)?.[1]?.toLowerCase() ?? null;
}

interface Upgraded {
  readonly incoming: IncomingMessage;
  readonly socket: WebSocket;
  readonly threadId: string;
  readonly takePlace: () => boolean;
}

async function admit(
  agent: AgentContext,
  rules: UpgradeRules,
  { incoming, socket, threadId, takePlace }: Upgraded,
): Promise<void> {
  const early: { readonly data: unknown; readonly isBinary: boolean }[] = [];
  const keep = (data: unknown, isBinary: boolean): void => {
    if (early.length < EARLY_MAX) early.push({ data, isBinary });
    else socket.close(CLOSED.tooMany, "too many commands at once");
  };
  socket.on("message", keep); // frames that come while the caller is looked up
  socket.on("error", () => undefined);
  try {
    checkHost(incoming, rules.hosts);
    checkSite({ method: "POST", headers: incoming.headers }, rules.cors.allows, "http.cors can allow an origin");
    const request = await buildRequest(agent, rules, { incoming, threadId });
    const { access } = agent;
    const caller = withOrigin(access === null ? ANONYMOUS : await access.authenticate(request), request);
    const watch = await watchScope(agent, request, threadId, (error) => {
      const { status, code } = toApiError(error, agent.log);
      socket.close(4000 + status, code); // 4401 for credentials that are not valid any more, 4403 for a lost right
    });
    socket.off("message", keep);
    if (!takePlace()) {
      watch.stop();
      return socket.close(CLOSED.tooMany, "too many sockets");
    }
    startSession({ agent, socket, threadId, caller, request, watch });
    for (const { data, isBinary } of early) socket.emit("message", data, isBinary);
  } catch (error) {
    const { status, code } = toApiError(error, agent.log);
    socket.close(4000 + status, code);
  }
}

const EARLY_MAX = 16;

async function buildRequest(
  agent: AgentContext,
  { prefix, cors }: UpgradeRules,
  { incoming, threadId }: Pick<Upgraded, "incoming" | "threadId">,
) {
  const { url = "", socket } = incoming;
  const { path, query: given } = parseAddress(url, prefix) ?? { path: "", query: {} };
  const { ticket, ...query } = given as Readonly<Record<string, string>>;
  const own = withBearer(withoutCookie(incoming, cors, withoutKey(incoming.headers)));
  const headers = ticket === undefined ? own : { ...own, ...(await redeemTicket(agent, threadId, ticket)) };
  const refuse = (): never => {
    throw new ApiError("malformed_request", "An upgrade has no body.");
  };
  return {
    method: "POST",
    url: ticket === undefined ? url : `${prefix}${path}`, // without the ticket: handlers may log it
    path,
    params: { thread_id: threadId },
    query,
    headers: headers as IncomingMessage["headers"],
    remoteAddress: socket.remoteAddress ?? "",
    readBody: () => Promise.resolve().then(refuse),
    readForm: () => Promise.resolve().then(refuse),
    onDisconnect: () => undefined,
  };
}

function withoutCookie(
  incoming: IncomingMessage,
  cors: UpgradeRules["cors"],
  headers: IncomingMessage["headers"],
): IncomingMessage["headers"] {
  const { origin } = incoming.headers;
  if (!isFromElsewhere(incoming) || "Access-Control-Allow-Credentials" in cors.headers(origin)) return headers;
  const { cookie: _cookie, ...rest } = headers;
  return rest;
}

/** An Idempotency-Key of the upgrade would make all commands of the socket repetitions of the first. */
function withoutKey({ "idempotency-key": _key, ...headers }: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return headers;
}

/** Browsers set no headers on a socket: a subprotocol `bearer.<base64url>` stands for one. */
function withBearer(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  const token = offered.map((one) => BEARER.exec(one)?.[1]).find((one) => one !== undefined);
  if (token === undefined || headers.authorization !== undefined) return headers;
  return { ...headers, authorization: `Bearer ${Buffer.from(token, "base64url").toString("utf8")}` };
}
