// Trace link: the trace that a run continues. Stored with the run, so that it survives a restart.
import type { Caller, Interrupt, Run, TraceLink } from "../../model/model.ts";
import type { RunTx } from "../../ports/ports.ts";

/**
 * @param waits interrupts that the run answers or continues
 * @param open open interrupts of the thread: the run continues the trace of the run that raised them
 * @returns null if the run continues no pause and starts its own trace
 */
export async function findTraceLink(
  tx: RunTx,
  { caller, asker: known }: { readonly caller: Caller; readonly asker: Run | null },
  waits: readonly Interrupt[],
  open: readonly Interrupt[],
): Promise<TraceLink | null> {
  const [asked] = waits.length > 0 ? waits : open;
  const asker = asked === undefined || asked.runId === known?.runId ? known : await tx.run(asked.threadId, asked.runId);
  if (asked === undefined || asker === null) return null;
  const traced = waits.map(({ interruptId, node, kind, createdAt }) => {
    return { interruptId, node, kind, since: createdAt, by: caller.name };
  });
  return { ...findRoot(asker), waits: traced };
}

function findRoot({ request, runId, createdAt }: Run): Omit<TraceLink, "waits"> {
  if (request.trace !== undefined) return request.trace;
  return { rootRunId: runId, rootStartedAt: createdAt + Math.ceil((request.afterSeconds ?? 0) * 1000) };
}
