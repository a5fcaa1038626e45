// Thread view: a thread as its readers see it: record, state values and open interrupts.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import type { Interrupt, Thread } from "../model/model.ts";
import type { InterruptTx, StateTx, StateValues, StoredCheckpoint } from "../ports/ports.ts";

export interface ThreadView {
  readonly thread: Thread;
  /** Null if the thread has no state, or the caller requests none. */
  readonly values: ThreadValues | null;
  readonly open: readonly Interrupt[];
}

interface ThreadValues extends StateValues {
  /** Approximate size of the data read. */
  readonly units: number;
}

function countUnits({ checkpoint, values }: StoredCheckpoint): number {
  let units = checkpoint.small.length;
  for (const { text } of values.values()) units += text?.length ?? 0;
  return units;
}

export async function readView(
  agent: AgentContext,
  tx: StateTx & InterruptTx,
  thread: Thread,
  withValues = true,
): Promise<ThreadView> {
  const open = thread.status === "interrupted" ? await tx.interrupts(thread.threadId, "open") : [];
  return { thread, open, values: withValues ? await readValues(agent, tx, thread) : null };
}

/** Null for a thread without a state. */
export async function readValues(agent: AgentContext, tx: StateTx, thread: Thread): Promise<ThreadValues | null> {
  const { overlay } = thread;
  if (overlay !== null) {
    const json = (): Json => agent.graphs.toClientJson(overlay);
    const text = (): string => JSON.stringify(json());
    return { units: overlay.length, json, text };
  }
  if (thread.checkpointId === null) return null;
  const stored = await tx.checkpoint(thread.threadId, "", thread.checkpointId);
  const fingerprint = stored === null ? null : await tx.fingerprint(stored.checkpoint.fingerprint);
  if (stored === null || fingerprint === null) return null;
  return { units: countUnits(stored), ...(await agent.graphs.readValues(tx, stored, fingerprint)) };
}
