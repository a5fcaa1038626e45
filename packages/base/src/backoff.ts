// Backoff: the delay before the next attempt. Pure; randomness is an argument.

export interface Backoff {
  readonly baseMs: number;
  /** Limits the doubling. A longer `baseMs` counts in full. */
  readonly maxMs: number;
  readonly random: () => number;
}

/**
 * At least `baseMs · 2^(attempt − 1)`, plus up to half of it, so that many clients do not return together. `attempt`
 * counts from 1. `requestedMs`: a delay that the peer asked for, null for none; it only makes the wait longer.
 */
export function backoffMs(
  attempt: number,
  { baseMs, maxMs, random }: Backoff,
  requestedMs: number | null = null,
): number {
  const leastMs = Math.min(Math.max(maxMs, baseMs), baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.max(leastMs * (1 + random() / 2), requestedMs ?? 0);
}
