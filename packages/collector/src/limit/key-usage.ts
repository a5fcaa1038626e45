// Key usage: a token bucket and the counts of one day, as pure functions of usage, limit and time.
// Invariants:
//   key-usage.1. The bucket holds at most `burst` tokens. A request passes with one token, and takes one for each item: it
//        may leave a debt, so that a request larger than the bucket passes too, and the average holds.
//   key-usage.2. A day is one of UTC. A clock that goes back begins no new day.
//   key-usage.3. The request that reaches a quota passes; the next one waits for the next day.

export interface KeyLimit {
  /** null: no limit. */
  readonly itemsPerSecond: number | null;
  readonly burst: number;
  readonly itemsPerDay: number | null;
  readonly bytesPerDay: number | null;
  readonly usdPerDay: number | null;
}

export interface Usage {
  /** Negative: a debt. */
  readonly tokens: number;
  readonly steadyMs: number;
  /** Days since 1970. */
  readonly day: number;
  readonly items: number;
  readonly bytes: number;
  /** Known after the requests: when their runs go to the backend. */
  readonly usd: number;
}

/** Bucket times are steady, days are of the wall clock. */
export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export interface Amount {
  readonly items: number;
  readonly bytes: number;
}

export const LIMIT_REASONS = ["items_per_second", "items_per_day", "bytes_per_day", "usd_per_day"] as const;
export type LimitReason = (typeof LIMIT_REASONS)[number];

export interface OverLimit {
  readonly reason: LimitReason;
  readonly retryAfterSeconds: number;
}

const DAY_MS = 86_400_000;

/** Nothing is used yet. */
export function beginUsage(limit: KeyLimit, { steadyMs, wallMs }: Moment): Usage {
  return { tokens: limit.burst, steadyMs, day: Math.floor(wallMs / DAY_MS), items: 0, bytes: 0, usd: 0 };
}

/** The usage at a later moment, without requests in between. */
export function refillUsage(usage: Usage, limit: KeyLimit, { steadyMs, wallMs }: Moment): Usage {
  const gained = ((limit.itemsPerSecond ?? 0) * Math.max(0, steadyMs - usage.steadyMs)) / 1000;
  const tokens = Math.min(limit.burst, usage.tokens + gained); // key-usage.1
  const day = Math.floor(wallMs / DAY_MS);
  if (day <= usage.day) return { ...usage, tokens, steadyMs }; // key-usage.2
  return { tokens, steadyMs, day, items: 0, bytes: 0, usd: 0 };
}

/** null: a request may pass. The longest wait wins. */
export function overLimit(usage: Usage, limit: KeyLimit, { wallMs }: Moment): OverLimit | null {
  const { bytesPerDay, itemsPerDay, itemsPerSecond, usdPerDay } = limit;
  const restOfDay = Math.max(1, Math.ceil(((usage.day + 1) * DAY_MS - wallMs) / 1000));
  if (itemsPerDay !== null && usage.items >= itemsPerDay)
    // key-usage.3
    return { reason: "items_per_day", retryAfterSeconds: restOfDay };
  if (bytesPerDay !== null && usage.bytes >= bytesPerDay)
    return { reason: "bytes_per_day", retryAfterSeconds: restOfDay };
  if (usdPerDay !== null && usage.usd >= usdPerDay) return { reason: "usd_per_day", retryAfterSeconds: restOfDay };
  if (itemsPerSecond === null || usage.tokens >= 1) return null;
  return {
    reason: "items_per_second",
    retryAfterSeconds: Math.max(1, Math.ceil((1 - usage.tokens) / itemsPerSecond)),
  };
}

/** A negative amount is a refund. */
export function charged(usage: Usage, { items, bytes }: Amount): Usage {
  return { ...usage, tokens: usage.tokens - items, items: usage.items + items, bytes: usage.bytes + bytes };
}
