// Translation: which span attribute became which field of the run, reconstructed from the run with the order of sources
// in the collector's tables. Pure.
// Invariant translation.1: a field appears only with a visible or named source; no guesses.
import type { SpanDetail } from "@holdpoint/api/traces/traces.ts";

export interface Line {
  /** Path in the run: `run_type`, `extra.metadata.ls_model_name`. */
  readonly field: string;
  readonly value: unknown;
  /** Source attributes; the first present one counts. Those of the span's dialect first. */
  readonly sources: readonly string[];
}

interface Rule {
  readonly field: string;
  readonly path: readonly string[];
  readonly sources: readonly string[];
}

const RULES: readonly Rule[] = [
  { field: "name", path: ["name"], sources: ["langsmith.trace.name", "gen_ai.tool.name", "name of the span"] },
  {
    field: "run_type",
    path: ["run_type"],
    sources: ["langsmith.span.kind", "gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind"],
  },
  {
    field: "session_name (project)",
    path: ["session_name"],
    sources: [
      "header Tracing-Project",
      "langsmith.trace.session_name",
      "resource langsmith.project",
      "TRACING_PROJECT",
    ],
  },
  {
    field: "inputs",
    path: ["inputs"],
    sources: [
      "gen_ai.input.messages",
      "gen_ai.prompt.N.*",
      "llm.input_messages.N.*",
      "ai.prompt.messages",
      "input.value",
    ],
  },
  {
    field: "outputs",
    path: ["outputs"],
    sources: [
      "gen_ai.output.messages",
      "gen_ai.completion.N.*",
      "llm.output_messages.N.*",
      "ai.response.text",
      "output.value",
    ],
  },
  {
    field: "model",
    path: ["extra", "metadata", "ls_model_name"],
    sources: ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"],
  },
  {
    field: "provider",
    path: ["extra", "metadata", "ls_provider"],
    sources: ["gen_ai.provider.name", "gen_ai.system", "llm.provider"],
  },
  {
    field: "parameters",
    path: ["extra", "invocation_params"],
    sources: ["gen_ai.request.*", "llm.invocation_parameters", "ai.settings.*"],
  },
  {
    field: "tokens",
    path: ["extra", "metadata", "usage_metadata"],
    sources: [
      "gen_ai.usage.input_tokens, …output_tokens",
      "llm.token_count.prompt, …completion",
      "ai.usage.inputTokens, …outputTokens",
    ],
  },
  {
    field: "thread",
    path: ["extra", "metadata", "thread_id"],
    sources: ["gen_ai.conversation.id", "session.id", "langfuse.session.id"],
  },
  { field: "user", path: ["extra", "metadata", "user_id"], sources: ["user.id", "enduser.id", "langfuse.user.id"] },
  { field: "operation", path: ["extra", "metadata", "operation"], sources: ["gen_ai.operation.name"] },
  { field: "agent", path: ["extra", "metadata", "agent_name"], sources: ["gen_ai.agent.name", "agent.name"] },
  {
    field: "finish reasons",
    path: ["extra", "metadata", "finish_reasons"],
    sources: ["gen_ai.response.finish_reasons", "ai.response.finishReason"],
  },
  { field: "error", path: ["error"], sources: ["event exception", "status of the span", "error.type"] },
  { field: "tags", path: ["tags"], sources: ["langsmith.span.tags", "tag.tags", "langfuse.trace.tags"] },
];

const IDS: readonly Rule[] = [
  { field: "trace_id", path: ["extra", "metadata", "OTEL_TRACE_ID"], sources: ["trace id of the span"] },
  { field: "id", path: ["extra", "metadata", "OTEL_SPAN_ID"], sources: ["span id of the span"] },
  { field: "parent_run_id", path: ["extra", "metadata", "otel", "parent_span_id"], sources: ["parent id of the span"] },
];

export interface Destination {
  readonly attribute: string;
  readonly fields: readonly string[];
}

export interface Translation {
  /** The collector created this run from a span; otherwise an SDK sent it directly. */
  readonly fromSpan: boolean;
  readonly lines: readonly Line[];
  /** Unmapped attributes, kept unchanged. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** The destination of each attribute, as the collector recorded it; empty unless it uploads to the local store. */
  readonly destinations: readonly Destination[];
  /** Metadata names copied unchanged. */
  readonly copied: readonly string[];
}

const KNOWN = new Set(["otel", "OTEL_TRACE_ID", "OTEL_SPAN_ID", "usage_metadata"]);

export function describeTranslation(run: SpanDetail): Translation {
  const { metadata = {} } = run.extra ?? {};
  const fromSpan = typeof metadata["OTEL_SPAN_ID"] === "string";
  const lines = [...(fromSpan ? IDS : []), ...RULES].flatMap(({ field, path, sources }): Line[] => {
    const value = at(run, path);
    return isNothing(value) ? [] : [{ field, value, sources }];
  });
  const named = new Set(RULES.filter(({ path }) => path[1] === "metadata").map(({ path }) => path[2] ?? ""));
  const kept = at(metadata, ["otel", "attributes"]);
  return {
    fromSpan,
    lines,
    kept: isMembers(kept) ? kept : {},
    destinations: destinationsIn(at(metadata, ["otel", "fields"])),
    copied: Object.keys(metadata).filter((name) => !named.has(name) && !KNOWN.has(name)),
  };
}

function destinationsIn(recorded: unknown): readonly Destination[] {
  if (!isMembers(recorded)) return [];
  return Object.entries(recorded).map(([attribute, fields]) => ({
    attribute,
    fields: Array.isArray(fields) ? fields.filter((field) => typeof field === "string") : [],
  }));
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((one, name) => (isMembers(one) ? one[name] : undefined), value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (isMembers(value) && Object.keys(value).length === 0);
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
