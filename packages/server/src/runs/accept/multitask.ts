// Multitask strategy: its effect on the other runs of the thread when a run is accepted.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { endPending } from "../execute/finish-run.ts";
import type { Caller, MultitaskStrategy, Run } from "../../model/model.ts";
import { nameAuthor } from "../../model/audit-author.ts";
import type { EndTx, Graphs } from "../../ports/ports.ts";
import { announcer } from "../../webhooks/run-ended-event.ts";

/** Abort reason of a displaced run. */
export function chooseAbortReason(strategy: MultitaskStrategy): "cancel" | "rollback" {
  return strategy === "rollback" ? "rollback" : "cancel";
}

export interface StrategyCall {
  readonly caller: Caller;
  readonly threadId: string;
  readonly busy: boolean;
  readonly strategy: MultitaskStrategy;
  readonly at: number;
}

/**
 * Delayed runs block no other run, but `interrupt` and `rollback` displace them: so a call can replace a delayed run.
 * @returns the displaced runs
 * @throws {ApiError} `thread_busy`
 */
export async function applyMultitaskStrategy(
  graphs: Graphs,
  tx: EndTx,
  { caller, threadId, busy, strategy, at }: StrategyCall,
): Promise<readonly Run[]> {
  if (strategy === "enqueue" || (strategy === "reject" && !busy)) return [];
  const active = (await tx.activeRuns(threadId)).filter((run) => busy || run.dueAt !== null);
  if (strategy === "reject") {
    throw new ApiError("thread_busy", "The thread has a run in progress, and multitask_strategy is reject.", {
      active_runs: active.filter((run) => run.dueAt === null).map((run) => run.runId),
    });
  }
  const displaced: Run[] = [];
  const reason = chooseAbortReason(strategy);
  const announce = announcer(graphs, () => null);
  for (const run of active) {
    const { runId } = run;
    const value = strategy === "rollback" ? "rollback" : "interrupt";
    await tx.audit([{ ...nameAuthor(caller), threadId, at, action: "cancelled", interruptId: null, runId, value }]);
    await tx.updateRun(runId, { cancelReason: run.cancelReason ?? "replaced" });
    displaced.push(run.status === "pending" ? await endPending(tx, run, { reason, at, announce }) : run);
  }
  return displaced;
}
