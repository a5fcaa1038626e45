// Stateless: runs whose caller names no thread, and runs that are named without their thread.
// Invariants:
//   stateless-runs.1. A stateless run has a thread of its own. It goes with the run (finish.ts, finish-run.4), unless the call says "keep".
//   stateless-runs.2. A stateless run that pauses keeps its thread until the pause has ended: a question is not lost.
//   stateless-runs.3. A call with an Idempotency-Key can be repeated for as long as the key counts: until then its thread is kept.
import { ApiError } from "../../../base/api-error.ts";
import type { NewId } from "../../../base/ids.ts";
import type { AgentContext } from "../../context.ts";
import type { OnCompletion, Scope } from "../../model/model.ts";
import { IDEMPOTENCY_KEPT_MS, type RunCall } from "./run-request.ts";
import { inScope } from "../../auth/scope.ts";
import type { RunStart } from "./start-run.ts";
import { NO_TTL } from "../../threads/new-thread.ts";

export interface StatelessCall {
  readonly call: RunCall;
  readonly onCompletion: OnCompletion;
  /** A thread to run on after all; it is kept. */
  readonly threadId: string | null;
}

export function statelessStart(newId: NewId, { call, onCompletion, threadId }: StatelessCall): RunStart {
  if (threadId !== null) return { threadId, call };
  const repeatable = call.idempotencyKey !== null && onCompletion === "delete"; // stateless-runs.3
  return {
    threadId: newId(),
    call: { ...call, ifNotExists: "create" },
    newThread: repeatable
      ? { onCompletion: "keep", ttlMs: IDEMPOTENCY_KEPT_MS, ttlStrategy: "delete" }
      : { onCompletion, ...NO_TTL }, // stateless-runs.1
  };
}

/**
 * The thread of a run that is named by its id alone.
 * @throws {ApiError} `run_not_found`, also when the caller may not touch it (access.ts, authorize.1).
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
