// Queue room: whether the queue takes one more run. Counting what waits costs more than accepting a run does.
// Invariants:
//   queue-limit.1. No more runs are accepted on a count than it has left free of half of the limit: from there on every call counts.
//   queue-limit.2. A count is believed for COUNT_HOLDS_MS: other processes accept runs too.
import type { Clock } from "../../../base/clock.ts";
import type { QueueLimit } from "../../services.ts";

const COUNT_HOLDS_MS = 1000;

/** @param runsMax runs that may wait */
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
