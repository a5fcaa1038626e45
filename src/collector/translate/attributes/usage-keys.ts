// Usage keys: the attributes that contain tokens and costs, in order of precedence.
import { sources, type Sources, union } from "./known-keys.ts";

export const WHOLE = sources(
  "langsmith.usage_metadata",
  "langsmith.metadata.usage_metadata",
  "langfuse.observation.usage_details",
  "mlflow.chat.tokenUsage",
  "braintrust.metrics",
);

export const INPUT = sources(
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.prompt_tokens",
  "llm.token_count.prompt",
  "ai.usage.inputTokens",
  "ai.usage.promptTokens",
  "ai.usage.tokens",
  "llm.usage.prompt_tokens",
  "gen_ai.response.prompt_tokens",
  "gen_ai.aggregated_usage.input_tokens",
  "input_tokens",
);
export const OUTPUT = sources(
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.completion_tokens",
  "llm.token_count.completion",
  "ai.usage.outputTokens",
  "ai.usage.completionTokens",
  "llm.usage.completion_tokens",
  "gen_ai.response.completion_tokens",
  "gen_ai.aggregated_usage.output_tokens",
  "output_tokens",
);
export const TOTAL = sources(
  "gen_ai.usage.total_tokens",
  "llm.usage.total_tokens",
  "llm.token_count.total",
  "ai.usage.totalTokens",
  "total_token_count", // Gemini CLI
);
/** Gemini CLI: the prompts of tools, which only the total has. */
export const TOOL_PROMPTS = sources("tool_token_count");

/** target → attributes, then paths into JSON attributes. */
interface Detail {
  readonly name: string;
  readonly from: Sources;
  readonly within: readonly (readonly [Sources, readonly string[]])[];
}

export interface DetailTable {
  readonly details: readonly Detail[];
  /** Of any detail. */
  readonly all: Sources;
}

function detailTable(details: readonly Detail[]): DetailTable {
  return { details, all: union(...details.flatMap(({ from, within }) => [from, ...within.map(([one]) => one)])) };
}

const PROVIDER_METADATA = sources("ai.response.providerMetadata", "ai.result.providerMetadata");
export const ADK_RESPONSE = sources("gcp.vertex.agent.llm_response");
export const HAYSTACK_OUTPUT = sources("haystack.agent.step.llm.output", "haystack.component.output");
export const GENKIT_OUTPUT = sources("genkit:output");
export const COST_DETAILS = sources("langfuse.observation.cost_details", "mlflow.llm.cost");
export const INPUT_DETAILS = sources("gen_ai.usage.input_token_details");
export const OUTPUT_DETAILS = sources("gen_ai.usage.output_token_details");

