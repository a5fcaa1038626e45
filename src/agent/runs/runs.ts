// Runs: read, list and delete.
import { ApiError } from "../../base/api-error.ts";
import type { AgentContext } from "../context.ts";
import type { Run, RunStatus } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import type { WaitResult } from "../services.ts";
import { requireThread } from "../threads/find-thread.ts";
import { isActive } from "../model/status.ts";

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function getRun(agent: AgentContext, threadId: string, runId: string): Promise<Run> {
  return agent.storage.read((tx) => requireRun(tx, threadId, runId));
}

/**
 * Newest first, read on demand because inputs may be large. A run created meanwhile shifts the others, and is not in
 * the list.
 * @throws {ApiError} `thread_not_found`
 */
export async function* listRuns(
  agent: AgentContext,
  threadId: string,
  query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
): AsyncGenerator<Run> {
  let last: string | null = null;
  for (let at = 0; at < query.limit; at += RUNS_AT_ONCE) {
    const limit = Math.min(RUNS_AT_ONCE, query.limit - at);
    const runs = await agent.storage.read(async (tx) => {
      if (at === 0) await requireThread(tx, threadId);
      return tx.runs(threadId, { ...query, limit, offset: query.offset + at });
    });
    for (const run of runs) {
      if (last !== null && run.runId >= last) continue;
      last = run.runId;
      yield run;
    }
    if (runs.length < limit) return;
  }
}

const RUNS_AT_ONCE = 10;

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code.endsWith("_not_found");
}

/** Result of a wait if neither the run nor its thread exists any more. */
export const DELETED: WaitResult = { kind: "gone", why: "deleted" };

/** @throws {ApiError} `run_active` */
export async function deleteRun(agent: AgentContext, threadId: string, runId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    if (isActive(run.status)) throw new ApiError("run_active", "Cancel the run before deleting it.");
    await tx.deleteRun(runId);
  });
}

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function requireRun(tx: Pick<Tx, "run" | "thread">, threadId: string, runId: string): Promise<Run> {
  const run = await tx.run(threadId, runId);
  if (run !== null) return run;
  await requireThread(tx, threadId);
  throw new ApiError("run_not_found", `Run with ID ${runId} not found`);
}
