// Run cancellation: of one run, a selection, or all active runs.
// Invariants:
//   - A cancellation is in the audit trail before the caller gets its reply, and survives the process.
//   - A pending run ends by the same rules as a run aborted right after its claim: the thread may pause again, and runs
//     behind it that refuse a pause end too.
import type { AgentContext } from "../context/context.ts";
import { noteEnd } from "../events/thread-note.ts";
import { endBehindPause } from "./execute/behind-pause.ts";
import { type Finished, endPending, finishRun, toRunOutcome } from "./execute/finish-run.ts";
import type { Caller, CancelReason, Run, Scope } from "../model/model.ts";
import { EMPTY_WRITE_SET } from "../model/empty-write-set.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { EndTx, EventTx, GraphRunResult, RunTx, ThreadTx } from "../ports/ports.ts";
import { requireRun } from "./runs.ts";
import { inScope } from "../auth/scope.ts";
import { removeIfDone } from "../threads/ephemeral-thread.ts";
import { isActive } from "../model/status.ts";
import { threadNotFound } from "../threads/find-thread.ts";
import { announcer } from "../webhooks/run-ended-event.ts";

export type CancelAction = "interrupt" | "rollback";

export interface Cancellation {
  readonly caller: Caller;
  readonly action: CancelAction;
  readonly reason: Exclude<CancelReason, "replaced">;
}

/**
 * @returns true if the run has ended, now or before; false if it is still ending
 * @throws {ApiError} `thread_not_found`, `run_not_found`
 */
export async function cancelRun(
  agent: AgentContext,
  cancellation: Cancellation,
  { threadId, runId }: Pick<Run, "threadId" | "runId">,
): Promise<boolean> {
  const cancelled = await agent.storage.transaction(async (tx) =>
    cancel(agent, tx, await requireRun(tx, threadId, runId), cancellation),
  );
  return afterCommit(agent, cancelled, cancellation.action);
}

/** Runs to cancel: by id, or by status on one thread or on all. */
export type CancelSelection =
  | { readonly threadId: string; readonly runIds: readonly string[] }
  | { readonly threadId: string | null; readonly status: "pending" | "running" | "all" };

/** Runs per transaction. */
const CANCEL_PAGE = 200;

/**
 * Cancels runs without waiting for their ends. Ended runs stay unchanged.
 * @throws {ApiError} `thread_not_found`, `run_not_found`, without any cancellation
 */
export async function cancelRuns(
  agent: AgentContext,
  cancellation: Cancellation & { readonly scope: Scope },
  selection: CancelSelection,
): Promise<void> {
  const { scope, action } = cancellation;
  if ("runIds" in selection || selection.threadId !== null) {
    const all = await agent.storage.transaction(async (tx) => {
      const cancelled: Cancelled[] = [];
      for (const run of await chosenRuns(tx, scope, selection)) {
        cancelled.push(await cancel(agent, tx, run, cancellation));
      }
      return cancelled;
    });
    for (const cancelled of all) afterCommit(agent, cancelled, action);
    return;
  }
  const { status } = selection;
  // Pending runs first: otherwise the end of a running one would start a pending one.
  for (const each of ["pending", "running"] as const) {
    if (status === "all" || status === each) await cancelEverywhere(agent, cancellation, each);
  }
}

async function chosenRuns(
  tx: ThreadTx & RunTx,
  scope: Scope,
  selection: CancelSelection & { readonly threadId: string | null },
): Promise<readonly Run[]> {
  const threadId = selection.threadId ?? "";
  const thread = await tx.thread(threadId);
  if (thread === null || !inScope(thread.metadata, scope)) {
    throw threadNotFound(threadId);
  }
  if (!("runIds" in selection)) {
    const active = await tx.activeRuns(threadId);
    const waiting = active.filter((run) => run.status === "pending");
    const running = active.filter((run) => run.status === "running");
    return [...(selection.status === "running" ? [] : waiting), ...(selection.status === "pending" ? [] : running)];
  }
  const runs: Run[] = [];
  for (const runId of new Set(selection.runIds)) runs.push(await requireRun(tx, threadId, runId));
  return runs;
}

