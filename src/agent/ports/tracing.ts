// Tracing: runs as traces, for who wants them.
import type { Run } from "../model/model.ts";

/** Tells what runs do. */
export interface Tracing {
  begin(run: Run): RunTrace;
}

/** One attempt of one run. Nothing of it throws. */
export interface RunTrace {
  /** @param value asked for only if content is wanted */
  input(value: () => unknown): void;
  step(step: TraceStep): TracedStep;
  /** `handed_back`: another attempt will take it up. */
  end(end: StepEnd | "handed_back"): void;
}

/** What a run does on its way. `input` is called at once or never. */
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
  /** How it ended, where that is no error. */
  readonly state?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly tokens?: { readonly input: number; readonly output: number };
}
