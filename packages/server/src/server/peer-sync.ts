// Peer sync: handles notices of the other processes, and polls for notices that may be lost.
// Invariants:
//   - A notice is a hint. Replies come from storage, read after the announced commit.
//   - Lost notices delay, but do not lose, an end: awaited runs are polled periodically, and at once after a possible
//     loss. The same holds for cancellations, and for due webhooks and crons.
//   - A process that stops does not wait for a person or a date: callers of such a run get its join URL.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { AgentContext } from "../context/context.ts";
import { findCancellation } from "../runs/execute/claim-run.ts";
import type { Run } from "../model/model.ts";
import type { Notice, Peers, Tx } from "../ports/ports.ts";
import { storedEnd, withText, type StoredEnd } from "../runs/run-result.ts";
import { isActive } from "../model/status.ts";

const POLL_MS = 2000;
/** Polls of runs per poll of due work, which another process may have created before it stopped. */
const POLLS_A_ROUND = 5;

/** The end of a run; null while it is active, or `later` if this process stops and the run waits for more than a slot. */
function readStoredEnd(
  agent: AgentContext,
  runId: string,
  known: string | null,
): Promise<StoredEnd | "gone" | "later" | null> {
  return agent.storage.read(async (tx) => {
    const threadId = known ?? (await tx.threadOfRun(runId));
    const run = threadId === null ? null : await tx.run(threadId, runId);
    if (run === null) return "gone";
    if (!isActive(run.status)) return storedEnd(agent, tx, run);
    return agent.worker.draining() && (await startsLater(tx, run)) ? "later" : null;
  });
}

/** A pending run that a person, or a delay, holds back. */
async function startsLater(tx: Pick<Tx, "thread">, { status, dueAt, threadId }: Run): Promise<boolean> {
  return status === "pending" && (dueAt !== null || (await tx.thread(threadId))?.status === "interrupted");
}

export function syncWithPeers(agent: AgentContext, peers: Peers): Service {
  const { worker, storage, clock, log } = agent;
  let cancelPoll: () => void = () => undefined;
  let stopped = false;
  let polls = 0;

  const announceEnd = async (runId: string, known: string | null): Promise<void> => {
    if (!worker.ends.isWaited(runId)) return;
    const end = await readStoredEnd(agent, runId, known);
    if (end === "gone") worker.ends.goneElsewhere(runId);
    else if (end === "later") worker.ends.gone(runId, "requeued");
    else if (end !== null) worker.ends.endedElsewhere(runId, withText(end));
  };
  const abortCancelled = async (runId: string): Promise<void> => {
    const reason = await storage.transaction(async (tx) => {
      const threadId = await tx.threadOfRun(runId);
      const run = threadId === null ? null : await tx.run(threadId, runId);
      return run === null ? ("deleted" as const) : findCancellation(tx, run);
    });
    if (reason !== null) worker.abortHere(runId, reason);
  };
  const quietly = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      log.debug("peer_sync_failed", { reason: describeError(error).message }); // the next poll retries
    }
  };
  const pollWaited = async (): Promise<void> => {
    const here = new Set(worker.here());
    for (const runId of worker.ends.waited()) if (!here.has(runId)) await quietly(announceEnd(runId, null));
  };
  const poll = async (): Promise<void> => {
    await pollWaited();
    if (++polls % POLLS_A_ROUND === 0) {
      agent.webhooks.wake();
      agent.wakeCrons();
    }
    if (!stopped) cancelPoll = clock.after(POLL_MS, () => void poll());
  };
  const hear = (notice: Notice): void => {
    switch (notice.kind) {
      case "abort":
        worker.abortHere(notice.runId, notice.reason);
        return;
      case "ended":
        void quietly(announceEnd(notice.runId, notice.threadId));
        return;
      case "gone":
        void quietly(announceEnd(notice.runId, null));
        return;
      case "inbox":
        agent.inbox.changedElsewhere();
        return;
      default:
        notice satisfies never;
    }
  };
  const missed = async (): Promise<void> => {
    agent.inbox.changedElsewhere();
    await pollWaited();
    for (const runId of worker.here()) await quietly(abortCancelled(runId));
  };
  return {
    name: "peers",
    async start() {
      if (peers.alone) return;
      peers.listen(hear, () => void missed());
      cancelPoll = clock.after(POLL_MS, () => void poll());
    },
    async stop() {
      stopped = true;
      cancelPoll();
    },
  };
}
