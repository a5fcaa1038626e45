// Graph compatibility: decides whether the deployed graph can continue the pending work of a thread.
// Invariants:
//   - A pause whose node or channel is missing is refused with the names of the missing parts, and stays unchanged.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import type { Interrupt, Thread } from "../../model/model.ts";
import type { Graphs, StateTx } from "../../ports/ports.ts";

export interface CompatibilityCheck {
  readonly thread: Thread;
  readonly known: readonly Interrupt[];
  readonly intent: Intent;
  readonly graphId: string;
  readonly forkFrom: string | null;
  /** Fingerprint of the graph that wrote the starting checkpoint; null if there is none. */
  readonly writtenBy: string | null;
}

/** @throws {ApiError} `nothing_to_continue`, `graph_incompatible` */
export async function checkGraphCompatibility(
  graphs: Pick<Graphs, "describe" | "missingFor">,
  tx: StateTx,
  check: CompatibilityCheck,
): Promise<void> {
  const { thread, intent, graphId, writtenBy } = check;
  if (intent.kind === "input" || intent.kind === "end_thread") return;
  if (writtenBy === null) {
    if (intent.kind === "continue" && thread.status !== "busy") {
      throw new ApiError("nothing_to_continue", "The thread has never run: send an input.");
    }
    return;
  }
  if (writtenBy === graphs.describe(graphId)?.fingerprint.hash) return;
  const missing = await missingParts(graphs, tx, check);
  if (missing.length > 0) {
    const detail = `The graph ${graphId} cannot continue this thread: it lacks ${missing.join(", ")}.`;
    throw new ApiError("graph_incompatible", detail, { missing });
  }
}

async function missingParts(
  graphs: Pick<Graphs, "missingFor">,
  tx: StateTx,
  { thread, known, graphId, forkFrom }: CompatibilityCheck,
): Promise<readonly string[]> {
  const stored = await tx.checkpoint(thread.threadId, "", forkFrom);
  const from = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  if (stored === null || from === null) return [];
  const pausedAt = known.filter((interrupt) => interrupt.state === "open").map((interrupt) => interrupt.ns);
  return graphs.missingFor(graphId, stored, from, pausedAt);
}
