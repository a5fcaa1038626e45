// Check budget: the CPU time of checks that may be slow, shared by all answers of the process. A check cannot yield to
// the event loop, because it decides within a transaction; one call may bring many answers, and many calls one check.
// Invariants:
//   check-budget.1. All checks together hold the event loop for at most BURST_MS, and for REFILL_SHARE of the time in
//        the long run.
//   check-budget.2. With little left, a check gets CHECK_MS_MIN: enough for an ordinary schema. Beyond it, and with
//        nothing left, it is "busy", which says nothing about the answer.
import { boundedWork, cpuMsOfThread } from "../../base/bounded-work.ts";

/** Of one check. */
export const CHECK_MS_MAX = 100;
const CHECK_MS_MIN = 5;
const BURST_MS = 250;
const REFILL_SHARE = 0.25;

export type Checked<T> = { readonly result: T } | "too_slow" | "busy";

export interface CheckBudget {
  /** @throws any error of the check */
  readonly run: <T>(check: () => T) => Checked<T>;
}

export function createCheckBudget(monotonic = () => performance.now(), cpuMs = cpuMsOfThread): CheckBudget {
  let [spentMs, at] = [0, monotonic()];
  return {
    run(check) {
      const now = monotonic();
      spentMs = Math.max(0, spentMs - (now - at) * REFILL_SHARE);
      at = now;
      if (spentMs >= BURST_MS) return "busy"; // check-budget.1
      const limitMs = spentMs + CHECK_MS_MAX <= BURST_MS ? CHECK_MS_MAX : CHECK_MS_MIN; // check-budget.2
      const before = cpuMs();
      try {
        const outcome = boundedWork(limitMs, check, cpuMs);
        return outcome === "too_slow" && limitMs < CHECK_MS_MAX ? "busy" : outcome;
      } finally {
        spentMs += cpuMs() - before;
        at = monotonic(); // the time of checks refills nothing
      }
    },
  };
}
