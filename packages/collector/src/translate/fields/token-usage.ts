// Token usage: tokens and costs, from any convention, in the backend's words.
// Invariants:
//   - Aliases are never summed: the first source that is present counts, also when it is zero.
//   - input_tokens includes cached tokens, output_tokens includes reasoning (token-sums.ts).
//   - The details of the backend's own SDK take precedence as a whole over single attributes.
//   token-usage.4. Counts keep every digit, sums too (exact-count.ts).
//   - A cost of 0 is none, unless the tokens are 0 too: the sender knows no price, and the backend may.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { type Count, readCount, plus } from "../attributes/exact-count.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, toJson, plain } from "../attributes/plain-values.ts";
import { tokenSums } from "../attributes/token-sums.ts";
import { wholeUsage } from "../attributes/whole-usage.ts";
import {
  WHOLE,
  TOOL_PROMPTS,
  COST_DETAILS,
  COSTS,
  COST_SIGNS,
  COUNT_OBJECTS,
  COUNT_SOURCES,
  PROVIDER_METADATA,
  SIGNS,
} from "../attributes/usage-keys.ts";
import {
  COUNTS,
  type CountRow,
  type Counts,
  listLeaves,
  readCounts,
  TOOL_PROMPT_NAMES,
} from "../attributes/usage-names.ts";
import { hasRawBody } from "./raw-body.ts";
import { contentWithin } from "../forms/python-text.ts";
import { TURN } from "../messages/content.ts";

/** @param outputs of the run, which may have the usage of the model's API; null for none */
export function readUsage(facts: Facts, outputs: JsonObject | null): JsonObject | null {
  const body = outputs === null || hasRawBody(facts) ? null : findUsage(outputs);
  if (body === null && !facts.has(SIGNS)) return null;
  const before = facts.mark();
  const whole = toJson(facts.value(WHOLE));
  if (isObject(whole)) return withCosts(facts, wholeUsage(whole));
  facts.release(before);
  const counts = gatherCounts(facts, body);
  const mark = facts.mark();
  const given = (name: string): Count | undefined => counts.get(rowNamed(name));
  const counted = given("total_tokens");
  const { input, output, total } = tokenSums({
    input: given("input_tokens"),
    output: given("output_tokens"),
    total: counted,
    cached: plus(given("cache_read") ?? 0, given("cache_creation") ?? 0),
    reasoning: given("reasoning") ?? 0,
    tools: counted === undefined ? 0 : readToolPrompts(facts, body),
    cacheIsApart:
      facts.span.name.startsWith(COUNTS_APART) ||
      [body, readAnthropic(facts)].some((one) => one !== null && isAnthropic(one, given("input_tokens"))),
  });
  if (total !== counted) facts.release(mark); // it is nowhere else
  const usage: Record<string, Json> = {};
  if (input !== undefined) usage["input_tokens"] = plain(input);
  if (output !== undefined) usage["output_tokens"] = plain(output);
  if (total !== undefined) usage["total_tokens"] = plain(total);
  for (const side of ["input_token_details", "output_token_details"] as const) {
    const parts = [...counts].filter(([row]) => row.side === side);
    if (parts.length > 0)
      usage[side] = Object.fromEntries(parts.map(([{ name }, count]): [string, Json] => [name, plain(count)]));
  }
  const all = withCosts(facts, usage, body);
  return Object.keys(all).length === 0 ? null : all;
}

/** Anthropic's own counts beside those of the AI SDK, of which version 5 has its input and version 6 the sum. */
function readAnthropic(facts: Facts): JsonObject | null {
  if (!facts.has(PROVIDER_METADATA)) return null;
  const usage = member(toJson(facts.peek(PROVIDER_METADATA)), "anthropic", "usage");
  return isObject(usage) ? usage : null;
}

const ROWS: ReadonlyMap<string, CountRow> = new Map(COUNTS.toReversed().map((row) => [row.name, row]));
const NO_ROW: CountRow = { name: "", names: [] };

