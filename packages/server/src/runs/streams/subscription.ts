// Subscription: the connection of one reader, with its chunks, wake-ups and end.
// Invariants:
//   - A reader that left waits for nothing, and is not woken again.
//   - A wake-up during an encoding is not lost.
import type { RunEvents } from "../../context/services.ts";

export type Chunk = string | Uint8Array;

export interface Subscription {
  readonly chunks: AsyncIterable<Chunk>;
  /** Call when the reader disconnects. */
  readonly leave: () => void;
}

export interface WakeSignal {
  /** Resolves at the next wake-up, or at once after a wake-up since the last call. */
  next(): Promise<void>;
  readonly left: () => boolean;
  readonly leave: () => void;
  readonly wake: () => void;
  /** Wake-ups of this key too. @returns false if it listens already */
  readonly listen: (key: string) => boolean;
  readonly unlisten: (key: string) => void;
}

/** Another process continues the run, or continues it later: the connection ends, and the client reconnects. */
export class CutOff extends Error {
  override readonly name = "CutOff";
}

/** @param key id of the run or thread */
export function createWakeSignal(hub: RunEvents, key: string): WakeSignal {
  let woken = false;
  let left = false;
  let resolve: () => void = () => undefined;
  const wake = (): void => {
    woken = true;
    resolve();
  };
  const stops = new Map([
    [key, hub.wakes.listen(key, wake)],
    ["", hub.onStop(wake)],
  ]);
  return {
    wake,
    left: () => left,
    listen(other) {
      if (left || stops.has(other)) return false;
      stops.set(other, hub.wakes.listen(other, wake));
      return true;
    },
    unlisten(other) {
      stops.get(other)?.();
      stops.delete(other);
    },
    leave() {
      left = true;
      for (const stop of stops.values()) stop();
      wake();
    },
    async next() {
      if (!woken) await new Promise<void>((done) => (resolve = done));
      woken = false;
      if (!left && hub.stopped()) throw new CutOff("the server is stopping");
    },
  };
}
