// Limits of the collector in tests: members beside the variables, by their names in packages/collector/src/service/limits.ts.
import { COLLECTOR_LIMITS, type CollectorLimits } from "@holdpoint/collector/service/limits.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** `{ SPOOL_DIR, retryCooldownMs: "20" }` → the limits, which no variable of the product sets. */
export function readTestLimits(given: Env): CollectorLimits {
  const own = Object.entries(given).filter(([name, value]) => name in COLLECTOR_LIMITS && value !== undefined);
  return { ...COLLECTOR_LIMITS, ...Object.fromEntries(own.map(([name, value]) => [name, Number(value)])) };
}
