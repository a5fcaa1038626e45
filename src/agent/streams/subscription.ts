// Reading: one reader's connection: what it is sent, what wakes it, and how it leaves.
// Invariants:
//   subscription.1. Whoever leaves waits for nothing any more, and is not woken again.
//   subscription.2. A wake that comes while the reader is busy is not lost.
import type { EventHub } from "../events/event-hub.ts";

export type Chunk = string | Uint8Array;

export interface Subscription {
  readonly pieces: AsyncIterable<Chunk>;
  /** The reader has gone. */
  readonly leave: () => void;
}

export interface WakeSignal {
  /** Resolves at the next wake; at once when one has come since the last time (subscription.2). */
  next(): Promise<void>;
  readonly left: () => boolean;
  readonly leave: () => void;
  readonly ring: () => void;
}

/** The run is taken up elsewhere, or later: the connection is cut, and its client comes again. */
export class CutOff extends Error {
  override readonly name = "CutOff";
}

/** @param key the run's or thread's id whose wakes count */
export function createWakeSignal(hub: EventHub, key: string): WakeSignal {
  let rung = false;
  let left = false;
  let resolve: () => void = () => undefined;
  const ring = (): void => {
    rung = true;
    resolve();
  };
  const stops = [hub.wakes.listen(key, ring), hub.onStop(ring)];
  return {
    ring,
    left: () => left,
    leave() {
      left = true;
      for (const stop of stops) stop(); // subscription.1
      ring();
    },
    async next() {
      if (!rung) await new Promise<void>((done) => (resolve = done));
      rung = false;
      if (!left && hub.stopped()) throw new CutOff("the server stops");
    },
  };
}