export const INPUT_TOKEN_DETAILS = detailTable([
  {
    name: "cache_read",
    from: sources(
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cache_read_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
      "gen_ai.usage.input_cached_tokens",
      "gen_ai.usage.input_tokens.cached",
      "gen_ai.usage.cached_tokens",
      "gen_ai.aggregated_usage.cache_read.input_tokens",
      "gen_ai.aggregated_usage.details.cache_read_tokens",
      "llm.token_count.prompt_details.cache_read",
      "llm.token_count.prompt_details.cache_input",
      "llm.usage.cache_read_input_tokens",
      "ai.usage.cachedInputTokens",
      "ai.usage.inputTokenDetails.cacheReadTokens",
      "cache_read_tokens",
    ),
    within: [
      [PROVIDER_METADATA, ["openai", "cachedPromptTokens"]],
      [PROVIDER_METADATA, ["anthropic", "usage", "cache_read_input_tokens"]],
      [PROVIDER_METADATA, ["anthropic", "cacheReadInputTokens"]],
      [PROVIDER_METADATA, ["bedrock", "usage", "cacheReadInputTokens"]],
      [ADK_RESPONSE, ["usage_metadata", "cached_content_token_count"]],
      [GENKIT_OUTPUT, ["usage", "cachedContentTokens"]],
      [INPUT_DETAILS, ["cache_read"]],
    ],
  },
  {
    name: "cache_creation",
    from: sources(
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "gen_ai.usage.cache_write_input_tokens",
      "gen_ai.usage.cache_creation_tokens",
      "gen_ai.usage.cache_write_tokens",
      "gen_ai.usage.details.cache_creation_input_tokens",
      "gen_ai.usage.details.cache_creation_tokens",
      "gen_ai.usage.details.cache_write_tokens",
      "gen_ai.usage.input_tokens.cache_write",
      "gen_ai.usage.input_tokens.cache_creation",
      "gen_ai.aggregated_usage.cache_creation.input_tokens",
      "gen_ai.aggregated_usage.details.cache_write_tokens",
      "llm.token_count.prompt_details.cache_write",
      "llm.usage.cache_creation_input_tokens",
      "ai.usage.inputTokenDetails.cacheWriteTokens",
      "cache_creation_tokens",
    ),
    within: [
      [PROVIDER_METADATA, ["anthropic", "usage", "cache_creation_input_tokens"]],
      [PROVIDER_METADATA, ["anthropic", "cacheCreationInputTokens"]],
      [PROVIDER_METADATA, ["bedrock", "usage", "cacheWriteInputTokens"]],
      [INPUT_DETAILS, ["cache_creation"]],
    ],
  },
  {
    name: "ephemeral_5m_input_tokens",
    from: sources("gen_ai.usage.details.ephemeral_5m_input_tokens"),
    within: [
      [PROVIDER_METADATA, ["anthropic", "usage", "cache_creation", "ephemeral_5m_input_tokens"]],
      [INPUT_DETAILS, ["ephemeral_5m_input_tokens"]],
    ],
  },
  {
    name: "ephemeral_1h_input_tokens",
    from: sources("gen_ai.usage.details.ephemeral_1h_input_tokens"),
    within: [
      [PROVIDER_METADATA, ["anthropic", "usage", "cache_creation", "ephemeral_1h_input_tokens"]],
      [INPUT_DETAILS, ["ephemeral_1h_input_tokens"]],
    ],
  },
  {
    name: "audio",
    from: sources(
      "gen_ai.usage.audio.input_tokens",
      "gen_ai.usage.audio_input_tokens",
      "gen_ai.usage.input_audio_tokens",
      "gen_ai.usage.details.input_audio_tokens",
      "llm.token_count.prompt_details.audio",
    ),
    within: [[INPUT_DETAILS, ["audio"]]],
  },
  { name: "image", from: sources("gen_ai.usage.image.input_tokens"), within: [[INPUT_DETAILS, ["image"]]] },
  { name: "video", from: sources("gen_ai.usage.video.input_tokens"), within: [[INPUT_DETAILS, ["video"]]] },
  {
    name: "text",
    from: sources("gen_ai.usage.text.input_tokens", "gen_ai.usage.input_text_tokens"),
    within: [[INPUT_DETAILS, ["text"]]],
  },
]);

export const OUTPUT_TOKEN_DETAILS = detailTable([
  {
    name: "reasoning",
    from: sources(
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.details.reasoning_tokens",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.output_tokens.reasoning",
      "gen_ai.usage.experimental.reasoning_tokens",
      "gen_ai.aggregated_usage.details.reasoning_tokens",
      "llm.usage.reasoning_tokens",
      "llm.token_count.completion_details.reasoning",
      "ai.usage.reasoningTokens",
      "ai.usage.outputTokenDetails.reasoningTokens",
    ),
    within: [
      [PROVIDER_METADATA, ["openai", "reasoningTokens"]],
      [ADK_RESPONSE, ["usage_metadata", "thoughts_token_count"]],
      [GENKIT_OUTPUT, ["usage", "thoughtsTokens"]],
      [OUTPUT_DETAILS, ["reasoning"]],
    ],
  },
  {
    name: "audio",
    from: sources(
      "gen_ai.usage.audio.output_tokens",
      "gen_ai.usage.audio_output_tokens",
      "gen_ai.usage.output_audio_tokens",
      "gen_ai.usage.details.output_audio_tokens",
      "llm.token_count.completion_details.audio",
    ),
    within: [[OUTPUT_DETAILS, ["audio"]]],
  },
  {
    name: "text",
    from: sources("gen_ai.usage.text.output_tokens", "gen_ai.usage.output_text_tokens"),
    within: [[OUTPUT_DETAILS, ["text"]]],
  },
]);

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

/** A span has usage when one of these is present; most spans end at this check. */
export const SIGNS = union(WHOLE, INPUT, OUTPUT, TOTAL, COST_SIGNS, ADK_RESPONSE, GENKIT_OUTPUT, HAYSTACK_OUTPUT);
