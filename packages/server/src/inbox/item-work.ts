// Item work: follow-up dates and comments of inbox items.
// Invariants:
//   - A follow-up date hides an item from lists that ask for it. It changes neither the deadline nor who may
//     answer.
//   - A comment is an entry of the thread's audit trail: it never changes, and goes with the trail.
import type { AgentContext } from "../context/context.ts";
import type { AuditEntry, Caller, Interrupt } from "../model/model.ts";
import type { AuditRecord } from "../ports/ports.ts";
import { nameAuthor } from "../model/audit-author.ts";
import { type Item, type ItemAddress, requireItem, requireOpenItem } from "./inbox.ts";

/** @param until null clears the date. @throws {ApiError} as requireOpenItem() */
export async function snoozeItem(
  agent: AgentContext,
  caller: Caller,
  address: ItemAddress,
  until: number | null,
): Promise<Item> {
  const at = agent.clock.now();
  const item = await agent.storage.transaction(async (tx) => {
    const { interrupt, thread } = await requireOpenItem(tx, address);
    const snoozed: Interrupt = { ...interrupt, snoozedUntil: until };
    await tx.putInterrupts([snoozed]);
    const value = until === null ? null : new Date(until).toISOString();
    await tx.audit([buildEntry(caller, address, { action: "snoozed", at, value })]);
    return { thread, interrupt: snoozed };
  });
  agent.inbox.changed("updated", item.interrupt, item.thread.metadata);
  return item;
}

/** @throws {ApiError} `thread_not_found`, `interrupt_not_found` */
export async function addComment(
  agent: AgentContext,
  caller: Caller,
  address: ItemAddress,
  text: string,
): Promise<Item> {
  const at = agent.clock.now();
  const item = await agent.storage.transaction(async (tx) => {
    const found = await requireItem(tx, address);
    await tx.audit([buildEntry(caller, address, { action: "commented", at, value: text })]);
    return found;
  });
  if (item.interrupt.state === "open") agent.inbox.changed("updated", item.interrupt, item.thread.metadata);
  return item;
}

export interface Comments {
  readonly items: readonly AuditRecord[];
  /** Start of the next page; null at the end. */
  readonly next: number | null;
}

/** Oldest first. @throws {ApiError} `thread_not_found`, `interrupt_not_found` */
export async function readComments(
  agent: AgentContext,
  address: ItemAddress,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<Comments> {
  const { threadId, interruptId } = address;
  const records = await agent.storage.transaction(async (tx) => {
    await requireItem(tx, address);
    return tx.listComments(threadId, interruptId, { after, limit: limit + 1 });
  });
  const items = records.slice(0, limit);
  return { items, next: records.length > limit ? (items.at(-1)?.seq ?? null) : null };
}

function buildEntry(
  caller: Caller,
  { threadId, interruptId }: ItemAddress,
  entry: Pick<AuditEntry, "action" | "at" | "value">,
): AuditEntry {
  return { ...nameAuthor(caller, "inbox"), threadId, interruptId, runId: null, ...entry };
}
