// Clock: the only source of time inside the packages. Timestamps use the wall clock, waits the monotonic clock.

export interface Clock {
  /** Milliseconds since 1970, for stamps. May jump. */
  readonly now: () => number;
  /** Milliseconds on a clock that never jumps, for durations. */
  readonly monotonic: () => number;
  /** Calls back once after `ms`; returns the cancel function. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

/** setTimeout takes a signed 32-bit integer, and a longer delay would fire at once: long waits run in parts. */
const TIMER_MS_MAX = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    let leftMs = ms;
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      const partMs = Math.min(Math.max(leftMs, 0), TIMER_MS_MAX);
      leftMs -= partMs;
      timer = setTimeout(leftMs > 0 ? wait : callback, partMs);
    };
    wait();
    return () => clearTimeout(timer);
  },
};

/** ISO 8601, UTC, milliseconds: the only form of a time on the wire. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The wall clock at process start, advanced by the monotonic clock. Ages use it, so a change of the machine's clock
 * makes no span older or younger.
 */
export function steady(clock: Clock): Clock {
  const startedAt = clock.now() - clock.monotonic();
  return { ...clock, now: () => startedAt + clock.monotonic() };
}
