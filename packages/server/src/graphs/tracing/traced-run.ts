// Traced run: one attempt of a run with its trace. Without tracing it is the attempt alone.
import type { Run } from "../../model/model.ts";
import type { GraphRunResult, RunTrace, StepEnd, Tracing } from "../../ports/ports.ts";
import type { Codec } from "../checkpoints/codec/value-codec.ts";
import { traceCallbacks } from "./trace-callbacks.ts";

/** @param work runs the graph with these callbacks */
export async function tracedRun(
  { tracing, codec }: { readonly tracing: Tracing | null; readonly codec: Codec },
  run: Run,
  signal: AbortSignal,
  work: (callbacks: readonly object[]) => Promise<GraphRunResult>,
): Promise<GraphRunResult> {
  if (tracing === null) return work([]);
  const trace = tracing.begin(run);
  const { input } = run;
  trace.input(() => (input === null ? undefined : codec.toClientJson(codec.decode(codec.parse(input)))));
  const result = await work([traceCallbacks(trace, (value) => codec.clientText(value))]);
  trace.end(buildTraceEnd(result, signal, codec));
  return result;
}

function buildTraceEnd({ outcome }: GraphRunResult, signal: AbortSignal, codec: Codec): Parameters<RunTrace["end"]>[0] {
  const shown = (values: unknown, state: string): StepEnd => ({ output: () => codec.clientText(values), state });
  switch (outcome.kind) {
    case "done":
      return shown(outcome.values, "done");
    case "question":
    case "breakpoint":
      return shown(outcome.values, "pause");
    case "failed":
      if (outcome.storageFailed === true) return "requeued";
      return { error: { name: outcome.error.error, message: outcome.error.message }, state: "failure" };
    case "aborted": {
      const reason = String(signal.reason);
      if (reason === "shutdown") return "requeued";
      return reason === "timeout" ? { error: { name: "Timeout", message: reason }, state: reason } : { state: reason };
    }
    default:
      return outcome satisfies never;
  }
}