async function cancelEverywhere(
  agent: AgentContext,
  cancellation: Cancellation & { readonly scope: Scope },
  status: "pending" | "running",
): Promise<void> {
  let after: Run | null = null;
  do {
    const page: Page = await agent.storage.transaction(async (tx) => {
      const found = await tx.allActiveRuns({ status, after, limit: CANCEL_PAGE });
      const all: Cancelled[] = [];
      for (const run of found) {
        const thread = await tx.thread(run.threadId);
        if (thread === null || !inScope(thread.metadata, cancellation.scope)) continue;
        all.push(await cancel(agent, tx, run, cancellation));
      }
      return { last: found.at(-1) ?? null, all };
    });
    for (const cancelled of page.all) afterCommit(agent, cancelled, cancellation.action);
    after = page.last;
  } while (after !== null);
}

interface Page {
  readonly last: Run | null;
  readonly all: readonly Cancelled[];
}

interface Cancelled {
  readonly run: Run;
  readonly outcome: "had_ended" | "ended" | "is_ending";
  /** Runs that ended because the thread is paused again. */
  readonly refused?: readonly Run[];
  /** Null if the run had not claimed its thread. */
  readonly finished?: Finished | null;
}

function abortReasonFor(action: CancelAction): "cancel" | "rollback" {
  return action === "rollback" ? "rollback" : "cancel";
}

async function cancel(
  agent: AgentContext,
  tx: EndTx & EventTx,
  listed: Run,
  { caller, action, reason }: Cancellation,
): Promise<Cancelled> {
  const given = await tx.run(listed.threadId, listed.runId); // one before it in the list may have ended it
  if (given === null || !isActive(given.status)) return { run: given ?? listed, outcome: "had_ended" };
  const run: Run = { ...given, cancelReason: given.cancelReason ?? reason };
  const { threadId, runId } = run;
  const at = agent.clock.now();
  const entry = {
    ...nameAuthor(caller),
    threadId,
    at,
    action: "cancelled",
    interruptId: null,
    runId,
    value: action,
  } as const;
  await tx.audit([entry]);
  await tx.updateRun(runId, { cancelReason: run.cancelReason });
  if (run.status === "running") return { run, outcome: "is_ending" };
  return { ...(await cancelPending(agent, tx, run, { reason: abortReasonFor(action), at })), outcome: "ended" };
}

/** After the commit. @returns true if the run has ended */
function afterCommit(agent: AgentContext, cancelled: Cancelled, action: CancelAction): boolean {
  const { run, outcome, finished = null, refused = [] } = cancelled;
  if (outcome === "is_ending") return !agent.worker.abort(run.runId, abortReasonFor(action)) && agent.worker.alone;
  if (outcome === "had_ended") return true;
  agent.events.wakes.wake(run.threadId);
  if (finished !== null) agent.inbox.added(finished.pending, finished.metadata);
  for (const ended of [run, ...refused])
    agent.worker.ends.ended(ended, () => ({ run: ended, valuesText: null, interrupts: [], pause: null }), true);
  agent.worker.wake();
  agent.webhooks.wake();
  return true;
}

/** A run without its thread only leaves the queue. */
async function cancelPending(
  agent: AgentContext,
  tx: EndTx & EventTx,
  run: Run,
  { reason, at }: { readonly reason: "cancel" | "rollback"; readonly at: number },
): Promise<Pick<Cancelled, "run" | "finished" | "refused">> {
  const { threadId } = run;
  const announce = announcer(agent.graphs, () => null);
  const note = { newId: agent.newId, at, goneAt: agent.events.goneAt(run) };
  const others = (await tx.activeRuns(threadId)).filter((other) => other.runId !== run.runId);
  const busy = (await tx.thread(threadId))?.status === "busy";
  if (run.dueAt !== null || !busy || others.some((other) => other.status === "running")) {
    const ended = await endPending(tx, run, { reason, at, announce });
    await noteEnd(tx, { run: ended }, note);
    await removeIfDone(tx, threadId);
    return { run: ended, finished: null };
  }
  const claimed: Run = { ...run, status: "running", attempt: run.attempt + 1 };
  await tx.updateRun(run.runId, { status: claimed.status, attempt: claimed.attempt });
  const result: GraphRunResult = {
    outcome: { kind: "aborted" },
    rest: EMPTY_WRITE_SET,
    checkpointId: null,
    overlay: null,
    unused: null,
    held: [],
  };
  const finish = { run: claimed, result, outcome: toRunOutcome(result, reason), at, announce, graphs: agent.graphs };
  const finished = await finishRun(tx, finish);
  if (finished !== null && !finished.threadIsGone) await noteEnd(tx, finished, note);
  return { run: finished?.run ?? claimed, finished, refused: await endBehindPause(tx, finished, agent) };
}
