// Open feeds: requests of which only some items have been fed. A trace whose next spans wait for their slice is not
// quiet, however long the slice takes to come: on a busy machine a quiet time could otherwise end between a span and
// its parent in one request, and the places of spans would depend on the speed of the machine.
// Quiet times are therefore measured until the start of the oldest open feed. Each feed ends, so no wait is endless.
import type { Clock } from "../../base/clock.ts";

export interface OpenFeeds {
  /** `startMs`: before its first item, monotonic. Returns the function that ends it. */
  readonly open: (startMs: number) => () => void;
  /** Monotonic ms: the end of every quiet time. */
  readonly quietUntil: () => number;
}

export function createOpenFeeds(clock: Pick<Clock, "monotonic">): OpenFeeds {
  const starts = new Set<{ readonly startMs: number }>(); // oldest first

  return {
    open(startMs) {
      const feed = { startMs };
      starts.add(feed);
      return () => void starts.delete(feed);
    },
    quietUntil() {
      const oldest = starts.values().next().value;
      return oldest?.startMs ?? clock.monotonic();
    },
  };
}
