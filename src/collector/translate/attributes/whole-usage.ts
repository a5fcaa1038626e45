// Whole usage: one object with all counts of a call, in the words of Langfuse, MLflow, Braintrust or an API → the
// backend's words. Names that no table has pass unchanged.
// Invariants:
//   whole-usage.1. An object in the backend's own words comes back as it is.
//   whole-usage.2. Counts of a part (cache, reasoning) are inside of input and output, unless the total says that they
//        come on top. Langfuse adds them up, so without a total they do.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { type Count, countOf, plus } from "./exact-count.ts";
import { isObject, plain } from "./plain-values.ts";

const SUMS: ReadonlyMap<string, string> = new Map([
  ["input", "input_tokens"],
  ["prompt_tokens", "input_tokens"],
  ["output", "output_tokens"],
  ["completion_tokens", "output_tokens"],
  ["total", "total_tokens"],
  ["tokens", "total_tokens"],
]);

type Side = "input_token_details" | "output_token_details";

const PARTS: ReadonlyMap<string, readonly [Side, string]> = new Map(
  (
    [
      ["input_token_details", "cache_read", "cache_read_input_tokens", "input_cached_tokens", "prompt_cached_tokens"],
      ["input_token_details", "cache_read", "input_cache_read", "input_cached"],
      ["input_token_details", "cache_creation", "cache_creation_input_tokens", "prompt_cache_creation_tokens"],
      ["input_token_details", "cache_creation", "input_cache_creation", "input_cache_write"],
      ["input_token_details", "audio", "input_audio_tokens", "prompt_audio_tokens", "input_audio"],
      ["output_token_details", "reasoning", "output_reasoning_tokens", "completion_reasoning_tokens"],
      ["output_token_details", "reasoning", "reasoning_tokens", "output_reasoning"],
      ["output_token_details", "audio", "output_audio_tokens", "completion_audio_tokens", "output_audio"],
    ] as const
  ).flatMap(([side, part, ...names]) => names.map((name) => [name, [side, part]] as const)),
);

export function wholeUsage(given: JsonObject): JsonObject {
  const names = Object.keys(given);
  if (!names.some((name) => SUMS.has(name) || PARTS.has(name))) return given; // whole-usage.1
  const usage = new Map<string, Json>();
  const parts = { input_token_details: new Map<string, Count>(), output_token_details: new Map<string, Count>() };
  for (const name of names) {
    const value = given[name] ?? null;
    const part = PARTS.get(name);
    const count = part === undefined ? undefined : countOf(value);
    const target = SUMS.get(name) ?? name;
    if (part !== undefined && count !== undefined && !parts[part[0]].has(part[1])) parts[part[0]].set(part[1], count);
    else if (usage.has(target) && target !== name) usage.set(name, value);
    else usage.set(target, value);
  }
  return summed(usage, parts, given["input"] !== undefined || given["output"] !== undefined);
}

function summed(
  usage: Map<string, Json>,
  parts: Readonly<Record<Side, ReadonlyMap<string, Count>>>,
  addsUp: boolean,
): JsonObject {
  const input = countOf(usage.get("input_tokens")) ?? 0;
  const output = countOf(usage.get("output_tokens")) ?? 0;
  const [ofInput, ofOutput] = [total(parts.input_token_details), total(parts.output_token_details)];
  const both = plus(input, output);
  const all = plus(both, plus(ofInput, ofOutput));
  const given = countOf(usage.get("total_tokens"));
  const onTop = all !== both && (given === all || (given === undefined && addsUp) || ofInput > input); // whole-usage.2
  const known = usage.has("input_tokens") || usage.has("output_tokens") || all !== both;
  if (onTop && Number(ofInput) > 0) usage.set("input_tokens", plain(plus(input, ofInput)));
  if (onTop && Number(ofOutput) > 0) usage.set("output_tokens", plain(plus(output, ofOutput)));
  if (given === undefined && known) usage.set("total_tokens", plain(onTop ? all : both));
  for (const side of ["input_token_details", "output_token_details"] as const) {
    const details = [...parts[side]].map(([name, count]): [string, Json] => [name, plain(count)]);
    const own = usage.get(side);
    if (details.length > 0) usage.set(side, { ...(isObject(own) ? own : {}), ...Object.fromEntries(details) });
  }
  return Object.fromEntries(usage);
}

function total(parts: ReadonlyMap<string, Count>): Count {
  let sum: Count = 0;
  for (const count of parts.values()) sum = plus(sum, count);
  return sum;
}
