// Erasure of a thread: its deletion, and what the deletion leaves (ARCHITECTURE.md, Erasure).
// Invariants:
//   erase-thread.1. Each step can be repeated, and none needs the thread: a call after a crash deletes what is left.
//   erase-thread.3. A caller of limited access erases a thread that is there, and no memory: who chose the id of the
//        thread may have chosen another tenant's label.
//   erase-thread.2. When the reply leaves, the files of the embedded databases hold nothing of what was deleted.
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
export async function eraseThread(
  agent: AgentContext,
  author: Caller,
  { threadId, dryRun, isLimited }: ThreadErasure,
): Promise<ErasedCounts> {
  const { storage, clock } = agent;
  const act = buildAct(author, {
    action: "thread_deleted",
    at: clock.now(),
    subject: threadId,
    fields: { erased: true },
  });
  const { counts, gone } = await storage.transaction(async (tx) => {
    if (isLimited && (await tx.thread(threadId)) === null) throw threadNotFound(threadId); // erase-thread.3
    const found = await tx.countThreadRows(threadId);
    return { counts: found, gone: dryRun ? null : await removeThread(tx, threadId, act) };
  });
  if (gone !== null) announceDeleted(agent, gone);
  const webhooks = await eraseWebhooks(agent, threadId, dryRun);
  const items = isLimited ? 0 : await eraseItems(agent, threadId, dryRun);
  const traces = (await agent.traces?.eraseThread(threadId, dryRun)) ?? 0;
  const found = { ...counts, webhooks, store_items: items, traces };
  const places = Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0));
  if (!dryRun) await storage.scrub(); // erase-thread.2
  if (Object.keys(places).length === 0) throw threadNotFound(threadId);
  if (!dryRun && gone === null) await storage.transaction((tx) => tx.audit([act]));
  return places;
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
