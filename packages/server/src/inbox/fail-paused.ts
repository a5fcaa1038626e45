// Fail paused: ends a thread that waits for people, without an answer: its deadline has passed, or a request is
// cancelled.
// Invariant: the transaction that closes the open questions has found them open. It competes with answers in the same
// rows, so a question ends once.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { type ClosedHow, NOTE_KEPT_MS, noteClosed } from "../events/thread-note.ts";
import type { AuditEntry, ErrorInfo, Interrupt, Run } from "../model/model.ts";
import { nextThreadStatus } from "../model/status.ts";
import type { AnnounceTx, RunTx } from "../ports/ports.ts";
import { removeIfDone } from "../threads/ephemeral-thread.ts";
import { findFirstRun } from "../webhooks/a2a-event.ts";
import { putRequestEvents } from "../webhooks/request-event.ts";

export interface PauseEnd {
  readonly error: ErrorInfo;
  readonly how: ClosedHow;
  readonly audit: readonly AuditEntry[];
}

export interface FailedPause {
  readonly closed: readonly Interrupt[];
  /** Metadata of the thread. */
  readonly metadata: JsonObject;
}

/**
 * @param end the error of the thread; null to leave it
 * @returns null if the thread does not wait, or is left
 */
export async function failPaused(
  agent: AgentContext,
  threadId: string,
  end: (open: readonly Interrupt[], at: number) => PauseEnd | null,
): Promise<FailedPause | null> {
  const failed = await agent.storage.transaction(async (tx) => {
    const thread = await tx.thread(threadId);
    if (thread === null || thread.status !== "interrupted") return null;
    const open = await tx.interrupts(threadId, "open");
    const at = agent.clock.now();
    const ended = end(open, at);
    if (ended === null) return null;
    const closed = open.map((interrupt): Interrupt => ({ ...interrupt, state: "abandoned" }));
    await tx.putInterrupts(closed);
    await noteClosed(tx, closed, ended.how, { newId: agent.newId, at, goneAt: at + NOTE_KEPT_MS });
    await tx.audit(ended.audit);
    const status = nextThreadStatus(thread.status, "fail");
    await tx.updateThread(threadId, { status, pause: null, error: ended.error, stateUpdatedAt: at, updatedAt: at });
    await tx.queueNext(threadId);
    await announce(tx, closed, at);
    await removeIfDone(tx, threadId);
    return { closed, metadata: thread.metadata };
  });
  if (failed === null) return null;
  agent.events.wakes.wake(threadId);
  agent.webhooks.wake();
  agent.worker.wake(); // pending runs held by the pause
  return failed;
}

async function announce(tx: AnnounceTx & RunTx, [first]: readonly Interrupt[], at: number): Promise<void> {
  const asker: Run | null = first === undefined ? null : await tx.run(first.threadId, first.runId);
  if (asker === null) return;
  await putRequestEvents(tx, asker, await tx.runWebhooks(asker.threadId, findFirstRun(asker)), at);
}
