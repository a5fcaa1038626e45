// Whole usage: one object with all counts of a call, in the words of Langfuse, MLflow, Braintrust or an API → the
// backend's words. Names that no table has pass unchanged.
// Invariants:
//   - An object in the backend's own words comes back as it is.
//   - Counts of a part (cache, reasoning) are inside of input and output, unless the total says that they come on top.
//     Langfuse adds them up, so without a total, or with one above both, they do.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { type Count, readCount, plus } from "./exact-count.ts";
import { isObject, plain } from "./plain-values.ts";
import { type CountRow, isCountName, listLeaves, readCounts, type Side } from "./usage-names.ts";

/** Members of the backend, whose words may have members of their own. */
const OWN: ReadonlySet<string> = new Set([
  "input_tokens",
  "output_tokens",
  "total_tokens",
  "input_token_details",
  "output_token_details",
]);

export function wholeUsage(given: JsonObject): JsonObject {
  const names = Object.keys(given);
  const read = names.filter((name) => !OWN.has(name) && isRead(name, given[name] ?? null));
  if (read.length === 0) return given;
  const usage = new Map<string, Json>();
  const parts = { input_token_details: new Map<string, Count>(), output_token_details: new Map<string, Count>() };
  const counted = new Map<CountRow, Count>();
  for (const name of names) {
    const value = given[name] ?? null;
    const counts = OWN.has(name) || read.includes(name) ? readCounts({ [name]: value }) : NONE;
    const isNew = counts.size > 0 && [...counts.keys()].every((row) => !counted.has(row));
    if (!isNew) usage.set(name, value);
    for (const [row, count] of isNew ? counts : NONE) {
      counted.set(row, count);
      if (row.side === undefined) usage.set(row.name, plain(count));
      else parts[row.side].set(row.name, count);
    }
  }
  return summed(usage, parts, given["input"] !== undefined || given["output"] !== undefined);
}

const NONE: ReadonlyMap<CountRow, Count> = new Map();

/** A name of the table, or an object with only such names. */
function isRead(name: string, value: Json): boolean {
  if (!isObject(value)) return isCountName(name) && readCount(value) !== undefined;
  const leaves = listLeaves(value, `${name}.`, 2);
  return leaves.length > 0 && leaves.every(([path, one]) => isCountName(path) && readCount(one) !== undefined);
}

function summed(
  usage: Map<string, Json>,
  parts: Readonly<Record<Side, ReadonlyMap<string, Count>>>,
  addsUp: boolean,
): JsonObject {
  const input = readCount(usage.get("input_tokens")) ?? 0;
  const output = readCount(usage.get("output_tokens")) ?? 0;
  const [ofInput, ofOutput] = [total(parts.input_token_details), total(parts.output_token_details)];
  const both = plus(input, output);
  const all = plus(both, plus(ofInput, ofOutput));
  const given = readCount(usage.get("total_tokens"));
  const onTop = all !== both && (given === all || (addsUp && (given === undefined || given > both)) || ofInput > input);
  const [inputOnTop, outputOnTop] = onTop
    ? [true, true]
    : [given === plus(both, ofInput), given === plus(both, ofOutput)];
  const known = usage.has("input_tokens") || usage.has("output_tokens") || all !== both;
  if (inputOnTop && Number(ofInput) > 0) usage.set("input_tokens", plain(plus(input, ofInput)));
  if (outputOnTop && Number(ofOutput) > 0) usage.set("output_tokens", plain(plus(output, ofOutput)));
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
