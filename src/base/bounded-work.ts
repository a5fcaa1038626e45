// Bounded work: synchronous work with a limit on its CPU time that interrupts it at any point.
// Invariants:
//   bounded-work.1. Work over its limit ends as "too_slow", also in the middle of one regular expression.
//   bounded-work.2. `finally` blocks of interrupted work do not run. Such work owns nothing that needs cleanup.
//   bounded-work.3. The limit holds for CPU time. Node interrupts by the clock, so on a busy machine work may be
//        interrupted before its limit: then it starts again, with twice the clock time. Such work may run several
//        times.
//   bounded-work.4. After ATTEMPTS_MAX interruptions it is "too_slow" in any case.
//   bounded-work.5. All attempts together take at most TOTAL_SHARE times the limit of CPU time.
import { createContext, Script } from "node:vm";

const CALL = new Script("work()");
const place = createContext({ work: (): unknown => undefined });

const ATTEMPTS_MAX = 3;
const TOTAL_SHARE = 2.5;
/** The clock of CPU time and the one of the interruption differ by some milliseconds. */
const CPU_SHARE = 0.9;

/** @param cpuMs CPU time of this thread so far @throws any error of the work */
export function boundedWork<T>(
  cpuMsMax: number,
  work: () => T,
  cpuMs: () => number = cpuMsOfThread,
): { readonly result: T } | "too_slow" {
  let leftMs = cpuMsMax * TOTAL_SHARE;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && leftMs >= 1; attempt++) {
    const before = cpuMs();
    const outcome = interruptible(Math.floor(Math.min(cpuMsMax * 2 ** attempt, leftMs)), work); // bounded-work.5
    if (outcome !== "interrupted") return outcome;
    const usedMs = cpuMs() - before;
    if (usedMs >= cpuMsMax * CPU_SHARE) return "too_slow"; // bounded-work.3
    leftMs -= usedMs;
  }
  return "too_slow"; // bounded-work.4
}

function interruptible<T>(clockMsMax: number, work: () => T): { readonly result: T } | "interrupted" {
  const before = place["work"] as unknown;
  place["work"] = work;
  try {
    return { result: CALL.runInContext(place, { timeout: clockMsMax }) as T }; // bounded-work.1
  } catch (error) {
    if (isTimeout(error)) return "interrupted";
    throw error;
  } finally {
    place["work"] = before;
  }
}

/** CPU time of this thread so far. */
export function cpuMsOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Compared by code: the error has the class of the other context. */
function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
