// Feed readers: the subscriptions to the inbox feed, and their wake-up.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Wakes } from "../ports/ports.ts";

const READERS_MAX = 1000;

/** Subscription key of all inbox readers, so that other processes know that some exist. */
const CHANGES = "inbox";

export interface FeedReader {
  readonly left: () => boolean;
  readonly leave: () => void;
  /** Resolves on a new event, or after leave(). */
  readonly change: () => Promise<void>;
}

export interface FeedReaders {
  readonly count: () => number;
  /** @throws {ApiError} `overloaded` */
  enter(): FeedReader;
  wake(): void;
}

export function createFeedReaders(wakes: Pick<Wakes, "listen">): FeedReaders {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    count: () => count,
    wake() {
      const woken = [...waiting];
      waiting.clear();
      for (const resolve of woken) resolve();
    },
    enter() {
      if (count >= READERS_MAX) {
        const detail = `The inbox feed already has ${READERS_MAX} readers.`;
        throw new ApiError("overloaded", detail, {}, { "Retry-After": "30" });
      }
      count++;
      const unsubscribe = wakes.listen(CHANGES, () => undefined);
      let left = false;
      let wakeUp = (): void => undefined;
      return {
        left: () => left,
        change: () =>
          new Promise((resolve) => {
            wakeUp = resolve;
            waiting.add(resolve);
            if (left) resolve();
          }),
        leave() {
          if (left) return;
          left = true;
          unsubscribe();
          count--;
          waiting.delete(wakeUp);
          wakeUp(); // inbox-feed.5: the generator may wait for an event that never comes
        },
      };
    },
  };
}
