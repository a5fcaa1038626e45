// Usage names: the counts of a model call in every spelling. The only table of them: attributes of all instrumentations
// and objects of all APIs are read with it. Names are in snake case; camel case is known too, and a dot is a level of
// an object or a part of an attribute's name.
import type { Json } from "@holdpoint/base/json/json.ts";
import { type Count, readCount } from "./exact-count.ts";
import { isObject } from "./plain-values.ts";

export type Side = "input_token_details" | "output_token_details";

export interface CountRow {
  /** In the backend's words. */
  readonly name: string;
  /** undefined: a sum. */
  readonly side?: Side;
  /** Best first. */
  readonly names: readonly string[];
  /** Attributes without one of the prefixes. */
  readonly attributes?: readonly string[];
}

const ofInput = (...names: readonly string[]): readonly string[] =>
  ["input_token_details", "input_tokens_details", "prompt_tokens_details", "prompt_details", "input_tokens"].flatMap(
    (holder) => names.map((name) => `${holder}.${name}`),
  );
const ofOutput = (...names: readonly string[]): readonly string[] =>
  [
    "output_token_details",
    "output_tokens_details",
    "completion_tokens_details",
    "completion_details",
    "output_tokens",
  ].flatMap((holder) => names.map((name) => `${holder}.${name}`));

export const COUNTS: readonly CountRow[] = [
  {
    name: "input_tokens",
    names: [
      "input_tokens",
      "prompt_tokens",
      "input_token_count",
      "prompt_token_count",
      "prompt_eval_count",
      "input_text_token_count",
      "tokens.input_tokens", // Cohere
      "total_input_tokens", // Gemini's interactions
      "input",
      "prompt",
    ],
    attributes: ["ai.usage.tokens"],
  },
  {
    name: "output_tokens",
    names: [
      "output_tokens",
      "completion_tokens",
      "output_token_count",
      "candidates_token_count",
      "response_token_count",
      "generation_token_count",
      "generated_token_count", // watsonx
      "eval_count",
      "tokens.output_tokens", // Cohere
      "total_output_tokens",
      "output",
      "completion",
    ],
  },
  { name: "total_tokens", names: ["total_tokens", "total_token_count", "total", "tokens"] },
  {
    name: "cache_read",
    side: "input_token_details",
    names: [
      "cache_read.input_tokens",
      "cache_read_input_tokens",
      "cache_read_tokens",
      "cached_input_tokens",
      "cached_input_token_count", // .NET
      "input_cached_tokens",
      "cached_tokens",
      "cached_prompt_tokens",
      "prompt_cached_tokens",
      "prompt_cache_hit_tokens",
      "cached_content_token_count",
      "cached_content_tokens",
      "cached_token_count",
      "cache_read_input_token_count",
      "input_cache_read",
      "input_cached",
      ...ofInput(
        "cache_read",
        "cached_tokens",
        "cached",
        "cache_read_tokens",
        "cache_input",
        "cache_read_input_tokens",
      ),
    ],
  },
  {
    name: "cache_creation",
    side: "input_token_details",
    names: [
      "cache_creation.input_tokens",
      "cache_write.input_tokens",
      "cache_creation_input_tokens",
      "cache_write_input_tokens",
      "cache_creation_tokens",
      "cache_write_tokens",
      "prompt_cache_creation_tokens",
      "cache_write_input_token_count",
      "input_cache_creation",
      "input_cache_write",
      ...ofInput(
        "cache_creation",
        "cache_write",
        "cache_creation_tokens",
        "cache_write_tokens",
        "cache_creation_input_tokens",
      ),
    ],
  },
  ...["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"].map((name): CountRow => ({
    name,
    side: "input_token_details",
    names: [name, `cache_creation.${name}`, ...ofInput(name)],
  })),
  {
    name: "audio",
    side: "input_token_details",
    names: [
      "audio.input_tokens",
      "audio_input_tokens",
      "input_audio_token_count",
      "input_audio_tokens",
      "prompt_audio_tokens",
      "input_audio",
      ...ofInput("audio", "audio_tokens"),
    ],
  },
  ...["image", "video", "text"].map((name): CountRow => ({
    name,
    side: "input_token_details",
    names: [`${name}.input_tokens`, `${name}_input_tokens`, `input_${name}_tokens`, ...ofInput(name, `${name}_tokens`)],
  })),
  {
    name: "reasoning",
    side: "output_token_details",
    names: [
      "reasoning.output_tokens",
      "reasoning_tokens",
      "reasoning_output_tokens",
      "output_reasoning_tokens",
      "completion_reasoning_tokens",
      "thoughts_token_count",
      "thoughts_tokens",
      "thinking_tokens",
      "reasoning_token_count",
      "experimental.reasoning_tokens",
      "output_reasoning",
      ...ofOutput("reasoning", "reasoning_tokens", "thinking_tokens"),
    ],
  },
  {
    name: "audio",
    side: "output_token_details",
    names: [
      "audio.output_tokens",
      "audio_output_tokens",
      "output_audio_token_count",
      "output_audio_tokens",
      "completion_audio_tokens",
      "output_audio",
      ...ofOutput("audio", "audio_tokens"),
    ],
  },
  {
    name: "text",
    side: "output_token_details",
    names: ["text.output_tokens", "text_output_tokens", "output_text_tokens", ...ofOutput("text", "text_tokens")],
  },
];

/** Prompts of tools, which only a total of Gemini's has. */
export const TOOL_PROMPT_NAMES: readonly string[] = ["tool_use_prompt_token_count", "tool_token_count"];

const PLACES: ReadonlyMap<string, readonly [row: number, rank: number]> = new Map(
  COUNTS.flatMap(({ names }, row) =>
    names.map((name, rank): [string, readonly [number, number]] => [toKey(name), [row, rank]]),
  ).toReversed(), // of a name in two rows the first one counts
);

/** "promptTokensDetails.cached_tokens" and "prompt_tokens_details.cachedTokens" are one name. */
function toKey(path: string): string {
  return path.replaceAll("_", "").toLowerCase();
}

export function isCountName(path: string): boolean {
  return PLACES.has(toKey(path));
}

/** Counts by row: of several names for one, the best. */
export type Counts = ReadonlyMap<CountRow, Count>;

/** @param prefix the path of the object: "input_token_details." */
export function readCounts(object: Json, prefix = ""): Counts {
  const ranks = new Map<CountRow, number>();
  const counts = new Map<CountRow, Count>();
  for (const [path, value] of listLeaves(object, prefix, LEVELS_MAX)) {
    const place = PLACES.get(toKey(path));
    const row = COUNTS[place?.[0] ?? -1];
    const count = row === undefined ? undefined : readCount(value);
    if (place === undefined || row === undefined || count === undefined) continue;
    if (place[1] >= (ranks.get(row) ?? Infinity)) continue;
    ranks.set(row, place[1]);
    counts.set(row, count);
  }
  return counts;
}

const LEVELS_MAX = 3;

/** Leaves with their paths. */
export function listLeaves(value: Json, path: string, levels: number): readonly (readonly [string, Json])[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, given]): readonly (readonly [string, Json])[] => {
    const one = Array.isArray(given) && given.length === 1 ? ((given as readonly Json[])[0] ?? null) : given; // OpenAI Agents
    return isObject(one) && levels > 1 ? listLeaves(one, `${path}${name}.`, levels - 1) : [[path + name, one]];
  });
}
