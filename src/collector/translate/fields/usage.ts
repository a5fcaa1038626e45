// Usage: tokens and costs, from any convention, in the backend's words.
// Invariants:
//   usage.1. Aliases are never summed: the first source that is present counts, also when it is zero.
//   usage.2. input_tokens includes cached tokens, output_tokens includes reasoning. More cached tokens than input
//        tokens mean that the source counts them separately.
//   usage.3. The details of the backend's own SDK take precedence as a whole over single attributes.
//   usage.4. Counts keep every digit, sums too (count.ts).
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import { type Count, countOf, plus } from "../attributes/token-count.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { member } from "../attributes/indexed.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { isObject, jsonOf, plain } from "../attributes/plain-values.ts";

const WHOLE = sources(
  "langsmith.usage_metadata",
  "langsmith.metadata.usage_metadata",
  "langfuse.observation.usage_details",
);

const INPUT = sources(
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.prompt_tokens",
  "llm.token_count.prompt",
  "ai.usage.inputTokens",
  "ai.usage.promptTokens",
  "ai.usage.tokens",
  "llm.usage.prompt_tokens",
  "input_tokens",
);
const OUTPUT = sources(
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.completion_tokens",
  "llm.token_count.completion",
  "ai.usage.outputTokens",
  "ai.usage.completionTokens",
  "llm.usage.completion_tokens",
  "output_tokens",
);
const TOTAL = sources(
  "gen_ai.usage.total_tokens",
  "llm.usage.total_tokens",
  "llm.token_count.total",
  "ai.usage.totalTokens",
);

/** target → attributes, then paths into JSON attributes. */
interface Detail {
  readonly name: string;
  readonly from: Sources;
  readonly within: readonly (readonly [Sources, readonly string[]])[];
}

interface DetailTable {
  readonly details: readonly Detail[];
  /** Of any detail. */
  readonly all: Sources;
}

function detailTable(details: readonly Detail[]): DetailTable {
  return { details, all: union(...details.flatMap(({ from, within }) => [from, ...within.map(([one]) => one)])) };
}

const PROVIDER_METADATA = sources("ai.response.providerMetadata", "ai.result.providerMetadata");
const ADK_RESPONSE = sources("gcp.vertex.agent.llm_response");
const GENKIT_OUTPUT = sources("genkit:output");
const COST_DETAILS = sources("langfuse.observation.cost_details");
const INPUT_DETAILS = sources("gen_ai.usage.input_token_details");
const OUTPUT_DETAILS = sources("gen_ai.usage.output_token_details");

const INPUT_TOKEN_DETAILS = detailTable([
  {
    name: "cache_read",
    from: sources(
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cache_read_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
      "gen_ai.usage.input_cached_tokens",
      "llm.token_count.prompt_details.cache_read",
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
      "gen_ai.usage.details.input_audio_tokens",
      "llm.token_count.prompt_details.audio",
    ),
    within: [[INPUT_DETAILS, ["audio"]]],
  },
  { name: "image", from: sources("gen_ai.usage.image.input_tokens"), within: [[INPUT_DETAILS, ["image"]]] },
  { name: "video", from: sources("gen_ai.usage.video.input_tokens"), within: [[INPUT_DETAILS, ["video"]]] },
  { name: "text", from: sources("gen_ai.usage.text.input_tokens"), within: [[INPUT_DETAILS, ["text"]]] },
]);

const OUTPUT_TOKEN_DETAILS = detailTable([
  {
    name: "reasoning",
    from: sources(
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.details.reasoning_tokens",
      "gen_ai.usage.reasoning_tokens",
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
      "gen_ai.usage.details.output_audio_tokens",
      "llm.token_count.completion_details.audio",
    ),
    within: [[OUTPUT_DETAILS, ["audio"]]],
  },
  { name: "text", from: sources("gen_ai.usage.text.output_tokens"), within: [[OUTPUT_DETAILS, ["text"]]] },
]);

const COSTS: readonly (readonly [string, Sources])[] = [
  ["input_cost", sources("llm.cost.prompt", "gen_ai.cost.input_cost")],
  ["output_cost", sources("llm.cost.completion", "gen_ai.cost.output_cost")],
  [
    "total_cost",
    sources("gen_ai.usage.cost", "operation.cost", "llm.cost.total", "gen_ai.cost.total_cost", "litellm.cost.total"),
  ],
];

const COST_SIGNS = union(...COSTS.map(([, from]) => from), COST_DETAILS);

/** A span has usage when one of these is present; most spans end at this check. */
const SIGNS = union(WHOLE, INPUT, OUTPUT, TOTAL, COST_SIGNS, ADK_RESPONSE, GENKIT_OUTPUT);

