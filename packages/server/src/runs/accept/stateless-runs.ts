// Stateless runs: runs without a thread in the call, and runs addressed by run id alone.
// Invariants:
//   - A stateless run has its own thread, which is deleted with the run unless the call says "keep".
//   - A paused stateless run keeps its thread until the pause ends, so that no interrupt is lost.
//   - A call with an Idempotency-Key can be repeated during the key's lifetime: until then its thread is kept.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { AgentContext } from "../../context/context.ts";
import type { OnCompletion, Scope } from "../../model/model.ts";
import { IDEMPOTENCY_KEPT_MS, type RunCall } from "./run-request.ts";
import { inScope } from "../../auth/scope.ts";
import type { RunStart } from "./run-start.ts";
import { NO_TTL } from "../../threads/new-thread.ts";

export interface StatelessCall {
  readonly call: RunCall;
  readonly onCompletion: OnCompletion;
  /** Thread in the call, if any; it is kept. */
  readonly threadId: string | null;
}

export function statelessStart(newId: NewId, { call, onCompletion, threadId }: StatelessCall): RunStart {
  if (threadId !== null) return { threadId, call };
  const repeatable = call.idempotencyKey !== null && onCompletion === "delete";
  return {
    threadId: newId(),
    call: { ...call, ifNotExists: "create" },
    newThread: repeatable
      ? { onCompletion: "keep", ttlMs: IDEMPOTENCY_KEPT_MS, ttlStrategy: "delete" }
      : { onCompletion, ...NO_TTL },
  };
}

/**
 * Thread of a run that the call addresses by run id alone.
 * @throws {ApiError} `run_not_found`, also for a run outside the scope
 */
export async function threadOfRun(agent: AgentContext, scope: Scope, runId: string): Promise<string> {
  const threadId = await agent.storage.transaction(async (tx) => {
    const found = await tx.threadOfRun(runId);
    const thread = found === null ? null : await tx.thread(found);
    return thread !== null && inScope(thread.metadata, scope) ? found : null;
  });
  if (threadId === null) throw new ApiError("run_not_found", `Run with ID ${runId} not found`);
  return threadId;
}
