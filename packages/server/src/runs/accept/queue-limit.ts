// Queue limit: decides whether the queue takes one more run. Counting the queue costs more than accepting a run.
// Invariants:
//   queue-limit.1. A cached count admits runs only up to half the limit; beyond that every request counts the queue.
//   queue-limit.2. A count expires after COUNT_HOLDS_MS, because other processes accept runs too.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { QueueLimit } from "../../context/services.ts";

const COUNT_HOLDS_MS = 1000;

/** @param runsMax maximum number of pending runs */
export function createQueueLimit(runsMax: number, clock: Pick<Clock, "monotonic">): QueueLimit {
  let left = 0;
  let holdsUntil = -Infinity;
  return {
    async isFull(tx) {
      if (left > 0 && clock.monotonic() < holdsUntil) {
        left--;
        return false;
      }
      const waiting = await tx.countPendingRuns();
      left = Math.floor(runsMax / 2) - waiting - 1; // queue-limit.1
      holdsUntil = clock.monotonic() + COUNT_HOLDS_MS; // queue-limit.2
      return waiting >= runsMax;
    },
  };
}