function rowNamed(name: string): CountRow {
  return ROWS.get(name) ?? NO_ROW;
}

/** Attributes first, then objects in attributes, then the usage in the outputs. */
function gatherCounts(facts: Facts, body: JsonObject | null): Counts {
  const counts = new Map<CountRow, Count>();
  for (const { row, from } of COUNT_SOURCES) {
    const count = facts.count(from);
    if (count !== undefined) counts.set(row, count);
  }
  for (const [from, prefix] of COUNT_OBJECTS) {
    if (!facts.has(from)) continue;
    const mark = facts.mark();
    const object = contentWithin(toJson(facts.value(from)));
    const read = readCounts(object, prefix);
    if (read.size !== listLeaves(object, "", 3).length) facts.release(mark); // only a part of it becomes usage
    for (const [row, count] of read) if (!counts.has(row)) counts.set(row, count);
  }
  if (facts.has(PROVIDER_METADATA)) {
    const mark = facts.mark();
    const providers = contentWithin(toJson(facts.value(PROVIDER_METADATA)));
    facts.release(mark);
    const objects = isObject(providers)
      ? Object.values(providers).flatMap((one) => [one, member(one, "usage") ?? null])
      : [];
    for (const one of objects)
      for (const [row, count] of readCounts(one))
        if (row.side !== undefined && !counts.has(row)) counts.set(row, count);
  }
  if (body !== null) for (const [row, count] of readCounts(body)) if (!counts.has(row)) counts.set(row, count);
  return counts;
}

const USAGE_PATHS: readonly (readonly string[])[] = [
  ["usage"],
  ["usage_metadata"],
  ["usageMetadata"],
  ["token_usage"],
  ["tokenUsage"],
  ["llmOutput", "tokenUsage"],
  ["llm_output", "token_usage"],
  ["meta", "usage"],
  ["meta", "tokens"],
  ["raw", "usage"],
  ["additional_kwargs"],
];
const MESSAGE_PATHS: readonly (readonly string[])[] = [
  ["usage_metadata"],
  ["usage"],
  ["token_usage"],
  ["meta", "usage"],
  ["response_metadata", "usage"],
  ["response_metadata", "tokenUsage"],
  ["response_metadata", "token_usage"],
  ["response_usage"],
  ["raw", "usage"],
];

/** The usage that the answer of a model's API has beside its messages, or in the first of them. */
function findUsage(outputs: JsonObject): JsonObject | null {
  const first = (name: string): Json | undefined => {
    const list = outputs[name];
    return Array.isArray(list) ? (list as readonly Json[])[0] : undefined;
  };
  const whole = findCounts(outputs, USAGE_PATHS);
  const ofMessage = findCounts(first("messages"), MESSAGE_PATHS) ?? findCounts(lastOfTurn(outputs), MESSAGE_PATHS);
  if (whole !== null && ofMessage !== null && hasMore(ofMessage, whole)) return ofMessage;
  return (
    whole ??
    ofMessage ??
    findCounts(first("meta"), META) ??
    joinCounts(findOwnCounts(outputs), findOwnCounts(first("messages")))
  );
}

/** The usage of an answer whose tools the API runs stands at the last message: the first one is a call. */
function lastOfTurn({ messages }: JsonObject): Json | undefined {
  if (!Array.isArray(messages) || messages.length < 2) return undefined;
  const list = messages as readonly Json[];
  return list.every((one) => TURN.has(textMember(one, "role"))) ? list.at(-1) : undefined;
}

function joinCounts(one: JsonObject | null, other: JsonObject | null): JsonObject | null {
  return one === null || other === null ? (one ?? other) : { ...other, ...one };
}

/** The same sums with more details: LangChain has them at the message only. */
function hasMore(usage: JsonObject, than: JsonObject): boolean {
  const [counts, others] = [readCounts(usage), readCounts(than)];
  return counts.size > others.size && [...others].every(([row, count]) => counts.get(row) === count);
}

