// Escalation of items: extends the assignees of open items whose time has come, and notifies.
// Invariants:
//   escalate-items.1. The transaction that extends the assignees also stores the audit entry and the notification.
//   - An answer that commits first wins: a closed item does not escalate.
//   escalation.1. A step acts once: it leaves the list of pending steps. Several steps that are due act together.
//   escalation.2. The claim and the follow-up date end, so that nothing keeps the new assignees from the answer.
import type { AgentContext } from "../context/context.ts";
import type { AuditEntry, Interrupt } from "../model/model.ts";
import type { AssistantTx, InterruptTx, NotifyTx, RunTx } from "../ports/ports.ts";

const NAME = "escalation";

/** Items per batch. */
const BATCH = 100;

export async function escalateDue(agent: AgentContext): Promise<void> {
  let found: number;
  do {
    const due = await agent.storage.transaction((tx) => tx.dueEscalations(agent.clock.now(), BATCH));
    for (const item of due) await escalateItem(agent, item);
    found = due.length;
  } while (found === BATCH);
}

async function escalateItem(agent: AgentContext, { threadId, interruptId }: Interrupt): Promise<void> {
  const at = agent.clock.now();
  const done = await agent.storage.transaction(async (tx) => {
    const thread = await tx.thread(threadId);
    const interrupt = await tx.interrupt(threadId, interruptId);
    if (thread?.status !== "interrupted" || interrupt?.state !== "open") return null;
    const escalated = escalate(interrupt, at);
    if (escalated === null) return null;
    await store(agent, tx, escalated, at);
    return { ...escalated, metadata: thread.metadata };
  });
  if (done === null) return;
  if (agent.notifier.takeStored()) agent.webhooks.wake();
  agent.inbox.changed("updated", done.interrupt, done.metadata);
  agent.log.info("item_escalated", { thread_id: threadId, interrupt_id: interruptId, assignees: done.added });
}

/** escalate-items.1. */
async function store(
  agent: AgentContext,
  tx: InterruptTx & RunTx & AssistantTx & NotifyTx,
  { interrupt, added }: Escalated,
  at: number,
): Promise<void> {
  const { threadId, interruptId, runId, assistantId } = interrupt;
  const entry: AuditEntry = {
    threadId,
    at,
    action: "escalated",
    by: NAME,
    via: "deadline",
    interruptId,
    runId: null,
    value: added,
  };
  await tx.putInterrupts([interrupt]);
  await tx.audit([entry]);
  const run = await tx.run(threadId, runId);
  const assistant = await tx.assistant(assistantId);
  await agent.notifier.escalated(tx, interrupt, { run, assistantMetadata: assistant?.metadata ?? {}, added, at });
}

/** The assignees of an interrupt after a step whose time has come. */
interface Escalated {
  readonly interrupt: Interrupt;
  /** People who join the assignees. */
  readonly added: readonly string[];
}

/** @returns null if no step is due */
function escalate(interrupt: Interrupt, now: number): Escalated | null {
  const { review } = interrupt;
  const due = review?.escalations.filter(({ at }) => at <= now) ?? [];
  if (review === null || due.length === 0) return null;
  const pending = review.escalations.slice(due.length); // escalation.1
  const assignees = review.assignees.map((list, index) => [
    ...new Set([...list, ...due.flatMap((step) => (step.list === index ? step.assignees : []))]),
  ]);
  const escalated: Interrupt = {
    ...interrupt,
    claim: null, // escalation.2
    snoozedUntil: null,
    review: { ...review, assignees, escalations: pending },
    escalatesAt: pending[0]?.at ?? null,
  };
  return { interrupt: escalated, added: [...new Set(due.flatMap((step) => step.assignees))] };
}
