// Bounded work: synchronous work with a time limit that interrupts it at any point.
// Invariants:
//   bounded-work.1. Work over its limit ends as "too_slow", also in the middle of one regular expression.
//   bounded-work.2. `finally` blocks of interrupted work do not run. Such work owns nothing that needs cleanup.
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
const place = createContext({ work: (): unknown => undefined });

/** @throws any error of the work */
export function boundedWork<T>(msMax: number, work: () => T): { readonly result: T } | "too_slow" {
  const before = place["work"] as unknown;
  place["work"] = work;
  try {
    return { result: CALL.runInContext(place, { timeout: msMax }) as T }; // bounded-work.1
  } catch (error) {
    if (isTimeout(error)) return "too_slow";
    throw error;
  } finally {
    place["work"] = before;
  }
}

/** Compared by code: the error has the class of the other context. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
