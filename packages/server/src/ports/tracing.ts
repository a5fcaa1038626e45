// Tracing port: runs as traces.
import type { Run } from "../model/model.ts";

/** Records runs. */
export interface Tracing {
  begin(run: Run): RunTrace;
}

/** One attempt of one run. Its methods never throw. */
export interface RunTrace {
  /** @param value called only if the trace includes content */
  input(value: () => unknown): void;
  step(step: TraceStep): TracedStep;
  /** `requeued`: the run was requeued for another attempt. */
  end(end: StepEnd | "requeued"): void;
}

/** Step of a run. `input` is called at once or never. */
export type TraceStep =
  | { readonly kind: "node"; readonly name: string; readonly superstep: number; readonly input: () => unknown }
  | {
      readonly kind: "model";
      readonly model: string;
      readonly provider: string | null;
      readonly temperature: number | null;
      readonly tokensMax: number | null;
      /** `[{role, parts}, …]` */
      readonly input: () => unknown;
    }
  | { readonly kind: "tool"; readonly name: string; readonly callId: string | null; readonly input: () => unknown };

export interface TracedStep {
  step(step: TraceStep): TracedStep;
  end(end: StepEnd): void;
}

export interface StepEnd {
  readonly output?: () => unknown;
  readonly error?: { readonly name: string; readonly message: string };
  /** Final state, if it is not an error. */
  readonly state?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly tokens?: { readonly input: number; readonly output: number };
}
