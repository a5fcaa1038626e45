// Repeated wait: one promise, awaited many times with a limit each.
// Invariants:
//   repeated-wait.1. The promise has one reaction, however many waits there were. Promise.race() would leave one for
//        each wait until the promise settles: a caller that waits for a person would cost more with every keep-alive.
import type { Clock } from "../../clock.ts";

export interface RepeatedWait<T> {
  /** Null if the time elapses first. @throws the error of the promise */
  readonly within: (ms: number) => Promise<T | null>;
}

/** The promise counts as handled from here on. */
export function repeatedWait<T>(promise: Promise<T>, clock: Pick<Clock, "after">): RepeatedWait<T> {
  const state: { settled: (() => T) | null; wake: () => void } = { settled: null, wake: () => undefined };
  const settle = (settled: () => T): void => {
    state.settled = settled;
    state.wake();
  };
  promise.then(
    (value) => settle(() => value),
    (error: unknown) =>
      settle(() => {
        throw error;
      }),
  );
  return {
    async within(ms) {
      if (state.settled === null) await nextWake(state, clock, ms);
      return state.settled === null ? null : state.settled();
    },
  };
}

function nextWake(state: { wake: () => void }, clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    state.wake = () => {
      cancel();
      resolve();
    };
  });
}
