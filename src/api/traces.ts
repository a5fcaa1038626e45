// Traces: the reply objects of the trace store's API, shared with the console and the command line.

export interface TraceItem {
  readonly trace_id: string;
  readonly project: string;
  readonly name: string;
  /** `incomplete` until the root span arrives. */
  readonly status: string;
  readonly error: string | null;
  readonly start_us: number;
  readonly latency_us: number | null;
  readonly runs: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
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
  readonly serialized?: unknown;
  readonly tags?: readonly string[];
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
}
