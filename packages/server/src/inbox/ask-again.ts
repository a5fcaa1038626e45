// Ask again: a person asks a question anew whose answer failed too often for the server to ask again by itself.
// Invariants:
//   - Only the question at which the thread failed can be asked again, and only while its state is as the failure left
//     it.
//   - A run continues the thread without the answer, so its node raises the same interrupt. The audit trail names the
//     person.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { nameAuthor } from "../model/audit-author.ts";
import { inScope } from "../auth/scope.ts";
import type { Caller, Interrupt, Scope, Thread } from "../model/model.ts";
import type { InterruptTx, ThreadTx } from "../ports/ports.ts";
import type { AgentContext } from "../context/context.ts";
import { continuation } from "../runs/accept/continuation.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { requireThread, threadNotFound } from "../threads/find-thread.ts";
import { type Item, type ItemAddress, requireItem } from "./inbox.ts";

/**
 * Returns an item that is open as it is.
 * @throws {ApiError} `thread_not_found`, `interrupt_not_found`, `interrupt_stale`, and those of startRun()
 */
export async function askAgain(
  agent: AgentContext,
  { caller, scope }: { readonly caller: Caller; readonly scope: Scope },
  address: ItemAddress,
): Promise<Item> {
  const { threadId, interruptId } = address;
  const { item, asker } = await agent.storage.transaction(async (tx) => {
    if (!inScope((await requireThread(tx, threadId)).metadata, scope)) throw threadNotFound(threadId);
    const found = await requireItem(tx, address);
    return { item: found, asker: await tx.run(threadId, found.interrupt.runId) };
  });
  if (item.interrupt.state === "open") return item;
  const first = async (tx: ThreadTx & InterruptTx): Promise<void> => {
    const { interrupt } = await requireItem(tx, address);
    requireFailed(await requireThread(tx, threadId), interrupt);
    const entry = { threadId, at: agent.clock.now(), interruptId, runId: null, value: "asked_again" };
    await tx.audit([{ ...nameAuthor(caller, "inbox"), ...entry, action: "reopened" }]);
  };
  const { assistantId, graphId } = item.interrupt;
  const call = continuation(asker, assistantId || graphId);
  await startRun(agent, caller, { threadId, call: { ...call, reach: { ...call.reach, threads: scope } }, first });
  return agent.storage.transaction((tx) => requireItem(tx, address));
}

function requireFailed({ status, stateUpdatedAt }: Thread, { interruptId, failure, answer }: Interrupt): void {
  const isLast = failure !== null && failure.at === stateUpdatedAt && failure.runId === answer?.runId;
  if (status === "error" && isLast) return;
  const detail = `Interrupt ${interruptId} is not one whose answer has just failed: there is nothing to ask again.`;
  throw new ApiError("interrupt_stale", detail, { thread_status: status });
}
