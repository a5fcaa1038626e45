// Command call: one command of one caller on one thread, with the inputs of its decision.
// Invariant: each command is authorised as its own caller, by the same events as the REST calls that do the same.
import { fromAccessValue, toAccessValue } from "../auth/handler-value.ts";
import { type Ask, authorize } from "../auth/authorize.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context/context.ts";
import type { Caller, Scope, Thread } from "../model/model.ts";
import { runCall } from "../routes/run-call.ts";
import type { Call } from "../routes/route.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { threadNotFound } from "../threads/find-thread.ts";
import type { CommandBody } from "@holdpoint/api/protocol.ts";
import { parse } from "@holdpoint/api/operation.ts";
import { checkMemberSizes } from "@holdpoint/api/member-size.ts";
import { RUN_LARGE, type RunBody, runBody } from "@holdpoint/api/runs.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

export interface CommandCall {
  readonly threadId: string;
  readonly caller: Caller;
  readonly command: CommandBody;
  /** The request that brought it; that of the upgrade on a socket, with the frame as its body. */
  readonly request: Call<unknown, unknown>["request"];
}

export interface CommandResult {
  readonly result: object;
  /** The run that the command made. */
  readonly runId?: string;
}

export function buildAsk(agent: AgentContext, caller: Caller): Ask {
  const { access } = agent;
  return async (event, value) => (access === null ? null : (await authorize(access, caller, event, value)).scope);
}

/** @throws {ApiError} `forbidden`, `thread_not_found` */
export async function readableThread(agent: AgentContext, { threadId, caller }: CommandCall): Promise<Thread> {
  const scope = await buildAsk(agent, caller)("threads:read", { thread_id: threadId });
  return threadWithin(agent, threadId, scope);
}

/** @throws {ApiError} `thread_not_found` */
export async function threadWithin(agent: AgentContext, threadId: string, scope: Scope): Promise<Thread> {
  const thread = await agent.storage.read((tx) => tx.thread(threadId));
  if (thread === null || !inScope(thread.metadata, scope)) throw threadNotFound(threadId);
  return thread;
}

/**
 * The body of a REST call that asks for the same, authorised and read as that call. @throws {ApiError} as a
 * run-creating call
 */
export async function protocolRunCall(
  agent: AgentContext,
  call: CommandCall,
  body: JsonObject,
  event: "threads:create_run" | "threads:answer",
): Promise<RunCall> {
  const { threadId, caller, request } = call;
  const { access } = agent;
  const ids = { thread_id: threadId };
  let scope: Scope = null;
  checkMemberSizes(body, RUN_LARGE, agent.limits.memberBytesMax);
  let admitted = parse(runBody, body, "body");
  if (access !== null) {
    const parts = { ids, query: {}, body: admitted as JsonObject };
    const answer = await authorize(access, caller, event, toAccessValue(event, parts));
    scope = answer.scope;
    admitted = fromAccessValue(event, parts, answer.value).body as RunBody;
  }
  const asked: Call<unknown, unknown> = {
    ids,
    query: {},
    body: admitted,
    request,
    caller,
    scope,
    ask: buildAsk(agent, caller),
  };
  const made = await runCall(agent, asked, admitted, event === "threads:answer" ? { answer: { scope } } : {});
  return { ...made, stream: { modes: ["values"], subgraphs: true, resumable: true, protocol: true } };
}
