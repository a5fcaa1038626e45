// Make way: what becomes of the other runs of a thread when one more is accepted.
import { ApiError } from "../../../base/api-error.ts";
import type { AgentContext } from "../../context.ts";
import { endWaiting } from "../execute/finish-run.ts";
import type { Caller, MultitaskStrategy, Run } from "../../model/model.ts";
import { authorOf } from "../../model/audit-author.ts";
import type { Tx } from "../../ports/ports.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";

/** What a run that gives way is told. */
export function reasonOf(strategy: MultitaskStrategy): "cancel" | "rollback" {
  return strategy === "rollback" ? "rollback" : "cancel";
}

/**
 * What becomes of the other runs of the thread. Delayed ones are in nobody's way, but give way when they are told to:
 * that is how a call puts an earlier delayed one off.
 * @returns those that give way.
 */
export async function applyMultitaskStrategy(
  agent: AgentContext,
  tx: Tx,
  caller: Caller,
  threadId: string,
  busy: boolean,
  strategy: MultitaskStrategy,
  at: number,
): Promise<readonly Run[]> {
  if (strategy === "enqueue" || (strategy === "reject" && !busy)) return [];
  const active = (await tx.activeRuns(threadId)).filter((run) => busy || run.dueAt !== null);
  if (strategy === "reject") {
    throw new ApiError("thread_busy", "The thread has a run in progress, and this call asked not to wait for it.", {
      active_runs: active.filter((run) => run.dueAt === null).map((run) => run.runId),
    });
  }
  const gone: Run[] = [];
  for (const run of active) {
    const { runId } = run;
    const value = strategy === "rollback" ? "rollback" : "interrupt";
    await tx.audit([{ ...authorOf(caller), threadId, at, action: "cancelled", interruptId: null, runId, value }]);
    if (run.status === "pending") {
      gone.push(
        await endWaiting(
          tx,
          run,
          reasonOf(strategy),
          at,
          announcer(agent.graphs, () => null),
        ),
      );
    } else gone.push(run);
  }
  return gone;
}