const META: readonly (readonly string[])[] = [["usage"]];
/** Ollama, Llama and Titan on Bedrock, and watsonx have them among the members of their replies. */
const OWN_COUNTS = [
  "prompt_eval_count",
  "eval_count",
  "prompt_token_count",
  "generation_token_count",
  "inputTextTokenCount",
  "tokenCount", // of a text of Titan's
  "input_token_count",
  "generated_token_count",
];

function findOwnCounts(outputs: Json | undefined): JsonObject | null {
  if (!isObject(outputs)) return null;
  const names = OWN_COUNTS.filter((name) => readCount(outputs[name] ?? null) !== undefined);
  return names.length === 0
    ? null
    : Object.fromEntries(names.map((name) => [name === "tokenCount" ? "output_tokens" : name, outputs[name] ?? null]));
}

function findCounts(value: Json | undefined, paths: readonly (readonly string[])[]): JsonObject | null {
  if (!isObject(value)) return null;
  for (const path of paths) {
    if (value[path[0] ?? ""] === undefined) continue;
    const found = member(value, ...path);
    if (isObject(found) && readCounts(found).size > 0) return found;
  }
  return null;
}

/** Anthropic's API and Bedrock count cached tokens apart. An instrumentation with another count has added them. */
function isAnthropic(usage: JsonObject, input: Count | undefined): boolean {
  return (
    usage["prompt_tokens"] === undefined &&
    readCount(usage["input_tokens"] ?? usage["inputTokens"] ?? null) === input &&
    (usage["cache_read_input_tokens"] !== undefined || usage["cacheReadInputTokens"] !== undefined)
  );
}

/** In no count of the backend: the attribute stays a leftover. */
function readToolPrompts(facts: Facts, body: JsonObject | null): Count {
  const mark = facts.mark();
  const count = facts.count(TOOL_PROMPTS);
  facts.release(mark);
  const within = TOOL_PROMPT_NAMES.map((name) => readCount(body?.[name] ?? null)).find((one) => one !== undefined);
  return count ?? within ?? readCount(body?.["toolUsePromptTokenCount"] ?? null) ?? 0;
}

/** Claude Code passes on the API's counts, in which input_tokens excludes the cache. */
const COUNTS_APART = "claude_code.";

/** Single attributes, else an object of costs of Langfuse or MLflow. */
function withCosts(facts: Facts, usage: JsonObject, body: JsonObject | null = null): JsonObject {
  if (!facts.has(COST_SIGNS)) {
    const cost = body?.["cost"]; // OpenRouter
    return typeof cost === "number" && cost > 0 ? { total_cost: cost, ...usage } : usage;
  }
  const costs: Record<string, Json> = {};
  const before = facts.mark();
  for (const [name, from] of COSTS) {
    const cost = facts.count(from);
    if (cost !== undefined) costs[name] = plain(cost);
  }
  if (facts.has(COST_DETAILS)) {
    const mark = facts.mark();
    const given = asObject(toJson(facts.value(COST_DETAILS)));
    const names = Object.keys(given);
    if (names.length === 0 || !names.every((name) => COST_NAMES.has(name))) facts.release(mark);
    for (const name of names) {
      const target = COST_NAMES.get(name);
      if (target !== undefined) costs[target] ??= given[name] ?? null;
    }
  }
  if (Object.values(costs).every((cost) => cost === 0) && readCount(usage["total_tokens"]) !== 0) {
    facts.release(before);
    return usage;
  }
  return Object.keys(costs).length === 0 ? usage : { ...costs, ...usage };
}

const COST_NAMES: ReadonlyMap<string, string> = new Map(
  ["input", "output", "total"].flatMap((name) => [
    [name, `${name}_cost`],
    [`${name}_cost`, `${name}_cost`],
  ]),
);

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {};
}
