// Outdated votes: votes for a question that a later run asks again under other circumstances.
// A vote stands on the run that asked. An edit, or another assistant, config, context or
// breakpoint under the open question, ends it, though the payload may be the same.
import { isDeepStrictEqual } from "node:util";
import type { Interrupt, Run } from "../model/model.ts";
import type { RunTx } from "../ports/ports.ts";

/** @param known interrupts of the thread before the end of the run @returns ids */
export async function outdatedVotes(
  tx: Pick<RunTx, "run">,
  run: Run,
  known: readonly Interrupt[],
): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  for (const { state, review, threadId, runId, interruptId } of known) {
    if (state !== "open" || review === null || review.votes.length === 0) continue;
    if (!standsOnSameGround(await tx.run(threadId, runId), run)) outdated.add(interruptId);
  }
  return outdated;
}

function standsOnSameGround(asker: Run | null, run: Run): boolean {
  if (asker === null || run.request.startedBy !== undefined) return false;
  const ground = ({ assistantId, request: { config, context, interruptBefore, interruptAfter } }: Run) => [
    assistantId,
    config,
    context,
    interruptBefore,
    interruptAfter,
  ];
  return isDeepStrictEqual(ground(asker), ground(run));
}
