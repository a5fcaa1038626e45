// Root lifecycle: begin and end of a run, and its questions, as protocol events. Pure.
// Invariants:
//   - Ids name the run in the form by which clients distinguish the runs of a thread: `synth:<run id>:…`.
//   - The same id is made from the log, and from the row of a run whose log is not kept any more.
import type { EndMark } from "../../events/end-mark.ts";
import type { EndedBy, Interrupt } from "../../model/model.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";

const ENDS: Readonly<Record<EndedBy, "completed" | "interrupted" | "failed">> = {
  done: "completed",
  pause: "interrupted",
  cancel: "interrupted",
  rollback: "interrupted",
  failure: "failed",
  timeout: "failed",
};

export function runningId(runId: string, attempt: number): string {
  return `synth:${runId}:running:${attempt}`;
}

export function runningData(runId: string, attempt: number): JsonObject {
  return { event: "running", run_id: runId, attempt };
}

export function endName({ ended_by: endedBy }: Pick<EndMark, "ended_by">): string {
  return endedBy === null ? "interrupted" : ENDS[endedBy];
}

export function endId(mark: EndMark): string {
  return `synth:${mark.run_id}:${endName(mark)}:${mark.attempt}`;
}

export function endData(mark: EndMark): JsonObject {
  const breakpoint = mark.ended_by === "pause" && mark.open === undefined;
  return {
    event: endName(mark),
    run_id: mark.run_id,
    attempt: mark.attempt,
    ended_by: breakpoint ? "breakpoint" : mark.ended_by,
    ...(mark.error === undefined ? {} : { error: mark.error }),
    ...(typeof mark.checkpoint_id === "string" ? { checkpoint: { id: mark.checkpoint_id } } : {}),
  };
}

export function requestedId(mark: Pick<EndMark, "run_id" | "attempt">, interruptId: string): string {
  return `synth:${mark.run_id}:input:${interruptId}:${mark.attempt}`;
}

export function requestedData(question: Interrupt): JsonObject {
  const { interruptId, value, runId, node, responseSchema, expiresAt } = question;
  return {
    interrupt_id: interruptId,
    payload: value,
    value,
    run_id: runId,
    node,
    ...(responseSchema === null ? {} : { response_schema: responseSchema }),
    ...(expiresAt === null ? {} : { expires_at: new Date(expiresAt).toISOString() }),
  };
}
