// Time limit: a signal that aborts after a time, and the wait for a signal.
import type { Clock } from "@holdpoint/base/clock.ts";

export interface TimeLimit {
  readonly signal: AbortSignal;
  readonly cancel: () => void;
}

export function timeLimit(clock: Clock, ms: number): TimeLimit {
  const controller = new AbortController();
  return { signal: controller.signal, cancel: clock.after(ms, () => controller.abort()) };
}

/** Resolves when the signal aborts; at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
