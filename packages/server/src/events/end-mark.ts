// End mark: the text of the last event of a run's log. Streams of runs leave it out; streams of threads derive from it.
// The mark says all that a root lifecycle event needs, so that a reader looks up no row for it.
import type { EndedBy, Run } from "../model/model.ts";
import { runEndError } from "../wire/run-end.ts";

export interface EndMark {
  readonly run_id: string;
  readonly status: Run["status"];
  readonly ended_by: EndedBy | null;
  readonly attempt: number;
  readonly at: number;
  readonly checkpoint_id: string | null;
  readonly error?: string;
  /** Questions that are open from then on, in their order. */
  readonly open?: readonly string[];
  /** Questions that the end of the run closed. */
  readonly closed?: readonly string[];
  /** The run streamed no `values`: readers take the state at its end. */
  readonly no_values?: true;
}

const ERROR_UNITS_MAX = 4096;

/** @param open ids of the questions that are open from then on @param closed of those that were until then */
export function endMark(run: Run, open: readonly string[], closed: readonly string[] = []): EndMark {
  const { runId, status, endedBy, attempt, updatedAt, checkpointId, request } = run;
  const failed = endedBy === "failure" || endedBy === "timeout";
  const modes = request.stream?.modes ?? ["values"];
  return {
    run_id: runId,
    status,
    ended_by: endedBy,
    attempt,
    at: updatedAt,
    checkpoint_id: checkpointId,
    ...(failed ? { error: errorText(run) } : {}),
    ...(open.length === 0 ? {} : { open }),
    ...(closed.length === 0 ? {} : { closed }),
    ...(modes.includes("values") ? {} : { no_values: true }),
  };
}

function errorText(run: Run): string {
  const { error, message } = runEndError(run);
  return `${error}: ${message}`.slice(0, ERROR_UNITS_MAX);
}
