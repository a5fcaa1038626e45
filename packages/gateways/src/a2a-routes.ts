// A2A routes: `/a2a/{assistant_id}` and the agent cards, loaded at the first request.
// The pieces:
//   calls/          requests to the own API: start, follow and answer runs; forms for interrupts
//   a2a/            the Agent2Agent protocol: tasks, messages, questions
//   a2a/endpoint/   one HTTP request: versions, streams, cards
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { Loopback } from "@holdpoint/base/http/server/loopback-client.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { Endpoint } from "./a2a/endpoint/endpoint.ts";
import type { Authentication } from "./a2a/endpoint/security-schemes.ts";
import { createOwnApi, type OwnApi } from "./calls/own-api.ts";

export interface A2aOptions {
  readonly loopback: Loopback;
  /** Path prefix of all addresses, or `""`. */
  readonly prefix: string;
  readonly version: string;
  /** Address of the server as other agents reach it, with its prefix. */
  readonly publicUrl: () => string;
  /** Rejects callers without credentials. @throws {ApiError} `unauthenticated` */
  readonly authenticate: (request: HttpRequest) => Promise<unknown>;
  readonly authentication: Authentication;
  /** Schemes of langgraph.json, in OpenAPI's form. */
  readonly securitySchemes: JsonObject;
  readonly onStop: (callback: () => void) => void;
  readonly clock: Clock;
  readonly log: Log;
}

const CARD = "/.well-known/agent-card.json";
/** Where older clients look. */
const OLDER_CARD = "/.well-known/agent.json";

export function a2aRoutes(options: A2aOptions): readonly HttpRoute[] {
  let endpoint: Promise<Endpoint> | null = null;
  const open = async (): Promise<Endpoint> => {
    const { createEndpoint } = await import("./a2a/endpoint/endpoint.ts");
    return createEndpoint({
      ...options,
      source: () => ({ ...options, publicUrl: options.publicUrl() }),
      onError: (error) => options.log.debug("a2a_call_failed", { reason: String(error) }),
    });
  };
  const openOwnApi = (request: HttpRequest): OwnApi =>
    createOwnApi(options.loopback, request, { via: "a2a", prefix: options.prefix, clock: options.clock });
  const post = async (request: HttpRequest): Promise<HttpReply> => {
    await options.authenticate(request);
    const { value } = await request.readBody();
    const over = new AbortController();
    request.onDisconnect(() => over.abort(new Error("the client disconnected")));
    const call = {
      api: openOwnApi(request),
      assistant: request.params["assistant_id"] ?? "",
      version: readVersion(request),
    };
    return (await (endpoint ??= open())).post(call, value as Json | undefined, over.signal);
  };
  const card = async (request: HttpRequest): Promise<HttpReply> => {
    const assistant = request.params["assistant_id"] ?? request.query["assistant_id"] ?? "";
    if (assistant === "")
      throw new ApiError("invalid_request", "Name an assistant: /.well-known/agent-card.json?assistant_id=…");
    const isKnown = await options.authenticate(request).then(
      () => true,
      () => false,
    );
    const call = { api: isKnown ? openOwnApi(request) : null, assistant, version: readVersion(request) };
    return (await (endpoint ??= open())).card(call);
  };
  return [
    { method: "post", path: "/a2a/{assistant_id}", guarded: true, handle: post },
    { method: "post", path: "/a2a/{assistant_id}/", guarded: true, handle: post },
    ...[CARD, OLDER_CARD].flatMap((path) => [
      { method: "get" as const, path, handle: card },
      { method: "get" as const, path: `/a2a/{assistant_id}${path}`, handle: card },
    ]),
  ];
}

function readVersion({ headers }: HttpRequest): string | null {
  const version = headers["a2a-version"];
  return typeof version === "string" && version !== "" ? version : null;
}
