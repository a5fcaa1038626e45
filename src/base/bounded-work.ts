// Bounded work: synchronous work that is stopped when it takes too long, whatever it is doing.
// Invariants:
//   BW1. Work that is over its time ends as "too_slow": also in the middle of one regular expression.
//   BW2. `finally` blocks of stopped work do not run. It may own nothing that has to be put back.
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
const place = createContext({ work: (): unknown => undefined });

/** @throws what the work throws */
export function boundedWork<T>(msMax: number, work: () => T): { readonly result: T } | "too_slow" {
  const before = place["work"] as unknown;
  place["work"] = work;
  try {
    return { result: CALL.runInContext(place, { timeout: msMax }) as T }; // BW1
  } catch (error) {
    if (isTimeout(error)) return "too_slow";
    throw error;
  } finally {
    place["work"] = before;
  }
}

/** By its code: the error is of the other context's own class. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
