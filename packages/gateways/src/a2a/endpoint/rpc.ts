// RPC: one call of JSON-RPC in version 1.0 or 0.3, through the transports of the SDK.
// Invariants:
//   rpc.1. The method decides about the version, where the request names none: each version has names of its own.
import type { Task } from "@a2a-js/sdk";
import { isLegacyJsonRpcMethod } from "@a2a-js/sdk/compat/v0_3";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  validateVersion,
} from "@a2a-js/sdk/server";
import { ListTasksRequest } from "@a2a-js/sdk";
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

/** The method that 0.3 has only in its other bindings. */
const LEGACY_LIST = "tasks/list";
const LEGACY = "0.3";
const CURRENT = "1.0";

/** rpc.1. */
export function parseRpc(body: Json | undefined, version: string | null): Rpc {
  const request = isJsonObject(body) ? body : {};
  const method = request["method"];
  const isLegacy = version === null ? isLegacyJsonRpcMethod(method) || method === LEGACY_LIST : version === LEGACY;
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
    if (isLegacy && request["method"] === LEGACY_LIST) return await legacyList(request, handler, context);
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

async function legacyList(
  request: JsonObject,
  handler: A2ARequestHandler,
  context: ServerCallContext,
): Promise<RpcReply> {
  const { id, params } = request;
  const list = await handler.listTasks(ListTasksRequest.fromJSON(params ?? {}), context);
  const tasks = await Promise.all(list.tasks.map((task) => legacyTask(task, context)));
  const result = { ...list, tasks };
  return { jsonrpc: "2.0", id: typeof id === "string" || typeof id === "number" ? id : null, result };
}

/** The SDK translates tasks only in its methods for them. */
async function legacyTask(task: Task, context: ServerCallContext): Promise<unknown> {
  const handler = { getTask: async () => task } as Partial<A2ARequestHandler>;
  const request = { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: task.id } };
  const transport = new LegacyJsonRpcTransportHandler(handler as A2ARequestHandler);
  return ((await transport.handle(request, context)) as RpcReply).result;
}
