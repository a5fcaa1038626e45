// A clock that a test advances. Timers fire in order; the clock awaits their effects in between.
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@holdpoint/base/clock.ts";

export interface FakeClock extends Clock {
  /** Advances both clocks; pending I/O and promises run between two timers. */
  advance(ms: number): Promise<void>;
  /** Moves until the next timer, whenever it is; returns the ms moved, or null when there is none. */
  next(): Promise<number | null>;
  readonly timers: () => number;
}

export function createFakeClock(startMs = 1_732_170_000_000): FakeClock {
  let now = 0;
  let order = 0;
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>();

  function earliest(until: number): number | null {
    let best: number | null = null;
    for (const [id, { at }] of timers)
      if (at <= until && (best === null || at < (timers.get(best)?.at ?? 0))) best = id;
    return best;
  }

  async function fire(id: number): Promise<void> {
    const timer = timers.get(id);
    timers.delete(id);
    if (timer === undefined) return;
    now = Math.max(now, timer.at);
    timer.call();
    await settle();
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < 4; round++) await turn();
  }

  return {
    now: () => startMs + now,
    monotonic: () => now,
    after(ms, call) {
      const id = order++;
      timers.set(id, { at: now + Math.max(0, ms), call });
      return () => void timers.delete(id);
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let id = earliest(until); id !== null; id = earliest(until)) await fire(id);
      now = until;
      await settle();
    },
    async next() {
      await settle();
      const id = earliest(Infinity);
      if (id === null) return null;
      const before = now;
      await fire(id);
      return now - before;
    },
    timers: () => timers.size,
  };
}
