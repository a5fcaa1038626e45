// Crash: which of the runs that a dead process had is to blame, and what follows for them. Pure.
// Invariants:
//   crash-suspects.1. Only a run that executed alone when its process died is counted. It did when nothing else was running there, or
//        when it is marked as alone (quarantine.ts): the others had not begun.
//   crash-suspects.2. Runs that executed beside each other are suspects, all of them: nothing is counted, and each executes alone next.
//   crash-suspects.3. A suspect has proved itself when it has executed alone for its probation, which doubles with each death. So a run
//        that kills its process after any time is alone at last when it does, and other runs wait for a bounded time.
import type { Run } from "./model.ts";

/** Why a run goes back to the queue. */
export type RequeueCause =
  /** The process stops, or the run had not begun. */
  | "stopped"
  /** Its process died, and it was alone. */
  | "crash"
  /** Its process died, and it was not. */
  | "suspicion"
  /** The storage failed. */
  | "storage";

/** @param runs all that the process had. @returns why each goes back: crash-suspects.1, crash-suspects.2 */
export function causesOf(runs: readonly Pick<Run, "runId" | "alone">[]): ReadonlyMap<string, RequeueCause> {
  const lone = runs.length === 1 ? runs[0] : runs.find(({ alone }) => alone === 1);
  return new Map(runs.map((run) => [run.runId, lone === undefined ? "suspicion" : run === lone ? "crash" : "stopped"]));
}

type Deaths = Pick<Run, "crashes" | "suspicions">;

/** Times that a process died while it had the run. */
export function deathsOf({ crashes, suspicions }: Deaths): number {
  return crashes + suspicions;
}

const PROBATION_MS = 5000;
/** Beyond that, the time limit of runs has ended it. */
const DOUBLINGS_MAX = 20;

/** crash-suspects.3. */
export function probationMs(run: Deaths): number {
  return PROBATION_MS * 2 ** Math.min(deathsOf(run) - 1, DOUBLINGS_MAX);
}
