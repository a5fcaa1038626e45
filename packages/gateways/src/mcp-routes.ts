// MCP routes: `/mcp`, loaded at its first request.
// The pieces:
//   calls/         requests to the own API: start, follow and answer runs; forms for interrupts
//   mcp/           the Model Context Protocol: tools, calls, elicitation
//   a2a-routes.ts  the routes of the other protocol
//   a2a/           the Agent2Agent protocol
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { HttpRequest, HttpRoute } from "@holdpoint/base/http/server/app.ts";
import { replyOfResponse } from "@holdpoint/base/http/server/fetch-app.ts";
import type { Loopback } from "@holdpoint/base/http/server/loopback-client.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { createOwnApi } from "./calls/own-api.ts";
import { createAskedForms, type Marks } from "./mcp/asked-forms.ts";
import type { Endpoint } from "./mcp/endpoint.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";

export interface GatewayOptions {
  readonly loopback: Loopback;
  /** Path prefix of all addresses, or `""`. */
  readonly prefix: string;
  readonly version: string;
  /** Address of the server as people reach it, with its prefix. */
  readonly publicUrl: () => string;
  /** Rejects callers without credentials. @throws {ApiError} `unauthenticated` */
  readonly authenticate: (request: HttpRequest) => Promise<string>;
  readonly marks: Marks;
  /** Servers of langgraph.json; empty without any. */
  readonly authorizationServers: readonly string[];
  readonly onStop: (callback: () => void) => void;
  readonly assistantsVersion: () => Promise<string>;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly progressEveryMs: number;
  readonly log: Log;
}

export function mcpRoutes(options: GatewayOptions): readonly HttpRoute[] {
  let endpoint: Promise<Endpoint> | null = null;
  const open = async (): Promise<Endpoint> => {
    const { createEndpoint } = await import("./mcp/endpoint.ts");
    return createEndpoint({
      ...options,
      onError: (error) => options.log.debug("mcp_call_failed", { reason: error.message }),
    });
  };
  const handle = async (request: HttpRequest): Promise<HttpReply> => {
    let caller: string;
    try {
      caller = await options.authenticate(request);
    } catch (error) {
      throw challenged(error, options.publicUrl(), options.authorizationServers);
    }
    const isPost = request.method === "POST";
    const body = isPost ? await request.readBody() : undefined;
    const over = new AbortController();
    request.onDisconnect(() => over.abort(new Error("the client disconnected")));
    const response = await (
      await (endpoint ??= open())
    ).fetch({
      request: webRequest(request, over.signal),
      body: body?.value as never,
      api: createOwnApi(options.loopback, request, { via: "mcp", prefix: options.prefix, clock: options.clock }),
      asked: createAskedForms(options.marks, caller),
      caller,
    });
    return replyOfResponse(response, request.onDisconnect);
  };
  const mcp = (["post", "get", "delete"] as const).flatMap((method) =>
    ["/mcp", "/mcp/"].map((path) => ({ method, path, guarded: true, handle })),
  );
  const metadata = async (): Promise<HttpReply> => {
    return { status: 200, body: resourceMetadata(options.publicUrl(), options.authorizationServers) };
  };
  const paths = options.authorizationServers.length === 0 ? [] : [METADATA_PATH, `${METADATA_PATH}/mcp`];
  return [...mcp, ...paths.map((path) => ({ method: "get" as const, path, handle: metadata }))];
}

/** Without the body: the SDK gets it parsed. */
function webRequest({ method, url, headers }: HttpRequest, signal: AbortSignal): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) sent.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return new Request(`http://localhost${url}`, {
    method,
    headers: sent,
    signal,
  });
}

// Where clients find the authorization server (RFC 9728), and the challenge that names the place.

const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** @param publicUrl address of the server with its prefix */
function resourceMetadata(publicUrl: string, authorizationServers: readonly string[]): string {
  return JSON.stringify({
    resource: `${publicUrl}/mcp`,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
  });
}

/** A refusal for lack of credentials, with the place of the metadata; other errors as they are. */
function challenged(error: unknown, publicUrl: string, authorizationServers: readonly string[]): unknown {
  if (!(error instanceof ApiError) || error.code !== "unauthenticated") return error;
  const place = authorizationServers.length === 0 ? "" : ` resource_metadata="${publicUrl}${METADATA_PATH}"`;
  const headers = { ...error.headers, "WWW-Authenticate": `Bearer${place}` };
  return new ApiError(error.code, error.message, error.extra, headers);
}