export function usageOf(facts: Facts): JsonObject | null {
  if (!facts.has(SIGNS)) return null;
  const mark = facts.mark();
  const whole = jsonOf(facts.value(WHOLE));
  if (isObject(whole)) return withCosts(facts, langfuseNames(whole)); // usage.3
  facts.release(mark);
  const read = reader(facts);
  const given =
    facts.count(INPUT) ??
    countOf(read(ADK_RESPONSE, ["usage_metadata", "prompt_token_count"]) ?? null) ??
    countOf(read(GENKIT_OUTPUT, ["usage", "inputTokens"]) ?? null);
  const output =
    facts.count(OUTPUT) ??
    countOf(read(ADK_RESPONSE, ["usage_metadata", "candidates_token_count"]) ?? null) ??
    countOf(read(GENKIT_OUTPUT, ["usage", "outputTokens"]) ?? null);
  const inputDetails = detailsOf(facts, INPUT_TOKEN_DETAILS, read);
  const outputDetails = detailsOf(facts, OUTPUT_TOKEN_DETAILS, read);
  const cached = plus(inputDetails.get("cache_read") ?? 0, inputDetails.get("cache_creation") ?? 0);
  const apart = cached > (given ?? 0) || (facts.span.name.startsWith(COUNTS_APART) && cached > 0);
  const input = apart ? plus(given ?? 0, cached) : given; // usage.2
  const total = apart ? undefined : facts.count(TOTAL);
  const usage: Record<string, Json> = {};
  if (input !== undefined) usage["input_tokens"] = plain(input);
  if (output !== undefined) usage["output_tokens"] = plain(output);
  if (total !== undefined || input !== undefined || output !== undefined)
    usage["total_tokens"] = plain(total ?? plus(input ?? 0, output ?? 0));
  if (inputDetails.size > 0) usage["input_token_details"] = jsonOfDetails(inputDetails);
  if (outputDetails.size > 0) usage["output_token_details"] = jsonOfDetails(outputDetails);
  const all = withCosts(facts, usage);
  return Object.keys(all).length === 0 ? null : all;
}

/** Claude Code passes on the API's counts, in which input_tokens excludes the cache. */
const COUNTS_APART = "claude_code.";

/** Single attributes, else langfuse's object of costs. */
function withCosts(facts: Facts, usage: JsonObject): JsonObject {
  if (!facts.has(COST_SIGNS)) return usage;
  const costs: Record<string, Json> = {};
  for (const [name, from] of COSTS) {
    const cost = facts.count(from);
    if (cost !== undefined) costs[name] = plain(cost);
  }
  if (facts.has(COST_DETAILS)) {
    const mark = facts.mark();
    const { input, output, total, ...rest } = objectOf(jsonOf(facts.value(COST_DETAILS)));
    if (Object.keys(rest).length > 0 || [input, output, total].every((cost) => cost === undefined)) facts.release(mark);
    for (const [name, cost] of [
      ["input_cost", input],
      ["output_cost", output],
      ["total_cost", total],
    ] as const)
      if (cost !== undefined && costs[name] === undefined) costs[name] = cost;
  }
  return Object.keys(costs).length === 0 ? usage : { ...costs, ...usage };
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

const DETAIL_NAMES: ReadonlySet<string> = new Set(
  [...INPUT_TOKEN_DETAILS.details, ...OUTPUT_TOKEN_DETAILS.details].map(({ name }) => name),
);

function isAllUsage(from: Sources, value: Json): boolean {
  if (from !== INPUT_DETAILS && from !== OUTPUT_DETAILS) return false;
  return (
    isObject(value) &&
    Object.entries(value).every(([name, one]) => DETAIL_NAMES.has(name) && countOf(one) !== undefined)
  );
}

type ReadWithin = (from: Sources, path: readonly string[]) => Json | undefined;

/** Paths into JSON attributes, each attribute read once a span. */
function reader(facts: Facts): ReadWithin {
  let read: Map<Sources, Json> | null = null;
  return (from, path) => {
    if (!facts.has(from)) return undefined;
    read ??= new Map();
    let value = read.get(from);
    if (value === undefined) {
      const mark = facts.mark();
      value = structured(facts.value(from));
      if (!isAllUsage(from, value)) facts.release(mark); // only a part of it becomes usage
      read.set(from, value);
    }
    return member(value, ...path);
  };
}

/** SDKs write these objects as JSON or as Python prints a dict: both hold names and whole numbers. */
function structured(value: AttributeValue | undefined): Json {
  const json = jsonOf(value);
  if (typeof json !== "string" || json.length > 2000) return json;
  const pairs = [...json.matchAll(/'(\w+)':\s*(\d+)/g)].map((match): [string, Json] => [
    match[1] ?? "",
    plain(countOf(match[2]) ?? null),
  ]);
  return pairs.length === 0 ? json : Object.fromEntries(pairs);
}

const NO_DETAILS: ReadonlyMap<string, Count> = new Map();

function detailsOf(facts: Facts, { details: table, all }: DetailTable, read: ReadWithin): ReadonlyMap<string, Count> {
  if (!facts.has(all)) return NO_DETAILS;
  const details = new Map<string, Count>();
  for (const { name, from, within } of table) {
    let count = facts.count(from);
    for (const [attribute, path] of count === undefined ? within : []) {
      if (facts.has(attribute)) count = countOf(read(attribute, path) ?? null);
      if (count !== undefined) break;
    }
    if (count !== undefined) details.set(name, count);
  }
  return details;
}

function jsonOfDetails(details: ReadonlyMap<string, Count>): JsonObject {
  return Object.fromEntries([...details].map(([name, count]) => [name, plain(count)]));
}

/** Langfuse says input, output, total; other names pass unchanged. */
function langfuseNames(usage: JsonObject): JsonObject {
  if (usage["input"] === undefined && usage["output"] === undefined) return usage;
  const { input, output, total, ...rest } = usage;
  return {
    ...(input === undefined ? {} : { input_tokens: input }),
    ...(output === undefined ? {} : { output_tokens: output }),
    total_tokens: total ?? plain(plus(countOf(input ?? 0) ?? 0, countOf(output ?? 0) ?? 0)),
    ...rest,
  };
}
