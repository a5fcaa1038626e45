// State memory: what the states of runs in progress take of a process with a memory limit (docs/reference/sizing.md has
// the measurements). A state takes BYTES_HELD a character while its run goes on, and its largest value BYTES_IN_STEP more
// while a step brings it to the database and to readers. Steps take turns, so the largest of all values counts once.

/** What a server takes that has executed some runs, with what they leave until V8 collects it. */
const IDLE_BYTES = 190 * 1024 * 1024;
const BYTES_HELD = 4;
const BYTES_IN_STEP = 12;
const BYTES_LEAVING = 4;
/** Taken with any limit: the process may hold more than it did when it was measured. */
export const SMALL_UNITS = 100_000;

export interface StateSize {
  /** UTF-16 units of all values that are stored by themselves. */
  readonly units: number;
  /** Those of the largest. */
  readonly largest: number;
}

/** @param limitBytes of the process; 0 for none @returns bytes for states */
export function readStateBudget(limitBytes: number): number {
  if (limitBytes === 0) return Infinity;
  return Math.max(SMALL_UNITS * (BYTES_HELD + BYTES_IN_STEP), limitBytes - IDLE_BYTES);
}

/** @param unitsLeaving of large replies that are being written */
export function countStateBytes(sizes: Iterable<StateSize>, unitsLeaving: number): number {
  let [held, largestOfAll] = [0, 0];
  for (const { units, largest } of sizes) {
    held += units;
    largestOfAll = Math.max(largestOfAll, largest);
  }
  return held * BYTES_HELD + largestOfAll * BYTES_IN_STEP + unitsLeaving * BYTES_LEAVING;
}

/** The largest value that a process takes. */
export function readUnitsMax(budgetBytes: number): number {
  return budgetBytes / (BYTES_HELD + BYTES_IN_STEP);
}

const LIMIT_BYTES = process.constrainedMemory();

export const STATE_BUDGET_BYTES: number = readStateBudget(LIMIT_BYTES);

/** A body and the run that it starts take this many bytes for each of it. */
const BYTES_OF_BODY = 32;

export const BODY_BYTES_MAX: number = Math.floor(STATE_BUDGET_BYTES / BYTES_OF_BODY);

const BYTES_UNKNOWN = 128 * 1024 * 1024;

/** Limit of runs in progress whose state sizes are unknown: their nodes may all end at one moment, and V8 has half of the memory. */
export const UNKNOWN_RUNS_MAX: number =
  LIMIT_BYTES === 0 ? Infinity : Math.max(1, Math.floor(LIMIT_BYTES / BYTES_UNKNOWN));
