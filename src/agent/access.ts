// Access: who asks, and what they may touch. Every route passes here before its operation (routes/route.ts).
// Invariants:
//   AC1. What a caller may not touch looks exactly as if it were not there.
//   AC2. Lists are filtered where they are read; this file checks single objects.
//   AC3. A store item has no metadata: store-scope.ts applies a scope to its namespace, key and value.
import type { AccessEvent } from "../api/operation.ts";
import type { JsonObject } from "../base/json/json.ts";
import type { Agent } from "./agent.ts";
import { findAssistant, namesBuiltIn } from "./assistants.ts";
import { requireCron } from "./crons.ts";
import type { Caller, Scope } from "./model.ts";
import type { Access, AccessAnswer, Tx } from "./ports.ts";
import { inScope } from "./scope.ts";
import { requireThread, threadNotFound } from "./waiting.ts";

/** Nobody has to authenticate; the record of answers says so. */
export const ANONYMOUS: Caller = { name: "anonymous", user: null, permissions: [] };

/** What a call that makes a run may touch. */
export interface Reach {
  readonly threads: Scope;
  readonly assistants: Scope;
}

/** Asks whether the caller may do one more thing than its route is about, and on what. @throws {ApiError} `forbidden` */
export type Ask = (event: AccessEvent, value: JsonObject) => Promise<Scope>;

/** @throws {ApiError} `forbidden` */
export async function authorize(
  access: Access,
  caller: Caller,
  event: AccessEvent,
  value: JsonObject,
): Promise<AccessAnswer> {
  return access.authorize(caller, { event, value });
}

/**
 * The objects that a path names are there and within the caller's scope (AC1).
 * @throws {ApiError} `thread_not_found`, `assistant_not_found`, `cron_not_found`
 */
export async function requireInScope(
  agent: Agent,
  ids: Readonly<Record<string, string>>,
  scope: NonNullable<Scope>,
): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    if (ids["thread_id"] !== undefined) await requireThreadInScope(tx, ids["thread_id"], scope);
    if (ids["cron_id"] !== undefined) await requireCron(tx, ids["cron_id"], scope);
    if (ids["assistant_id"] !== undefined) await findAssistant(agent, tx, ids["assistant_id"], scope);
  });
}

/** @throws {ApiError} `thread_not_found` (AC1) */
async function requireThreadInScope(tx: Tx, threadId: string, scope: Scope): Promise<void> {
  const thread = await requireThread(tx, threadId);
  if (!inScope(thread.metadata, scope)) throw threadNotFound(threadId);
}

/** The assistant of a graph is there for all who may start runs; any other must be one that the caller may read. */
export async function reachOf(agent: Agent, threads: Scope, assistantId: string, ask: Ask): Promise<Reach> {
  const everybodys = namesBuiltIn(agent, assistantId);
  return { threads, assistants: everybodys ? null : await ask("assistants:read", { assistant_id: assistantId }) };
}
