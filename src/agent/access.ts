// Access: who asks, and what they may touch. Every route passes here before its operation (routes/route.ts).
// Invariants:
//   AC1. What a caller may not touch looks exactly as if it were not there.
//   AC2. Lists are filtered where they are read; this file checks single objects.
import { ApiError, type ErrorCode } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Agent } from "./agent.ts";
import { findAssistant } from "./assistants.ts";
import type { Caller, Scope } from "./model.ts";

/** Nobody has to authenticate; the record of answers says so. */
export const ANONYMOUS: Caller = { name: "anonymous", user: null, permissions: [] };

/** @param metadata of the object; an object without any is in no scope but the unlimited one. */
export function inScope(metadata: JsonObject, scope: Scope): boolean {
  if (scope === null) return true;
  return scope.every(({ key, op, value }) => {
    if (!Object.hasOwn(metadata, key)) return false;
    const own = metadata[key];
    if (op === "eq") return own === value;
    return Array.isArray(own) && own.includes(value);
  });
}

/**
 * The objects that a path names are there and within the caller's scope (AC1).
 * @throws {ApiError} `thread_not_found`, `assistant_not_found`
 */
export async function requireInScope(
  agent: Agent,
  ids: Readonly<Record<string, string>>,
  scope: NonNullable<Scope>,
): Promise<void> {
  const { thread_id: threadId, assistant_id: assistantId } = ids;
  await agent.storage.transaction(async (tx) => {
    if (threadId !== undefined) {
      const thread = await tx.thread(threadId);
      if (thread === null || !inScope(thread.metadata, scope)) throw missing("thread_not_found", "Thread", threadId);
    }
    if (assistantId !== undefined) {
      const assistant = await findAssistant(agent, tx, assistantId);
      if (!inScope(assistant.metadata, scope)) throw missing("assistant_not_found", "Assistant", assistantId);
    }
  });
}

function missing(code: ErrorCode, what: string, id: string): ApiError {
  return new ApiError(code, `${what} with ID ${id} not found`);
}
