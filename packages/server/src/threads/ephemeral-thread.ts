// The end of a thread that a stateless run made.
import type { RunTx, ThreadTx } from "../ports/ports.ts";

/**
 * Deletes the thread of a stateless run after its last run. A paused thread stays for any length of time.
 * @param leaveMs delays the deletion to a later sweep, so that callers in other processes can read the end
 * @returns true if the thread is deleted
 */
export async function removeIfDone(tx: RunTx & ThreadTx, threadId: string, leaveMs = 0): Promise<boolean> {
  const thread = await tx.thread(threadId);
  if (thread === null) return true;
  if (thread.onCompletion === "keep" || thread.status === "interrupted") return false;
  if ((await tx.activeRuns(threadId)).length > 0) return false;
  if (leaveMs === 0) await tx.deleteThread(threadId);
  else await tx.updateThread(threadId, { ttlMs: leaveMs, ttlStrategy: "delete" });
  return leaveMs === 0;
}
