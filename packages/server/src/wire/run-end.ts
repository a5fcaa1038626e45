// Run end: the end of a run as the reply of a waiting call, and its error.
import type { ErrorInfo, Run } from "../model/model.ts";
import type { RunEnd } from "../ports/ports.ts";
import { serializeInterrupt, withoutStack } from "./api-objects.ts";

/** Reply of a waiting call: the state, with `__interrupt__` for a pause, or `__error__`. JSON text. */
export function serializeRunEnd(end: RunEnd): string {
  const { run } = end;
  if (run.endedBy !== "done" && run.endedBy !== "pause") return JSON.stringify({ __error__: runEndError(run) });
  const values = end.valuesText ?? "{}";
  if (end.pause === null) return values;
  const interrupts = JSON.stringify(end.interrupts.map((interrupt) => serializeInterrupt(interrupt, true)));
  if (!values.startsWith("{")) return `{"__interrupt__":${interrupts}}`;
  return `${values.slice(0, -1)}${values === "{}" ? "" : ","}"__interrupt__":${interrupts}}`;
}

/** Reason for an end other than success or pause. */
export function runEndError(run: Run): ErrorInfo {
  return run.error === null ? ENDINGS[run.endedBy ?? "failure"] : withoutStack(run.error);
}

const ENDINGS = {
  done: { error: "Ended", message: "the run has ended" },
  pause: { error: "Paused", message: "the run has paused" },
  cancel: { error: "Cancelled", message: "the run was cancelled" },
  rollback: { error: "RolledBack", message: "the run was cancelled and its writes were reverted" },
  timeout: { error: "Timeout", message: "the run took longer than it may" },
  failure: { error: "Error", message: "the run failed" },
} as const;
