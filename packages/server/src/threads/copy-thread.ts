// Copies of threads: state and open interrupts with the runs that asked, without other runs and the audit trail.
import type { AgentContext } from "../context/context.ts";
import type { Caller, Interrupt, Scope, Thread } from "../model/model.ts";
import type { RunTx, ThreadTx } from "../ports/ports.ts";
import { inScope } from "../auth/scope.ts";
import { refuseChange } from "../model/request.ts";
import { withoutVotes } from "../model/review/four-eyes.ts";
import { allOpenItems, openItems, requireThread, threadNotFound } from "./find-thread.ts";
import { withRunStarter } from "./starters.ts";
import { type ThreadView, readView } from "./thread-view.ts";

/**
 * The copy of a paused thread has the same open interrupts, with their rules. An answer to one thread, or a vote, does
 * not affect the other. Large values are copied ahead, in short transactions; the last one makes the copy visible.
 */
export async function copyThread(
  agent: AgentContext,
  caller: Caller,
  threadId: string,
  readable: Scope,
): Promise<ThreadView> {
  const copyId = agent.newId();
  const next = (after: string | null): Promise<string | null> =>
    agent.storage.transaction(async (tx) => {
      await requireReadable(tx, threadId, readable);
      return tx.copyValuesAhead(threadId, copyId, after);
    });
  try {
    let ahead = await next(null);
    while (ahead !== null) {
      const after = ahead;
      ahead = await inTurn(() => next(after));
    }
    return await finish(agent, { caller, threadId, copyId }, readable);
  } catch (error) {
    // Failing that, the next start deletes the values.
    await agent.storage.transaction((tx) => tx.abandonCopy(copyId)).catch(() => undefined);
    throw error;
  }
}

let last: Promise<unknown> = Promise.resolve();

/** One queue per process, like its event loop: transactions of several copies would add up in one turn. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work);
  last = mine.catch(() => undefined);
  return mine;
}

async function finish(
  agent: AgentContext,
  { caller, threadId, copyId }: { readonly caller: Caller; readonly threadId: string; readonly copyId: string },
  readable: Scope,
): Promise<ThreadView> {
  const at = agent.clock.now();
  const tenant = agent.tenants?.find(caller);
  const { view, waiting } = await agent.storage.transaction(async (tx) => {
    await tenant?.hold(tx);
    const thread = await requireReadable(tx, threadId, readable);
    await (thread.status === "interrupted" ? tenant?.admitQuestion(tx) : tenant?.admitBytes(tx));
    const busy = thread.status === "busy";
    const running = busy ? (await tx.activeRuns(threadId)).filter(({ status }) => status === "running") : [];
    const copy: Thread = {
      ...thread,
      threadId: copyId,
      createdAt: at,
      updatedAt: at,
      onCompletion: "keep",
      startedBy: running.reduce(withRunStarter, thread.startedBy), // the copy has their input already
      status: busy ? "idle" : thread.status,
      checkpointId: busy
        ? ((await tx.checkpoint(threadId, "", null))?.checkpoint.checkpointId ?? null)
        : thread.checkpointId,
    };
    await tx.insertThread(copy);
    if (tenant !== undefined) await tx.ownThread(copyId, tenant.name);
    await tx.copyThreadData(threadId, copyId);
    const open = await allOpenItems(tx, copyId);
    if (busy) await tx.putInterrupts(open.map((interrupt) => ({ ...interrupt, state: "abandoned" as const })));
    else await tx.putInterrupts(await withOwnAskers(agent, tx, threadId, open));
    return { view: await readView(agent, tx, copy), waiting: await openItems(tx, copy) };
  });
  agent.inbox.added(waiting, view.thread.metadata);
  return view;
}

/** An answer runs as the run that asked, also in the copy; but nobody hears of it who heard of the original. */
async function withOwnAskers(
  agent: AgentContext,
  tx: RunTx,
  from: string,
  open: readonly Interrupt[],
): Promise<readonly Interrupt[]> {
  const own = new Map<string, string>();
  for (const { threadId, runId } of open) {
    const asker = own.has(runId) || runId === "" ? null : await tx.run(from, runId);
    if (asker === null) continue;
    const { webhook: _webhook, notify: _notify, trace: _trace, ...request } = asker.request;
    own.set(runId, agent.newId());
    await tx.insertRun({ ...asker, threadId, runId: own.get(runId) ?? "", request });
  }
  return open.map((item) => ({ ...(withoutVotes(item) ?? item), runId: own.get(item.runId) ?? item.runId }));
}

async function requireReadable(tx: ThreadTx, threadId: string, readable: Scope): Promise<Thread> {
  const thread = await requireThread(tx, threadId);
  if (!inScope(thread.metadata, readable)) throw threadNotFound(threadId);
  refuseChange(thread); // a question of a program has one answer
  return thread;
}
