// Erasure of a thread: its deletion, and what the deletion leaves (ARCHITECTURE.md, Erasure).
// Invariants:
//   erase-thread.1. Each step can be repeated, and none needs the thread. What has begun is stored with the deletion, until
//        all is done: after a crash the server goes on by itself, since nobody finds the thread by its metadata any more.
//   - A caller of limited access erases a thread that is there, and no memory: who chose the id of the thread may have
//     chosen another tenant's label.
//   erase-thread.2. When the reply leaves, the files of the embedded databases hold nothing of what was deleted.
import { describeError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../context/context.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { AuditEntry, Caller } from "../model/model.ts";
import type { ErasedCounts, ErasureTx, RemovalTx } from "../ports/ports.ts";
import { announceDeleted, type Gone, takeAway } from "./delete-threads.ts";
import { threadNotFound } from "./find-thread.ts";

/** Rows of a transaction. */
const PAGE = 100;

export interface ThreadErasure {
  readonly threadId: string;
  readonly dryRun: boolean;
  /** The caller's access is limited to some threads. */
  readonly isLimited: boolean;
}

/** @returns what is there, or was. @throws {ApiError} `thread_not_found` if nothing is */
export async function eraseThread(agent: AgentContext, author: Caller, erasure: ThreadErasure): Promise<ErasedCounts> {
  const { storage, clock } = agent;
  const { threadId, dryRun, isLimited } = erasure;
  const act = buildAct(author, {
    action: "thread_deleted",
    at: clock.now(),
    subject: threadId,
    fields: { erased: true },
  });
  const { counts, gone } = await storage.transaction(async (tx) => {
    if (isLimited && (await tx.thread(threadId)) === null) throw threadNotFound(threadId);
    const found = await tx.countThreadRows(threadId);
    if (!dryRun) await tx.putThreadErasure({ threadId, isLimited, at: clock.now() }); // erase-thread.1
    return { counts: found, gone: dryRun ? null : await removeThread(tx, threadId, act) };
  });
  if (gone !== null) announceDeleted(agent, gone);
  const found = { ...counts, ...(await eraseBeside(agent, erasure)) };
  const places = Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0));
  const isKnown = Object.keys(places).length > 0;
  if (!dryRun) await endErasure(agent, threadId, gone === null && isKnown ? act : null);
  if (!isKnown) throw threadNotFound(threadId);
  return places;
}

/** An older erasure may be that of a server that has died. */
const ABANDONED_MS = 10 * 60_000;

/** erase-thread.1. @param startedAt of this process: erasures from before are nobody's */
export async function resumeErasures(agent: AgentContext, startedAt: number): Promise<void> {
  const { storage, clock, log } = agent;
  const before = Math.max(startedAt, clock.now() - ABANDONED_MS);
  for (const { threadId, isLimited, at } of await storage.read((tx) => tx.threadErasures())) {
    if (at >= before) continue;
    try {
      await eraseBeside(agent, { threadId, isLimited, dryRun: false });
      await endErasure(agent, threadId, null);
      log.info("erasure_resumed", { thread_id: threadId });
    } catch (error) {
      log.warning("erasure_not_resumed", { thread_id: threadId, reason: describeError(error).message });
    }
  }
}

/** What a deletion of the thread leaves, in other tables, traces and files. */
async function eraseBeside(
  agent: AgentContext,
  { threadId, dryRun, isLimited }: ThreadErasure,
): Promise<{ readonly webhooks: number; readonly store_items: number; readonly traces: number }> {
  const webhooks = await eraseWebhooks(agent, threadId, dryRun);
  const items = isLimited ? 0 : await eraseItems(agent, threadId, dryRun);
  const traces = (await agent.traces?.eraseThread(threadId, dryRun)) ?? 0;
  if (!dryRun) await agent.storage.scrub(); // erase-thread.2
  return { webhooks, store_items: items, traces };
}

function endErasure({ storage }: AgentContext, threadId: string, act: AuditEntry | null): Promise<void> {
  return storage.transaction(async (tx) => {
    await tx.endThreadErasure(threadId);
    if (act !== null) await tx.audit([act]);
  });
}

async function removeThread(tx: RemovalTx & ErasureTx, threadId: string, act: AuditEntry): Promise<Gone | null> {
  const thread = await tx.thread(threadId);
  const gone = thread === null ? null : await takeAway(tx, thread);
  await tx.eraseThreadRows(threadId);
  if (gone !== null) await tx.audit([act]);
  return gone;
}

async function eraseWebhooks({ storage }: AgentContext, threadId: string, dryRun: boolean): Promise<number> {
  let count = 0;
  let after: string | null = "";
  while (after !== null) {
    const from: string = after;
    const { ids, next } = await storage.transaction(async (tx) => {
      const page = await tx.webhooksNaming(threadId, from, PAGE);
      if (!dryRun) for (const id of page.ids) await tx.deleteWebhook(id);
      return page;
    });
    count += ids.length;
    after = next;
  }
  return count;
}

/** The memory under the thread's id, as graphs keep it. */
async function eraseItems({ storage }: AgentContext, threadId: string, dryRun: boolean): Promise<number> {
  if (dryRun) return storage.read((tx) => tx.countItemsLabelled(threadId));
  let count = 0;
  for (;;) {
    const items = await storage.transaction(async (tx) => {
      const found = await tx.itemsLabelled(threadId, PAGE);
      for (const { namespace, key } of found) await tx.deleteStoreItem(namespace, key);
      return found;
    });
    count += items.length;
    if (items.length < PAGE) return count;
  }
}
