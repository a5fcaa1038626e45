// Endpoint: one HTTP request to `/mcp`. Requests of revision 2026-07-28 are complete in themselves; those of 2025 get a
// session id that carries the client's facts, so that no session is stored.
// Invariants:
//   - A reply to an elicitation request answers its interrupt in whichever process it arrives, if the server has sent
//     that request to this caller.
import { type ServerEvent, type ServerEventBus, createMcpHandler } from "@modelcontextprotocol/server";
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { answerItems, isForOthers } from "../calls/answer-items.ts";
import { readFormAnswer } from "../calls/flat-form.ts";
import { findItem } from "../calls/inbox-items.ts";
import type { OwnApi } from "../calls/own-api.ts";
import { type AskedForms, NOT_ASKED } from "./asked-forms.ts";
import { encodeSessionId } from "./client-facts.ts";
import { parseElicitPlace } from "./elicit-ids.ts";
import { parseElicited } from "./elicitation.ts";
import { createElicitReplies, type ElicitRefusal } from "./pause-legacy.ts";
import { createRunningCalls } from "./running-calls.ts";
import { createMcpServer } from "./server.ts";
import { once } from "node:events";
import { SSE_HEADERS, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";

export interface EndpointOptions {
  readonly version: string;
  readonly publicUrl: () => string;
  readonly newId: () => string;
  readonly assistantsVersion: () => Promise<string>;
  readonly clock: Clock;
  /** Longest silence of a call whose client asked for progress. */
  readonly progressEveryMs: number;
  /** Streams and waits end before the port waits for its replies. */
  readonly onStop: (callback: () => void) => void;
  readonly onError: (error: Error) => void;
}

export interface EndpointRequest {
  readonly request: Request;
  /** Undefined without a body. */
  readonly body: Json | undefined;
  readonly api: OwnApi;
  readonly asked: AskedForms;
  /** Name of the caller; `""` without authentication. */
  readonly caller: string;
}

export interface Endpoint {
  readonly fetch: (call: EndpointRequest) => Promise<Response>;
  readonly close: () => Promise<void>;
}

const SESSION_HEADER = "mcp-session-id";

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { version, publicUrl, newId, clock, onError } = options;
  const stop = new AbortController();
  options.onStop(() => stop.abort(new Error("the server stops")));
  const bus = createListChanges(options.assistantsVersion, clock);
  const replies = createElicitReplies();
  const running = createRunningCalls();
  const handler = createMcpHandler(
    ({ era, authInfo, requestInfo }) =>
      createMcpServer({
        api: authInfo?.extra?.["api"] as OwnApi,
        asked: authInfo?.extra?.["asked"] as AskedForms,
        caller: authInfo?.extra?.["caller"] as string,
        publicUrl: publicUrl(),
        version,
        sessionId: requestInfo?.headers.get(SESSION_HEADER) ?? null,
        replies,
        running,
        clock,
        progressEveryMs: options.progressEveryMs,
        stopping: stop.signal,
        isLegacy: era === "legacy",
      }),
    { onerror: onError, bus },
  );
  return {
    async fetch({ request, body, api, asked, caller }) {
      if (request.method === "GET") {
        if (!takesEvents(request)) return notAcceptable();
        return noticeStream(bus, clock, AbortSignal.any([request.signal, stop.signal]));
      }
      if (request.method === "DELETE") return new Response(null, { status: 204 }); // sessions are not stored
      const message = isJsonObject(body) ? body : {};
      if (isReply(message)) {
        void takeReply({ api, asked }, message, replies.arrived).catch(onError);
        return new Response(null, { status: 202 });
      }
      if (message["method"] === "notifications/cancelled") cancelCall(message, request);
      const authInfo = { token: "", clientId: "", scopes: [], extra: { api, asked, caller } };
      const response = await handler.fetch(request, { authInfo, ...(body === undefined ? {} : { parsedBody: body }) });
      return message["method"] === "initialize" ? withSession(response, message) : response;
    },
    close: () => handler.close(),
  };

  function cancelCall({ params }: JsonObject, request: Request): void {
    const requestId = isJsonObject(params) ? params["requestId"] : undefined;
    if (typeof requestId !== "string" && typeof requestId !== "number") return;
    running.cancel({ sessionId: request.headers.get(SESSION_HEADER), requestId });
  }

  function withSession(response: Response, { params }: JsonObject): Response {
    const capabilities = isJsonObject(params) ? (params["capabilities"] ?? null) : null;
    const headers = new Headers(response.headers);
    headers.set(SESSION_HEADER, encodeSessionId(capabilities, newId));
    return new Response(response.body, { status: response.status, headers });
  }
}

