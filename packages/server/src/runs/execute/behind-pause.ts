// Behind a pause: runs in the queue of a thread that comes to wait for a person. They wait with it, apart from those whose
// `on_paused` is `reject` (interrupts/on-paused.ts): they end here.
// Invariants:
//   - They end in the transaction that stores the pause, after the policies: a pause that a policy has ended at once
//     refuses none.
import { announcer } from "../../webhooks/run-ended-event.ts";
import { noteEnd } from "../../events/thread-note.ts";
import type { ErrorInfo, Run } from "../../model/model.ts";
import type { EndTx, EventTx } from "../../ports/ports.ts";
import type { ExecutePorts } from "./execution-ports.ts";
import { endPending, type Finished } from "./finish-run.ts";

const REFUSED: ErrorInfo = {
  error: "thread_paused",
  message:
    "The thread waits for a person, whom an earlier run has asked, and on_paused is reject. Answer the question and start the run again, or use a thread of its own for it.",
};

type BehindPausePorts = Pick<ExecutePorts, "graphs" | "clock"> & {
  readonly events: Pick<ExecutePorts["events"], "goneAt">;
};

/** @returns the runs that have ended */
export async function endBehindPause(
  tx: EndTx & EventTx,
  finished: Pick<Finished, "holdsRuns" | "run"> | null,
  { graphs, events, clock }: BehindPausePorts,
): Promise<readonly Run[]> {
  if (finished?.holdsRuns !== true) return [];
  const { threadId } = finished.run;
  if ((await tx.thread(threadId))?.status !== "interrupted") return [];
  const at = clock.now();
  const end = { reason: "failure", error: REFUSED, at, announce: announcer(graphs, () => null) } as const;
  const refused: Run[] = [];
  for (const waiting of await tx.activeRuns(threadId)) {
    if (waiting.request.refusesPause !== true || waiting.dueAt !== null) continue;
    const run = await endPending(tx, waiting, end);
    await noteEnd(tx, { run }, { at, goneAt: events.goneAt(run) });
    refused.push(run);
  }
  return refused;
}
