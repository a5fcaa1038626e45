// Endpoint: one HTTP request to `/a2a/{assistant_id}`, or for a card.
// Invariants:
//   - A refusal that concerns the rights of the caller has its HTTP status; other errors are 200, as JSON-RPC has them.
//   - A client that names no version gets the form of 0.3 with the interfaces of 1.0 in it, so that both read it.
import { AgentCard, formatSSEErrorEvent, formatSSEEvent } from "@a2a-js/sdk";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Clock } from "@holdpoint/base/clock.ts";
import { type Json, isJsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { SSE_HEADERS, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";
import { ApiRefusal, type OwnApi } from "../../calls/own-api.ts";
import { protocolError } from "../refusals.ts";
import { createRequestHandler } from "../request-handler.ts";
import { agentCard, type CardSource, extendedCard, findAssistant } from "./agent-card.ts";
import { errorReply, handleRpc, isStream, type Rpc, type RpcReply, parseRpc } from "./rpc.ts";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { type A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";

export interface EndpointOptions {
  readonly source: () => CardSource;
  readonly clock: Clock;
  /** Streams and waits end before the port waits for its replies. */
  readonly onStop: (callback: () => void) => void;
  readonly onError: (error: unknown) => void;
}

export interface EndpointCall {
  /** Null for a caller without credentials. */
  readonly api: OwnApi | null;
  /** In the address: the name of a graph, or the id of an assistant. */
  readonly assistant: string;
  /** Header `A2A-Version`, null without one. */
  readonly version: string | null;
}

export interface Endpoint {
  readonly post: (
    call: EndpointCall & { readonly api: OwnApi },
    body: Json | undefined,
    over: AbortSignal,
  ) => Promise<HttpReply>;
  /** @throws {ApiError} `assistant_not_found` */
  readonly card: (call: EndpointCall) => Promise<HttpReply>;
}

const HEARTBEAT_MS = 15_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  const stop = new AbortController();
  options.onStop(() => stop.abort(new Error("the server stops")));
  return {
    post: (call, body, over) => post(options, call, parseRpc(body, call.version), AbortSignal.any([over, stop.signal])),
    async card({ api, assistant: name, version }) {
      const known = api === null ? null : await findAssistant(api, name).catch(asApiError);
      return cardReply(agentCard(options.source(), name, known), version);
    },
  };
}

async function post(
  options: EndpointOptions,
  call: EndpointCall & { readonly api: OwnApi },
  rpc: Rpc,
  signal: AbortSignal,
): Promise<HttpReply> {
  const noted = { refusal: null as ApiRefusal | null };
  const api = notingRefusals(call.api, (refusal) => void (noted.refusal = refusal));
  const replied = await replyTo(options, { ...call, api }, rpc, signal);
  if (isStream(replied)) {
    const texts = encodeTexts(replied, rpc, options.onError);
    return { status: 200, headers: SSE_HEADERS, body: withHeartbeats(texts, options.clock, { everyMs: HEARTBEAT_MS }) };
  }
  const status = replied.error === undefined ? 200 : (noted.refusal?.status ?? 200);
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(replied) };
}

async function replyTo(
  { source }: EndpointOptions,
  { api, assistant: name }: EndpointCall & { readonly api: OwnApi },
  rpc: Rpc,
  signal: AbortSignal,
): Promise<RpcReply | AsyncGenerator<RpcReply>> {
  try {
    const assistant = await findAssistant(api, name);
    const common = source();
    const handler = createRequestHandler({
      api,
      assistantId: assistant.assistant_id,
      publicUrl: common.publicUrl,
      isLegacy: rpc.isLegacy,
      card: agentCard(common, name, assistant),
      extendedCard: () => extendedCard(api, common, name, assistant),
      signal,
    });
    return await handleRpc(rpc, handler);
  } catch (error) {
    return errorReply(rpc, protocolError(error));
  }
}

async function* encodeTexts(
  events: AsyncGenerator<RpcReply>,
  rpc: Rpc,
  onError: EndpointOptions["onError"],
): AsyncGenerator<string> {
  try {
    for await (const event of events) yield formatSSEEvent(event);
  } catch (error) {
    onError(error);
    yield formatSSEErrorEvent(errorReply(rpc, error));
  }
}

function notingRefusals(api: OwnApi, note: (refusal: ApiRefusal) => void): OwnApi {
  return {
    ...api,
    async call(...request) {
      try {
        return await api.call(...request);
      } catch (error) {
        if (error instanceof ApiRefusal && (error.status === 401 || error.status === 403)) note(error);
        throw error;
      }
    },
  };
}

function asApiError(error: unknown): never {
  if (!(error instanceof ApiRefusal) || error.status >= 500) throw error;
  throw new ApiError(error.status === 403 ? "forbidden" : "assistant_not_found", error.message);
}

/** An agent card in the form of the version that the client speaks. */
async function cardReply(card: AgentCard, version: string | null): Promise<HttpReply> {
  const current = AgentCard.toJSON(card) as { readonly supportedInterfaces: Json };
  const isLegacy = version === null || version.startsWith("0.");
  const body = isLegacy
    ? { ...(await legacyCard(card)), supportedInterfaces: current.supportedInterfaces }
    : (current as object);
  const headers = {
    "Content-Type": "application/json",
    "Cache-Control": "no-cache",
    Vary: "A2A-Version, Authorization",
  };
  return { status: 200, headers, body: JSON.stringify(body) };
}

/** The SDK translates cards only in its method for them. */
async function legacyCard(card: AgentCard): Promise<object> {
  const handler = { getAuthenticatedExtendedAgentCard: async () => card } as Partial<A2ARequestHandler>;
  const request = { jsonrpc: "2.0", id: 1, method: "agent/getAuthenticatedExtendedCard" };
  const transport = new LegacyJsonRpcTransportHandler(handler as A2ARequestHandler);
  const reply = (await transport.handle(request, new ServerCallContext())) as { readonly result?: unknown };
  if (!isJsonObject(reply.result)) throw new Error("the SDK returned no card");
  return reply.result;
}
