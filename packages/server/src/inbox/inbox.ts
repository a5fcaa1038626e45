// Inbox: the open interrupts and breakpoints of all threads, one item each.
// Invariants:
//   inbox.1. An item is listed exactly while it can be answered (storage).
//   inbox.2. A page has at most PAGE_BYTES_MAX of values, or one item; the next page continues there.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import type { InboxPlace, InboxQuery, InboxRow, Tx } from "../ports/ports.ts";
import { answeredBy } from "../interrupts/problem-details.ts";
import { requireThread } from "../threads/find-thread.ts";

/** An item with properties of its thread. */
export interface Item {
  readonly interrupt: Interrupt;
  readonly thread: Pick<Thread, "status" | "metadata">;
}

export interface InboxPage {
  readonly rows: readonly InboxRow[];
  /** Start of the next page; null at the end. */
  readonly next: InboxPlace | null;
}

const PAGE_BYTES_MAX = 4_000_000;

/** The query of a caller. */
export type InboxSearch = Omit<InboxQuery, "now" | "bytesMax">;

export async function listInbox(agent: AgentContext, query: InboxSearch): Promise<InboxPage> {
  const page = { ...query, now: agent.clock.now(), bytesMax: PAGE_BYTES_MAX }; // inbox.2
  const { rows, more } = await agent.storage.longReads.inbox(page);
  return { rows, next: more ? (rows.at(-1)?.interrupt ?? null) : null };
}

/** Open or closed. @throws {ApiError} `thread_not_found`, `interrupt_not_found` */
export async function getItem(agent: AgentContext, address: ItemAddress): Promise<Item> {
  return agent.storage.transaction((tx) => requireItem(tx, address));
}

type ItemTx = Pick<Tx, "thread" | "interrupt">;

export type ItemAddress = Pick<Interrupt, "threadId" | "interruptId">;

export async function requireItem(tx: ItemTx, { threadId, interruptId }: ItemAddress): Promise<Item> {
  const thread = await requireThread(tx, threadId);
  const interrupt = await tx.interrupt(threadId, interruptId);
  if (interrupt === null) throw new ApiError("interrupt_not_found", `The thread has no interrupt ${interruptId}.`);
  return { thread, interrupt };
}

/** @throws {ApiError} `thread_not_found`, `interrupt_not_found`, `interrupt_stale`, `thread_busy` */
export async function requireOpenItem(tx: ItemTx, address: ItemAddress): Promise<Item> {
  const item = await requireItem(tx, address);
  const { thread, interrupt } = item;
  if (interrupt.state !== "open") {
    const details: JsonObject = { thread_status: thread.status };
    const { extra, headers } = answeredBy(interrupt, undefined);
    throw new ApiError(
      "interrupt_stale",
      `Interrupt ${interrupt.interruptId} is no longer open.`,
      { ...details, ...extra },
      headers,
    );
  }
  if (thread.status !== "interrupted") throw new ApiError("thread_busy", "The thread has a run in progress.");
  return item;
}
