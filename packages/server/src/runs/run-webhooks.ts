// Run webhooks: webhooks that are added to a run after its start.
// Invariants:
//   - A webhook belongs to the first of the runs that continue each other. It receives each of their ends and pauses,
//     over any channel that an answer comes from.
//   - A run has a bounded number of them.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import type { NewRunWebhook, RunWebhook } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { findFirstRun } from "../webhooks/a2a-event.ts";
import { requireRun } from "./runs.ts";

const WEBHOOKS_MAX = 20;

interface RunAddress {
  readonly threadId: string;
  readonly runId: string;
}

/** @throws {ApiError} `thread_not_found`, `run_not_found`, `webhook_refused` */
export async function addRunWebhook(agent: AgentContext, at: RunAddress, given: NewRunWebhook): Promise<RunWebhook> {
  agent.webhooks.check(given.url, false);
  return agent.storage.transaction(async (tx) => {
    const { threadId, runId } = await firstRun(tx, at);
    const webhookId = given.webhookId ?? agent.newId();
    const others = (await tx.runWebhooks(threadId, runId)).filter((one) => one.webhookId !== webhookId);
    if (others.length >= WEBHOOKS_MAX)
      throw new ApiError("webhook_refused", `The run has ${WEBHOOKS_MAX} webhooks: remove one first.`);
    const webhook = { ...given, threadId, runId, webhookId, createdAt: agent.clock.now() };
    await tx.putRunWebhook(webhook);
    return webhook;
  });
}

export async function listRunWebhooks(agent: AgentContext, at: RunAddress): Promise<readonly RunWebhook[]> {
  return agent.storage.read(async (tx) => {
    const { threadId, runId } = await firstRun(tx, at);
    return tx.runWebhooks(threadId, runId);
  });
}

/** Idempotent. */
export async function deleteRunWebhook(agent: AgentContext, at: RunAddress, webhookId: string): Promise<void> {
  await agent.storage.transaction(async (tx) => {
    const { threadId, runId } = await firstRun(tx, at);
    await tx.deleteRunWebhook(threadId, runId, webhookId);
  });
}

/** @throws {ApiError} `thread_not_found`, `run_not_found` */
async function firstRun(tx: Pick<Tx, "thread" | "run">, { threadId, runId }: RunAddress): Promise<RunAddress> {
  const run = await requireRun(tx, threadId, runId);
  return { threadId, runId: findFirstRun(run) };
}
