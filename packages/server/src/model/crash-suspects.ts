// Crash attribution: which runs of a dead process count as its cause, and how each continues. Pure.
// Invariants:
//   crash-suspects.1. A crash counts only against a run that executed alone when its process died. A run is alone if
//     the process had no other run, or if it is marked as alone (quarantine.ts): the others had not started.
//   crash-suspects.2. Runs that executed concurrently all become suspects. No crash counts, and each suspect executes
//     alone next.
//   crash-suspects.3. A suspect is cleared after it executes alone for its probation, which doubles with each death. So
//     a run that kills its process is eventually alone when it does, and other runs wait for a bounded time.
import type { Run } from "./model.ts";

/** Reason for a requeue. */
export type RequeueCause =
  /** The process stops, or the run had not started. */
  | "stopped"
  /** The process died while it executed this run alone. */
  | "crash"
  /** The process died while it executed several runs. */
  | "suspicion"
  /** The storage failed. */
  | "storage";

/**
 * @param runs all runs of the process
 * @returns the cause of each requeue: crash-suspects.1, crash-suspects.2
 */
export function nameCauses(runs: readonly Pick<Run, "runId" | "alone">[]): ReadonlyMap<string, RequeueCause> {
  const lone = runs.length === 1 ? runs[0] : runs.find(({ alone }) => alone === 1);
  return new Map(runs.map((run) => [run.runId, lone === undefined ? "suspicion" : run === lone ? "crash" : "stopped"]));
}

type Deaths = Pick<Run, "crashes" | "suspicions">;

/** Number of process deaths during the run. */
export function countDeaths({ crashes, suspicions }: Deaths): number {
  return crashes + suspicions;
}

const PROBATION_MS = 5000;
/** Beyond that, the time limit of runs applies first. */
const DOUBLINGS_MAX = 20;

/** crash-suspects.3. */
export function probationMs(run: Deaths): number {
  return PROBATION_MS * 2 ** Math.min(countDeaths(run) - 1, DOUBLINGS_MAX);
}
