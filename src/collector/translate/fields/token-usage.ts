// Token usage: tokens and costs, from any convention, in the backend's words.
// Invariants:
//   token-usage.1. Aliases are never summed: the first source that is present counts, also when it is zero.
//   token-usage.2. input_tokens includes cached tokens, output_tokens includes reasoning (token-sums.ts).
//   token-usage.3. The details of the backend's own SDK take precedence as a whole over single attributes.
//   token-usage.4. Counts keep every digit, sums too (exact-count.ts).
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { AttributeValue } from "../../otlp/span.ts";
import { type Count, countOf, plus } from "../attributes/exact-count.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { member } from "../attributes/indexed.ts";
import { haystackMeta } from "../messages/haystack.ts";
import type { Sources } from "../attributes/known-keys.ts";
import { isObject, jsonOf, plain } from "../attributes/plain-values.ts";
import { tokenSums } from "../attributes/token-sums.ts";
import { wholeUsage } from "../attributes/whole-usage.ts";
import {
  WHOLE,
  INPUT,
  OUTPUT,
  TOTAL,
  TOOL_PROMPTS,
  type DetailTable,
  ADK_RESPONSE,
  GENKIT_OUTPUT,
  COST_DETAILS,
  INPUT_DETAILS,
  OUTPUT_DETAILS,
  INPUT_TOKEN_DETAILS,
  OUTPUT_TOKEN_DETAILS,
  COSTS,
  COST_SIGNS,
  SIGNS,
} from "../attributes/usage-keys.ts";

export function usageOf(facts: Facts): JsonObject | null {
  if (!facts.has(SIGNS)) return null;
  const before = facts.mark();
  const whole = jsonOf(facts.value(WHOLE));
  if (isObject(whole)) return withCosts(facts, wholeUsage(whole)); // token-usage.3
  facts.release(before);
  const read = reader(facts);
  const meta = haystackMeta(facts);
  const reply = (name: string): Count | undefined => countOf(member(meta ?? undefined, "usage", name) ?? null);
  const given =
    facts.count(INPUT) ??
    countOf(read(ADK_RESPONSE, ["usage_metadata", "prompt_token_count"]) ?? null) ??
    countOf(read(GENKIT_OUTPUT, ["usage", "inputTokens"]) ?? null) ??
    reply("prompt_tokens");
  const spoken =
    facts.count(OUTPUT) ??
    countOf(read(ADK_RESPONSE, ["usage_metadata", "candidates_token_count"]) ?? null) ??
    countOf(read(GENKIT_OUTPUT, ["usage", "outputTokens"]) ?? null) ??
    reply("completion_tokens");
  const inputDetails = detailsOf(facts, INPUT_TOKEN_DETAILS, read);
  const outputDetails = detailsOf(facts, OUTPUT_TOKEN_DETAILS, read);
  const mark = facts.mark();
  const counted =
    facts.count(TOTAL) ??
    countOf(read(ADK_RESPONSE, ["usage_metadata", "total_token_count"]) ?? null) ??
    countOf(read(GENKIT_OUTPUT, ["usage", "totalTokens"]) ?? null);
  const { input, output, total } = tokenSums({
    input: given,
    output: spoken,
    total: counted,
    cached: plus(inputDetails.get("cache_read") ?? 0, inputDetails.get("cache_creation") ?? 0),
    reasoning: outputDetails.get("reasoning") ?? 0,
    tools: counted === undefined ? 0 : toolPrompts(facts, read),
    cacheIsApart: facts.span.name.startsWith(COUNTS_APART),
  });
  if (total !== counted) facts.release(mark); // it is nowhere else
  const usage: Record<string, Json> = {};
  if (input !== undefined) usage["input_tokens"] = plain(input);
  if (output !== undefined) usage["output_tokens"] = plain(output);
  if (total !== undefined) usage["total_tokens"] = plain(total);
  if (inputDetails.size > 0) usage["input_token_details"] = jsonOfDetails(inputDetails);
  if (outputDetails.size > 0) usage["output_token_details"] = jsonOfDetails(outputDetails);
  const all = withCosts(facts, usage);
  return Object.keys(all).length === 0 ? null : all;
}

/** In no count of the backend: the attribute stays a leftover. */
function toolPrompts(facts: Facts, read: ReadWithin): Count {
  const mark = facts.mark();
  const count = facts.count(TOOL_PROMPTS);
  facts.release(mark);
  return count ?? countOf(read(ADK_RESPONSE, ["usage_metadata", "tool_use_prompt_token_count"]) ?? null) ?? 0;
}

/** Claude Code passes on the API's counts, in which input_tokens excludes the cache. */
const COUNTS_APART = "claude_code.";

/** Single attributes, else an object of costs of Langfuse or MLflow. */
function withCosts(facts: Facts, usage: JsonObject): JsonObject {
  if (!facts.has(COST_SIGNS)) return usage;
  const costs: Record<string, Json> = {};
  for (const [name, from] of COSTS) {
    const cost = facts.count(from);
    if (cost !== undefined) costs[name] = plain(cost);
  }
  if (facts.has(COST_DETAILS)) {
    const mark = facts.mark();
    const given = objectOf(jsonOf(facts.value(COST_DETAILS)));
    const names = Object.keys(given);
    if (names.length === 0 || !names.every((name) => COST_NAMES.has(name))) facts.release(mark);
    for (const name of names) {
      const target = COST_NAMES.get(name);
      if (target !== undefined) costs[target] ??= given[name] ?? null;
    }
  }
  return Object.keys(costs).length === 0 ? usage : { ...costs, ...usage };
}

const COST_NAMES: ReadonlyMap<string, string> = new Map(
  ["input", "output", "total"].flatMap((name) => [
    [name, `${name}_cost`],
    [`${name}_cost`, `${name}_cost`],
  ]),
);

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
