// Probation: marks a suspect as alone before it starts, and clears it after its probation (worker.6, crash-suspects.3).
import { describeError } from "@holdpoint/base/api-error.ts";
import { probationMs } from "../../model/crash-suspects.ts";
import type { Run } from "../../model/model.ts";
import type { WorkerPorts } from "./execution-ports.ts";
import type { Quarantine } from "./quarantine.ts";

const MARK_AGAIN_MS = 1000;

/** @returns a function that ends the probation with the run */
export async function beginProbation(
  run: Run,
  { storage, clock, log, quarantine }: WorkerPorts & { readonly quarantine: Quarantine },
): Promise<() => void> {
  const probation = new AbortController();
  const mark = (alone: 0 | 1): Promise<void> =>
    storage.transaction(async (tx) => {
      if (await tx.isCurrent(run)) await tx.updateRun(run.runId, { alone });
    });
  const unmark = async (): Promise<void> => {
    if (probation.signal.aborted) return;
    try {
      await mark(0);
      quarantine.proved(run.runId);
    } catch {
      unmarkAfter(MARK_AGAIN_MS); // until then it stays alone
    }
  };
  const unmarkAfter = (ms: number): void => {
    const stop = clock.after(ms, () => void unmark());
    probation.signal.addEventListener("abort", stop, { once: true });
  };
  await mark(1).catch((error: unknown) =>
    log.debug("quarantine_mark_failed", { run_id: run.runId, reason: describeError(error).message }),
  );
  unmarkAfter(probationMs(run));
  log.info("run_quarantined", { run_id: run.runId, for_ms: probationMs(run) });
  return () => probation.abort();
}