/** A browser or curl accepts everything without asking for events: its stream would stay open unread. */
function takesEvents({ headers }: Request): boolean {
  return /(^|,)\s*text\/(event-stream|\*)\s*(;|,|$)/i.test(headers.get("accept") ?? "");
}

const notAcceptable = (): Response =>
  Response.json(
    {
      jsonrpc: "2.0",
      id: null,
      error: {
        code: -32_000,
        message:
          "Not acceptable: GET is the stream of notifications, and needs `Accept: text/event-stream`. Send calls with POST.",
      },
    },
    { status: 406 },
  );

function isReply(message: JsonObject): boolean {
  return "id" in message && !("method" in message) && ("result" in message || "error" in message);
}

async function takeReply(
  { api, asked }: Pick<EndpointRequest, "api" | "asked">,
  { id, result }: JsonObject,
  arrived: (id: string, refusal: ElicitRefusal | null) => void,
): Promise<void> {
  const place = parseElicitPlace(id);
  if (place === null) return;
  const settle = (refusal: ElicitRefusal | null): void => arrived(id as string, refusal);
  const elicited = parseElicited(result);
  if (elicited === null || elicited.action !== "accept") return settle({ kind: "declined" });
  const item = await findItem(api, place.threadId, place.interruptId);
  if (item === null || item.state !== "open" || Object.keys(elicited.content).length === 0) return; // a link was opened
  if (!(await asked.has(item.id))) return settle({ kind: "refused", reason: NOT_ASKED });
  const answer = readFormAnswer(item, elicited.content);
  if (!answer.ok) return settle({ kind: "refused", reason: answer.reason });
  const [answered] = await answerItems(api, [{ item, resume: answer.resume }]);
  if (answered === undefined || answered.ok) return settle(null);
  settle({ kind: isForOthers(answered) ? "for_others" : "refused", reason: answered.reason });
}

const HEARTBEAT_MS = 15_000;
const CHANGED = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`;

/** The `GET` stream of the 2025 revisions, with notifications outside of calls. Ends with the signal of the request. */
function noticeStream(bus: ServerEventBus, clock: Clock, signal: AbortSignal): Response {
  const pieces = withHeartbeats(notices(bus, signal), clock, { everyMs: HEARTBEAT_MS });
  const encoder = new TextEncoder();
  const body = ReadableStream.from(
    (async function* bytes() {
      for await (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece;
    })(),
  );
  return new Response(body, { headers: { ...SSE_HEADERS } });
}

async function* notices(bus: ServerEventBus, signal: AbortSignal): AsyncGenerator<string> {
  let changed = Promise.withResolvers<boolean>();
  const leave = bus.subscribe(() => changed.resolve(true));
  const over = signal.aborted ? Promise.resolve(false) : once(signal, "abort").then(() => false);
  try {
    while (await Promise.race([changed.promise, over])) {
      changed = Promise.withResolvers<boolean>();
      yield CHANGED; // several changes before a reader comes back are one
    }
  } finally {
    leave();
  }
}

// Notifies readers of a changed list of assistants. Without a reader, nothing reads the storage.

const POLL_MS = 5000;

/** @param version changes with every change of the assistants, in any process */
function createListChanges(version: () => Promise<string>, clock: Pick<Clock, "after">): ServerEventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  let seen: string | null = null;
  let cancel: (() => void) | null = null;
  const versionOr = async (known: string | null): Promise<string | null> => {
    try {
      return await version();
    } catch {
      return known; // the storage is busy, or closed by now
    }
  };
  const publish = (event: ServerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const poll = async (): Promise<void> => {
    const now = await versionOr(seen);
    if (seen !== null && now !== seen) publish({ kind: "tools_list_changed" });
    seen = now;
    if (listeners.size > 0) cancel = clock.after(POLL_MS, () => void poll());
  };
  return {
    publish,
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) void poll();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        cancel?.();
        seen = null;
      };
    },
  };
}
