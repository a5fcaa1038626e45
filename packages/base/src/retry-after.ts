// Retry-After: how long a receiver asks to wait. Pure.
// Invariant: a date counts from the receiver's own clock, if the reply names it: ours may be days off.

/** Real receivers ask for less, and a date may be years away. */
const RETRY_AFTER_MS_MAX = 3_600_000;

/** @param headers of the reply @param now our wall time, ms @returns ms from now, at most an hour; null without one */
export function readRetryAfter(headers: Readonly<Record<string, unknown>>, now: number): number | null {
  const { "retry-after": value, date } = headers;
  const saidAt = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return retryAfterMs(typeof value === "string" ? value : undefined, Number.isNaN(saidAt) ? now : saidAt);
}

/** Seconds or an HTTP date → ms from now. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), RETRY_AFTER_MS_MAX);
}
