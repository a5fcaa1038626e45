// Thread deletion, of one thread or of several, and the pruning of checkpoints.
// Invariants:
//   - Deletion wins: it fences a run in progress on the thread, and no write restores the thread.
import type { AgentContext } from "../context/context.ts";
import { type ActAuthor, buildAct } from "../model/audit/build-act.ts";
import type { Caller, Interrupt, Run, Scope, Thread, TtlStrategy } from "../model/model.ts";
import type { RemovalTx } from "../ports/ports.ts";
import { inScope } from "../auth/scope.ts";
import { openItems, requireThread } from "./find-thread.ts";

/** @param author null as a part of another act */
export async function deleteThread(agent: AgentContext, author: Caller | null, threadId: string): Promise<void> {
  const gone = await agent.storage.transaction(async (tx) => {
    const removed = await takeAway(tx, await requireThread(tx, threadId));
    if (author !== null)
      await tx.audit([buildAct(author, { action: "thread_deleted", at: agent.clock.now(), subject: threadId })]);
    return removed;
  });
  announceDeleted(agent, gone);
}

export interface Gone {
  readonly thread: Thread;
  readonly active: readonly Run[];
  readonly waited: readonly Interrupt[];
}

export async function takeAway(tx: RemovalTx, thread: Thread): Promise<Gone> {
  const active = await tx.activeRuns(thread.threadId);
  const waited = await openItems(tx, thread);
  await tx.deleteThread(thread.threadId);
  return { thread, active, waited };
}

export function announceDeleted(agent: AgentContext, { thread, active, waited }: Gone): void {
  agent.inbox.deleted(waited, thread.metadata);
  agent.events.wakes.wake(thread.threadId); // ends the streams of the thread
  for (const run of active) {
    if (!agent.worker.abort(run.runId, "deleted")) agent.worker.ends.gone(run.runId, "deleted");
  }
}

/** Threads per transaction. */
const PRUNE_STEP = 50;

/** Skips missing threads and threads outside the scope; `keep_latest` also skips busy ones. */
export async function pruneThreads(
  agent: AgentContext,
  { caller, scope }: { readonly caller: Caller; readonly scope: Scope },
  threadIds: readonly string[],
  strategy: TtlStrategy,
): Promise<number> {
  const ids = [...new Set(threadIds)];
  let pruned = 0;
  for (let from = 0; from < ids.length; from += PRUNE_STEP) {
    const threads = await agent.storage.transaction(async (tx) => {
      const found: Thread[] = [];
      for (const threadId of ids.slice(from, from + PRUNE_STEP)) {
        const thread = await tx.thread(threadId);
        if (thread !== null && inScope(thread.metadata, scope)) found.push(thread);
      }
      return found;
    });
    pruned += await pruneEach(agent, caller, threads, () => strategy);
  }
  return pruned;
}

/** In one transaction, with one act. @returns the number of pruned threads */
export async function pruneEach(
  agent: AgentContext,
  author: ActAuthor,
  threads: readonly Thread[],
  chooseStrategy: (thread: Thread) => TtlStrategy,
): Promise<number> {
  const { gone, pruned } = await agent.storage.transaction(async (tx) => {
    const deletedThreads: Gone[] = [];
    let kept = 0;
    for (const { threadId } of threads) {
      const thread = await tx.thread(threadId);
      if (thread === null) continue;
      if (chooseStrategy(thread) === "delete") deletedThreads.push(await takeAway(tx, thread));
      else if (thread.status !== "busy") {
        // not while busy: a run needs the rows that its checkpoints refer to
        await tx.pruneThread(threadId, agent.clock.now());
        kept++;
      }
    }
    const ids = deletedThreads.map(({ thread }) => thread.threadId);
    const deleted = ids.length;
    const fields = { deleted, kept_latest: kept, thread_ids: ids };
    const done = { subject: `${deleted + kept} threads`, fields };
    if (deleted + kept > 0)
      await tx.audit([buildAct(author, { action: "threads_pruned", at: agent.clock.now(), ...done })]);
    return { gone: deletedThreads, pruned: kept + deleted };
  });
  for (const one of gone) announceDeleted(agent, one);
  return pruned;
}
