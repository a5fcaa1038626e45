// Trace link: which trace a run goes on with. It is kept with the run, so that it holds after a restart too.
import type { Caller, Interrupt, Run, TraceLink } from "../../model/model.ts";
import type { Tx } from "../../ports/ports.ts";

/**
 * @param waits what the run answers or continues
 * @param open what waits on the thread: the run goes on with the trace of the run that asked
 * @returns null when the run goes on from no pause: it begins a trace of its own
 */
export async function traceLinkOf(
  tx: Tx,
  caller: Caller,
  waits: readonly Interrupt[],
  open: readonly Interrupt[],
): Promise<TraceLink | null> {
  const [asked] = waits.length > 0 ? waits : open;
  const asker = asked === undefined ? null : await tx.run(asked.threadId, asked.runId);
  if (asker === null) return null;
  const told = waits.map(({ interruptId, node, kind, createdAt }) => {
    return { interruptId, node, kind, since: createdAt, by: caller.name };
  });
  return { ...rootOf(asker), waits: told };
}

function rootOf({ request, runId, createdAt }: Run): Omit<TraceLink, "waits"> {
  if (request.trace !== undefined) return request.trace;
  return { rootRunId: runId, rootStartedAt: createdAt + Math.ceil((request.afterSeconds ?? 0) * 1000) };
}
