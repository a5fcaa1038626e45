// Continuable: may the deployed graph go on with what is pending on a thread?
// Invariant graph-compatibility.1: a pause whose node or channel is gone is refused by name, and stays as it is.
import { ApiError } from "../../../base/api-error.ts";
import type { AgentContext } from "../../context.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import type { Interrupt, Thread } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";

/**
 * Pending work goes on only in a graph that still has its parts; a thread without any has nothing to go on with.
 * @param writtenBy fingerprint of the graph that wrote the checkpoint to go on from; null when there is none
 */
export async function checkGraphCompatibility(
  agent: AgentContext,
  tx: Tx,
  thread: Thread,
  known: readonly Interrupt[],
  intent: Intent,
  graphId: string,
  forkFrom: string | null,
  writtenBy: string | null,
): Promise<void> {
  if (intent.kind === "input" || intent.kind === "give_up") return;
  if (writtenBy === null) {
    if (intent.kind === "continue" && thread.status !== "busy") {
      throw new ApiError("nothing_to_continue", "The thread has never run: send an input.");
    }
    return;
  }
  if (writtenBy === agent.graphs.describe(graphId)?.fingerprint.hash) return;
  const missing = await missingParts(agent, tx, thread.threadId, forkFrom, known, graphId);
  if (missing.length > 0) {
    const list = missing.join(", ");
    throw new ApiError("graph_incompatible", `The graph ${graphId} cannot continue this thread: it lacks ${list}.`, {
      missing,
    });
  }
}

async function missingParts(
  agent: AgentContext,
  tx: Tx,
  threadId: string,
  checkpointId: string | null,
  known: readonly Interrupt[],
  graphId: string,
): Promise<readonly string[]> {
  const stored = await tx.checkpoint(threadId, "", checkpointId);
  const from = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  if (stored === null || from === null) return [];
  const pausedAt = known.filter((interrupt) => interrupt.state === "open").map((interrupt) => interrupt.ns);
  return agent.graphs.missingFor(graphId, stored, from, pausedAt);
}
