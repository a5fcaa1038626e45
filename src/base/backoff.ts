// Backoff: the delay before the next attempt. Pure; randomness is an argument.

/** Full jitter between half and the whole of `baseMs · 2^(attempt − 1)`, at most `maxMs`. `attempt` counts from 1. */
export function backoffMs(attempt: number, baseMs: number, maxMs: number, random: () => number): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return whole / 2 + (random() * whole) / 2;
}
