// RPC: one call of JSON-RPC in version 1.0 or 0.3, through the transports of the SDK. Version 0.3 stays because the
// documentation of LangGraph's Agent Server has only its methods (`message/send`, `message/stream`, `tasks/get`).
// Invariants:
//   - The method decides about the version, where the request names none: each version has names of its own.
import { isLegacyJsonRpcMethod } from "@a2a-js/sdk/compat/v0_3";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion,
} from "@a2a-js/sdk/server";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export interface RpcReply {
  readonly jsonrpc: string;
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Rpc {
  readonly request: JsonObject;
  /** Value of the header `A2A-Version`, null without one. */
  readonly version: string | null;
  readonly isLegacy: boolean;
}

const LEGACY = "0.3";
const CURRENT = "1.0";

export function parseRpc(body: Json | undefined, version: string | null): Rpc {
  const request = isJsonObject(body) ? body : {};
  const isLegacy = version === null ? isLegacyJsonRpcMethod(request["method"]) : version === LEGACY;
  return { request, version, isLegacy };
}

export function errorReply({ request, isLegacy }: Rpc, error: unknown): RpcReply {
  const { id } = request;
  const mapped = isLegacy
    ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
    : JsonRpcTransportHandler.mapToJSONRPCError(error);
  return { jsonrpc: "2.0", id: typeof id === "string" || typeof id === "number" ? id : null, error: mapped };
}

/** Errors before the first event of a stream are the reply. */
export async function handleRpc(rpc: Rpc, handler: A2ARequestHandler): Promise<RpcReply | AsyncGenerator<RpcReply>> {
  const { request, isLegacy, version } = rpc;
  const context = new ServerCallContext({ requestedVersion: version ?? (isLegacy ? LEGACY : CURRENT) });
  try {
    validateVersion(context.requestedVersion, await handler.getAgentCard(), "JSONRPC");
    const transport = isLegacy ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);
    const replied = (await transport.handle({ ...request }, context)) as RpcReply | AsyncGenerator<RpcReply>;
    return isStream(replied) ? await begun(replied) : replied;
  } catch (error) {
    return errorReply(rpc, error);
  }
}

export function isStream(replied: RpcReply | AsyncGenerator<RpcReply>): replied is AsyncGenerator<RpcReply> {
  return Symbol.asyncIterator in replied;
}

/** @throws the error of the first event */
async function begun(events: AsyncGenerator<RpcReply>): Promise<AsyncGenerator<RpcReply>> {
  const first = await events.next();
  return (async function* all() {
    try {
      if (first.done === true) return;
      yield first.value;
      yield* events;
    } finally {
      void events.return(undefined);
    }
  })();
}
