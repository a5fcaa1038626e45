// Whether the objects that a path names are within the caller's scope.
import type { Ask, Reach } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import { findAssistant, namesBuiltIn } from "../threads/assistants/assistants.ts";
import { threadOfRun } from "../runs/accept/stateless-runs.ts";
import { requireCron } from "../runs/crons/crons.ts";
import type { Scope } from "../model/model.ts";
import type { ThreadTx } from "../ports/ports.ts";
import { inScope } from "../auth/scope.ts";
import { requireThread, threadNotFound } from "../threads/find-thread.ts";
import { requireRequest } from "../requests/read-request.ts";

/**
 * Checks that the objects in a path exist and are within the caller's scope.
 * @throws {ApiError} `thread_not_found`, `request_not_found`, `assistant_not_found`, `cron_not_found`
 */
export async function requireInScope(
  agent: AgentContext,
  ids: Readonly<Record<string, string>>,
  scope: NonNullable<Scope>,
): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    if (ids["thread_id"] !== undefined) await requireThreadInScope(tx, ids["thread_id"], scope);
    if (ids["request_id"] !== undefined) await requireRequest(tx, ids["request_id"], scope);
    if (ids["cron_id"] !== undefined) await requireCron(tx, ids["cron_id"], scope);
    if (ids["assistant_id"] !== undefined) await findAssistant(agent, tx, ids["assistant_id"], { scope });
  });
}

/** As above, for a stream that is open: its thread may have another owner by now. A run without a thread is looked up. */
export async function requireStillInScope(
  agent: AgentContext,
  ids: Readonly<Record<string, string>>,
  scope: Scope,
): Promise<void> {
  if (scope === null) return;
  await requireInScope(agent, ids, scope);
  if (ids["run_id"] !== undefined && ids["thread_id"] === undefined) await threadOfRun(agent, scope, ids["run_id"]);
}

/** @throws {ApiError} `thread_not_found` */
export async function requireThreadInScope(tx: ThreadTx, threadId: string, scope: Scope): Promise<void> {
  const thread = await requireThread(tx, threadId);
  if (!inScope(thread.metadata, scope)) throw threadNotFound(threadId);
}

/** Everyone who may start runs may use a built-in assistant. Any other assistant must be readable by the caller. */
export async function buildReach(agent: AgentContext, threads: Scope, assistantId: string, ask: Ask): Promise<Reach> {
  const everybodys = namesBuiltIn(agent, assistantId);
  return { threads, assistants: everybodys ? null : await ask("assistants:read", { assistant_id: assistantId }) };
}
