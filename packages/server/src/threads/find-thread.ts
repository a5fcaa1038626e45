// Thread lookup: a thread with its open inbox items, for all operations.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";

/** @throws {ApiError} `thread_not_found` */
export async function requireThread(tx: Pick<Tx, "thread">, threadId: string): Promise<Thread> {
  const thread = await tx.thread(threadId);
  if (thread === null) throw threadNotFound(threadId);
  return thread;
}

export function threadNotFound(threadId: string): ApiError {
  return new ApiError("thread_not_found", `Thread with ID ${threadId} not found`);
}

/** Open items of a paused thread: its interrupts, or its breakpoint. */
export async function openItems(
  tx: Pick<Tx, "openBreakpoint" | "interrupts">,
  { threadId, status }: Thread,
): Promise<readonly Interrupt[]> {
  if (status !== "interrupted") return [];
  const breakpoint = await tx.openBreakpoint(threadId);
  return breakpoint === null ? tx.interrupts(threadId, "open") : [breakpoint];
}

/** As openItems(), of a thread in any status: siblings of an answered interrupt are open while its run works. */
export async function allOpenItems(
  tx: Pick<Tx, "openBreakpoint" | "interrupts">,
  threadId: string,
): Promise<readonly Interrupt[]> {
  const breakpoint = await tx.openBreakpoint(threadId);
  return [...(await tx.interrupts(threadId, "open")), ...(breakpoint === null ? [] : [breakpoint])];
}
