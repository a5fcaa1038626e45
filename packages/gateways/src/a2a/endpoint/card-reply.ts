// Card reply: an agent card in the form of the version that the client speaks.
// Invariants:
//   - A client that names no version gets the form of 0.3 with the interfaces of 1.0 in it, so that both read it.
import { AgentCard } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { type A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";

export async function cardReply(card: AgentCard, version: string | null): Promise<HttpReply> {
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
