// Usage keys: the attributes that contain tokens and costs, in order of precedence.
import { sources, type Sources, union } from "./known-keys.ts";
import { spell } from "./spellings.ts";
import { COUNTS, type CountRow, TOOL_PROMPT_NAMES } from "./usage-names.ts";

export const WHOLE = sources(
  "langsmith.usage_metadata",
  "langsmith.metadata.usage_metadata",
  "langfuse.observation.usage_details",
  "mlflow.chat.tokenUsage",
  "braintrust.metrics",
);

const PREFIXES = [
  "gen_ai.usage.",
  "gen_ai.usage.details.",
  "llm.token_count.",
  "ai.usage.",
  "llm.usage.",
  "gen_ai.response.",
  "gen_ai.aggregated_usage.",
  "gen_ai.aggregated_usage.details.",
];

/** Without a prefix only names that can be nothing else. */
function listAttributes(names: readonly string[], more: readonly string[] = []): Sources {
  const spelled = spell(...names);
  const bare = names.filter((name) => /^\w+token(?:s|_count)$/.test(name));
  return sources(...PREFIXES.flatMap((prefix) => spelled.map((name) => prefix + name)), ...more, ...bare);
}

export interface CountSource {
  readonly row: CountRow;
  readonly from: Sources;
}

export const COUNT_SOURCES: readonly CountSource[] = COUNTS.map((row) => ({
  row,
  from: listAttributes(row.names, row.attributes),
}));

/** In no count of the backend: the attribute stays a leftover. */
export const TOOL_PROMPTS = listAttributes(TOOL_PROMPT_NAMES);

/** Objects with counts, and the path of their names in the table. */
export const COUNT_OBJECTS: readonly (readonly [Sources, string])[] = [
  [sources("gen_ai.usage.raw"), ""], // Logfire
  [sources("gen_ai.usage.input_token_details", "gen_ai.usage.input_tokens_details"), "input_token_details."],
  [sources("gen_ai.usage.output_token_details", "gen_ai.usage.output_tokens_details"), "output_token_details."],
];
/** {openai: {…}, anthropic: {usage: {…}}}: only parts of the sums. */
export const PROVIDER_METADATA = sources("ai.response.providerMetadata", "ai.result.providerMetadata");

export const HAYSTACK_OUTPUT = sources("haystack.agent.step.llm.output", "haystack.component.output");
export const COST_DETAILS = sources("langfuse.observation.cost_details", "mlflow.llm.cost");

export const COSTS: readonly (readonly [string, Sources])[] = [
  [
    "input_cost",
    sources("llm.cost.prompt", "gen_ai.cost.input_cost", "gen_ai.usage.input_cost", "gen_ai.cost.input_tokens"),
  ],
  [
    "output_cost",
    sources("llm.cost.completion", "gen_ai.cost.output_cost", "gen_ai.usage.output_cost", "gen_ai.cost.output_tokens"),
  ],
  [
    "total_cost",
    sources(
      "gen_ai.usage.cost",
      "operation.cost",
      "llm.cost.total",
      "gen_ai.cost.total_cost",
      "gen_ai.usage.total_cost",
      "gen_ai.cost.total_tokens",
      "gen_ai.client.estimated_cost",
      "litellm.cost.total",
    ),
  ],
];

export const COST_SIGNS = union(...COSTS.map(([, from]) => from), COST_DETAILS);

/** Most spans have none of these. */
export const SIGNS = union(
  WHOLE,
  COST_SIGNS,
  PROVIDER_METADATA,
  ...COUNT_SOURCES.map(({ from }) => from),
  ...COUNT_OBJECTS.map(([from]) => from),
);
