// Queue placement: when a run starts: at once in a free slot, from the queue, behind the thread's run, or later.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AgentContext } from "../../context/context.ts";
import type { Run, Thread } from "../../model/model.ts";
import type { EndTx } from "../../ports/ports.ts";
import { applyMultitaskStrategy } from "./multitask.ts";
import type { PlacedRequest } from "./run-start.ts";

interface Placement {
  /** The thread has a run in progress, or the run waits for the end of a pause. */
  readonly busy: boolean;
  readonly dueAt: number | null;
  readonly continuesPause: boolean;
  /** The run starts in the free slot of this process. */
  readonly claimed: boolean;
  readonly displaced: readonly Run[];
}

/** @throws {ApiError} `thread_busy`, `overloaded` */
export async function placeInQueue(
  agent: AgentContext,
  tx: EndTx,
  thread: Thread,
  { caller, start: { call, slotFree }, intent, at, waits }: PlacedRequest,
): Promise<Placement> {
  const { threadId } = thread;
  const dueAt = call.afterSeconds === 0 ? null : at + Math.ceil(call.afterSeconds * 1000);
  const busy = thread.status === "busy";
  const strategy = call.multitaskStrategy;
  const displaced = await applyMultitaskStrategy(agent.graphs, tx, { caller, threadId, busy, strategy, at });
  const paused = thread.status === "interrupted";
  const continuesPause = paused && (intent.kind === "resume" || intent.kind === "continue");
  // A paused thread holds its pending runs, and they precede this one.
  const behindHeld = paused && !continuesPause && (await tx.hasPendingRun(threadId));
  const claimed = !busy && !waits && dueAt === null && slotFree && !behindHeld;
  if (!claimed && (await agent.queueLimit.isFull(tx))) {
    throw new ApiError("overloaded", "The run queue is full.", {}, { "Retry-After": "5" });
  }
  return { busy: busy || waits, dueAt, continuesPause, claimed, displaced };
}
