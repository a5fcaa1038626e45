// Quarantine: within one process, a crash suspect executes alone (crash-suspects.ts).
// Invariants:
//   quarantine.1. While a suspect executes alone, or waits to, no other run starts in this process: later runs line up.
//   quarantine.2. A suspect waits for the runs in progress for at most its probation, from the moment it lines up. Then
//     it starts concurrently, and is not alone: many suspects with long runs do not wait one after the other.
//   quarantine.3. Without a suspect, a run starts at once, in the same turn of the event loop.
import type { Clock } from "@holdpoint/base/clock.ts";
import { countDeaths, probationMs } from "../../model/crash-suspects.ts";
import type { Run } from "../../model/model.ts";

type Candidate = Pick<Run, "runId" | "crashes" | "suspicions">;

export interface Quarantine {
  /** quarantine.3: null if the run may start at once. @returns true if it starts alone, as a suspect */
  admit(run: Candidate, signal: AbortSignal): Promise<boolean> | null;
  /** Ends the probation of the run: others may start. */
  proved(runId: string): void;
  /** Reports that the run no longer executes here. */
  left(runId: string): void;
  /** True if another run may start here, besides `after`, which is about to end. */
  isOpen(after?: string): boolean;
}

interface Waiting {
  readonly run: Candidate;
  readonly begin: (alone: boolean) => void;
  isPatient: boolean;
  stopPatience: () => void;
}

/** @param onOpen called when other runs may start again */
export function createQuarantine(clock: Clock, onOpen: () => void): Quarantine {
  const executing = new Set<string>();
  let line: Waiting[] = [];
  let lone: string | null = null;

  const mustWait = ({ run, isPatient }: Waiting): boolean => countDeaths(run) > 0 && executing.size > 0 && isPatient;
  const advance = (): void => {
    const wasOpen = lone === null && line.length === 0;
    for (let head = line[0]; lone === null && head !== undefined; head = line[0]) {
      if (mustWait(head)) return;
      line = line.slice(1);
      head.stopPatience();
      const { run } = head;
      const alone = countDeaths(run) > 0 && executing.size === 0;
      if (alone) lone = run.runId;
      executing.add(run.runId);
      head.begin(alone);
    }
    if (!wasOpen && lone === null && line.length === 0) onOpen();
  };

  return {
    isOpen: (after) => line.length === 0 && (lone === null || lone === after),
    admit(run, signal) {
      if (countDeaths(run) === 0 && lone === null && line.length === 0) {
        executing.add(run.runId);
        return null; // quarantine.3
      }
      return new Promise((resolve) => {
        const waiting: Waiting = { run, begin: resolve, isPatient: true, stopPatience: () => {} };
        line.push(waiting);
        if (countDeaths(run) > 0)
          waiting.stopPatience = clock.after(probationMs(run), () => {
            waiting.isPatient = false; // quarantine.2
            advance();
          });
        signal.addEventListener("abort", () => {
          if (!line.includes(waiting)) return;
          line = line.filter((other) => other !== waiting);
          waiting.stopPatience();
          executing.add(run.runId); // it only ends
          resolve(false);
          advance();
        });
        if (signal.aborted) signal.dispatchEvent(new Event("abort"));
        else advance();
      });
    },
    proved(runId) {
      if (lone !== runId) return;
      lone = null;
      advance();
      if (line.length === 0) onOpen();
    },
    left(runId) {
      executing.delete(runId);
      if (lone !== runId) return advance();
      lone = null;
      advance();
      if (line.length === 0) onOpen();
    },
  };
}
