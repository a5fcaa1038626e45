// Runs: read, list and delete.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { Caller, Run, RunStatus } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { readRows } from "../context/read-rows.ts";
import type { WaitResult } from "../context/services.ts";
import { allOpenItems, requireThread } from "../threads/find-thread.ts";
import { isActive } from "../model/status.ts";

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function getRun(agent: AgentContext, threadId: string, runId: string): Promise<Run> {
  return agent.storage.read((tx) => requireRun(tx, threadId, runId));
}

/** Newest first. Finds the runs of a page at once, and reads each on demand. @throws {ApiError} `thread_not_found` */
export async function* listRuns(
  agent: AgentContext,
  threadId: string,
  query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
): AsyncGenerator<Run> {
  const heads = await agent.storage.read(async (tx) => {
    await requireThread(tx, threadId);
    return tx.runs(threadId, query);
  });
  const ids = heads.map(({ runId, bytes }) => ({ id: runId, bytes }));
  yield* readRows(agent.storage, ids, (tx, runId) => tx.run(threadId, runId));
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code.endsWith("_not_found");
}

/** Result of a wait if neither the run nor its thread exists any more. */
export const DELETED: WaitResult = { kind: "gone", why: "deleted" };

/** @throws {ApiError} `run_active` */
export async function deleteRun(agent: AgentContext, caller: Caller, threadId: string, runId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const run = await requireRun(tx, threadId, runId);
    if (isActive(run.status)) throw new ApiError("run_active", "Cancel the run before deleting it.");
    const asked = (await allOpenItems(tx, threadId)).find((item) => item.runId === runId);
    if (asked !== undefined) {
      const detail = `The answer to ${asked.interruptId} runs as this run did: answer it before deleting the run.`;
      throw new ApiError("run_active", detail, { interrupt_id: asked.interruptId });
    }
    await tx.deleteRun(runId);
    const fields = { thread_id: threadId };
    await tx.audit([buildAct(caller, { action: "run_deleted", at: agent.clock.now(), subject: runId, fields })]);
  });
}

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
export async function requireRun(tx: Pick<Tx, "run" | "thread">, threadId: string, runId: string): Promise<Run> {
  const run = await tx.run(threadId, runId);
  if (run !== null) return run;
  await requireThread(tx, threadId);
  throw new ApiError("run_not_found", `Run with ID ${runId} not found`);
}
