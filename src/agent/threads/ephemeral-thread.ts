import type { Tx } from "../ports/ports.ts";

/**
 * A thread that was made for a stateless run goes with its last run. While it is paused it waits, however long.
 * @param leaveMs goes by the next sweep after that, so that those who wait in other processes can read how it ended
 * @returns whether it is gone
 */
export async function removeIfDone(tx: Tx, threadId: string, leaveMs = 0): Promise<boolean> {
  const thread = await tx.thread(threadId);
  if (thread === null) return true;
  if (thread.onCompletion === "keep" || thread.status === "interrupted") return false;
  if ((await tx.activeRuns(threadId)).length > 0) return false;
  if (leaveMs === 0) await tx.deleteThread(threadId); // finish-run.4
  else await tx.updateThread(threadId, { ttlMs: leaveMs, ttlStrategy: "delete" });
  return leaveMs === 0;
}
