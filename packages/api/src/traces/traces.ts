// Traces: the reply objects of the trace store's API, shared with the console and the command line.

/** `waiting` for an answer of a person; `incomplete` until the root span arrives. */
export const TRACE_STATUSES = ["success", "error", "pending", "waiting", "incomplete"] as const;
export type TraceStatus = (typeof TRACE_STATUSES)[number];

export interface TraceItem {
  readonly trace_id: string;
  readonly project: string;
  readonly name: string;
  readonly status: TraceStatus;
  readonly error: string | null;
  readonly start_us: number;
  /** The whole time, waits for people included; of a waiting trace until its pause. Null while a run goes on. */
  readonly latency_us: number | null;
  /** Time of waits for people that have ended. */
  readonly wait_us: number;
  readonly waiting_since_us: number | null;
  /** Beginnings of the root's inputs and of the trace's result, as one line. */
  readonly input: string | null;
  readonly output: string | null;
  readonly runs: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** US dollars, of all runs with a cost (trace-costs.ts); null without any. */
  readonly cost: number | null;
  readonly thread_id: string | null;
  readonly models: readonly string[];
}

export interface TracePage {
  readonly items: readonly TraceItem[];
  readonly next_cursor: string | null;
}

/** A span in the tree, without inputs and outputs. */
export interface SpanSummary {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_run_id?: string;
  readonly dotted_order: string;
  readonly name?: string;
  readonly run_type?: string;
  readonly status: "success" | "error" | "pending";
  readonly error?: string;
  readonly start_us: number;
  readonly end_us: number | null;
  readonly model?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** As given by the sender, for the run itself or for all runs below it. */
  readonly cost?: number;
  readonly first_token_us?: number;
}

export interface TraceTree {
  readonly trace: TraceItem;
  /** In tree order. */
  readonly runs: readonly SpanSummary[];
}

/** A span with all uploaded fields. */
export interface SpanDetail extends SpanSummary {
  readonly inputs?: unknown;
  readonly outputs?: unknown;
  readonly events?: unknown;
  readonly extra?: { readonly metadata?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>;
  /** Cost with everything below it; absent if no run there has one. */
  readonly total_cost?: number;
  /** On a root without an output of its own, and on one that paused: the result of the trace, and the run it is from. */
  readonly final_output?: { readonly run_id: string; readonly name: string | null; readonly outputs: unknown };
  readonly serialized?: unknown;
  readonly tags?: readonly string[];
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
}
