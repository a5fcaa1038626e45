// Deadline buckets: the time left until a deadline, as facets of the inbox group it.
import type { DeadlineBucket } from "../../ports/ports.ts";

const HOUR_MS = 3_600_000;

/** Milliseconds left: more than `from`, at most `to`. */
export const BUCKETS: Readonly<
  Record<Exclude<DeadlineBucket, "none">, { readonly from: number | null; readonly to: number | null }>
> = {
  overdue: { from: null, to: 0 },
  hour: { from: 0, to: HOUR_MS },
  day: { from: HOUR_MS, to: 24 * HOUR_MS },
  week: { from: 24 * HOUR_MS, to: 7 * 24 * HOUR_MS },
  later: { from: 7 * 24 * HOUR_MS, to: null },
};

export function bucketAt(expiresAt: number | null, now: number): DeadlineBucket {
  if (expiresAt === null) return "none";
  const left = expiresAt - now;
  const found = (["overdue", "hour", "day", "week"] as const).find((bucket) => left <= (BUCKETS[bucket].to ?? 0));
  return found ?? "later";
}
