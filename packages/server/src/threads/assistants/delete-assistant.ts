// Assistant deletion: the assistant with its versions and runs, and on request the threads in its name.
// Invariants:
//   delete-assistant.1. An active run on the assistant prevents the deletion, unless its thread is deleted too.
//   delete-assistant.2. The assistant's row is deleted last, after all dependent rows, so that an interrupted deletion
//     can be repeated.
//   delete-assistant.3. A step deletes a bounded number of rows, so that other requests run in between.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Ask } from "../../auth/authorize.ts";
import type { AgentContext } from "../../context/context.ts";
import { describeAssistant, isBuiltIn } from "./edit-assistant.ts";
import { findAssistant } from "./assistants.ts";
import { decisionRules } from "../../model/review/review-rules.ts";
import { buildAct } from "../../model/audit/build-act.ts";
import type { Caller, Run, Scope } from "../../model/model.ts";
import type { RunTx, ThreadQuery, ThreadTx } from "../../ports/ports.ts";
import { deleteThread } from "../delete-threads.ts";

const THREADS_PER_STEP = 50;
const RUNS_PER_STEP = 500;
const RUNS_NAMED_MAX = 10;

export interface AssistantDeletion {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly ask: Ask;
  /** Deletes the threads in the name of the assistant too. */
  readonly withThreads: boolean;
}

/**
 * @returns the assistant's id. @throws {ApiError} `assistant_not_found`, `assistant_built_in`, `run_active`,
 *   `forbidden`
 */
export async function deleteAssistant(
  agent: AgentContext,
  idOrGraph: string,
  { caller, scope, ask, withThreads }: AssistantDeletion,
): Promise<string> {
  const assistant = await agent.storage.transaction(async (tx) => {
    const found = await findAssistant(agent, tx, idOrGraph, { scope, toChange: true });
    if (isBuiltIn(found)) {
      const detail = `${found.assistantId} is the assistant of the graph ${found.graphId} and cannot be deleted.`;
      throw new ApiError("assistant_built_in", detail);
    }
    return found;
  });
  const { assistantId } = assistant;
  if (Object.keys(decisionRules(assistant.metadata)).length > 0)
    await ask("assistants:administrate", { metadata: assistant.metadata, assistant_id: assistantId });
  const threads = withThreads ? buildThreadQuery(assistantId, await threadScope(ask, assistantId)) : null;
  await agent.storage.transaction((tx) => refuseActiveRuns(tx, assistantId, scope, threads)); // delete-assistant.1
  const gone = { threads: 0, runs: 0 };
  for (let more = true; more;) {
    if (threads !== null) gone.threads += await deleteThreads(agent, threads);
    more = await agent.storage.transaction(async (tx) => {
      await refuseActiveRuns(tx, assistantId, scope, null);
      const ended = await tx.runsOfAssistant(assistantId, "ended", RUNS_PER_STEP);
      for (const run of ended) await tx.deleteRun(run.runId);
      gone.runs += ended.length;
      if (ended.length === RUNS_PER_STEP) return true;
      if (threads !== null && (await tx.searchThreads({ ...threads, limit: 1 })).length > 0) return true;
      await tx.deleteAssistant(assistantId); // delete-assistant.2
      const { subject, fields } = describeAssistant(assistant);
      const act = {
        action: "assistant_deleted",
        at: agent.clock.now(),
        subject,
        fields: { ...fields, ...gone },
      } as const;
      await tx.audit([buildAct(caller, act)]);
      return false;
    });
  }
  return assistantId;
}

/** The right to delete assistants does not include threads, so it needs its own authorization. */
function threadScope(ask: Ask, assistantId: string): Promise<Scope> {
  return ask("threads:delete", { metadata: { assistant_id: assistantId } });
}

function buildThreadQuery(assistantId: string, scope: Scope): ThreadQuery {
  return {
    scope,
    ids: null,
    idPrefix: null,
    status: null,
    metadata: { assistant_id: assistantId },
    limit: THREADS_PER_STEP,
    offset: 0,
    search: [],
    sortBy: "created_at",
    descending: true,
  };
}

/** @returns their number */
async function deleteThreads(agent: AgentContext, query: ThreadQuery): Promise<number> {
  for (let deleted = 0; ;) {
    const found = await agent.storage.transaction((tx) => tx.searchThreads(query));
    await Promise.all(found.map(({ threadId }) => deleteIfThere(agent, threadId))); // delete-assistant.3
    deleted += found.length;
    if (found.length < query.limit) return deleted;
  }
}

async function deleteIfThere(agent: AgentContext, threadId: string): Promise<void> {
  try {
    await deleteThread(agent, null, threadId);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "thread_not_found") throw error;
  }
}

/** @param doomed threads whose runs do not count */
async function refuseActiveRuns(
  tx: RunTx & ThreadTx,
  assistantId: string,
  scope: Scope,
  doomed: ThreadQuery | null,
): Promise<void> {
  const active: Run[] = [];
  for (const run of await tx.runsOfAssistant(assistantId, "active", RUNS_PER_STEP)) {
    if (doomed !== null && (await tx.countThreads({ ...doomed, ids: [run.threadId] }, 1)) > 0) continue;
    active.push(run);
  }
  if (active.length === 0) return;
  // runs of other callers of a shared assistant stay private
  const shown = scope === null ? active.slice(0, RUNS_NAMED_MAX) : [];
  throw new ApiError("run_active", "Cancel the runs on the assistant before deleting it.", {
    active_runs: shown.map(({ threadId, runId }) => ({ thread_id: threadId, run_id: runId })),
  });
}
