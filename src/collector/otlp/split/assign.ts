// Assign: gives each item of a request its worker. Rules: split.2 (split.ts).
import type { SplitRules } from "./rules.ts";

/** An item whose trace id is missing or unusable. */
export const NO_TRACE = -1;

/** Positions of the items of each worker; null for a worker without one. `owners[i]` is the worker of item i. */
export function assign(owners: readonly number[], rules: SplitRules): (number[] | null)[] {
  const fallback = rules.signal === "logs" ? rules.tenantOwner : (owners.find((owner) => owner !== NO_TRACE) ?? 0);
  const shares: (number[] | null)[] = Array.from({ length: rules.workers }, () => null);
  for (const [at, owner] of owners.entries()) (shares[owner === NO_TRACE ? fallback : owner] ??= []).push(at);
  // A request without an item still has a reader, which reports its faults.
  if (owners.length === 0) shares[rules.tenantOwner] = [];
  return shares;
}
