// Metadata conditions: what a scope and a metadata filter ask for, in the parts that an index can tell and the rest.
// Every adapter keeps the members of an object's metadata as rows, so that a search by one reads only what has it.
// Invariants:
//   metadata-filter.1. Text, numbers, booleans and null have a row each; lists and objects have none, and are looked at in the JSON.
//   metadata-filter.2. A row has at most VALUE_UNITS_MAX units of the value's JSON text; a longer one is compared in the JSON as well.
import type { Scope } from "../../agent/model/model.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";

const VALUE_UNITS_MAX = 200;

export interface IndexedCondition {
  readonly key: string;
  /** The value's JSON text, as the index has it. */
  readonly text: string;
}

/** Null when the index has no row for it. */
export function indexText(value: Json): string | null {
  if (typeof value === "object" && value !== null) return null; // metadata-filter.1
  return JSON.stringify(value).slice(0, VALUE_UNITS_MAX); // metadata-filter.2
}

/** What the index can tell, and the rest as JSON texts to be contained. */
export function metadataConditions(
  scope: Scope,
  metadata: JsonObject | null,
): { readonly indexed: readonly IndexedCondition[]; readonly rest: readonly string[] } {
  const indexed: IndexedCondition[] = [];
  const rest: string[] = [];
  const add = (key: string, value: Json): void => {
    const text = indexText(value);
    if (text !== null) indexed.push({ key, text });
    if (text === null || text.length >= VALUE_UNITS_MAX) rest.push(JSON.stringify(Object.fromEntries([[key, value]])));
  };
  for (const { key, op, value } of scope ?? []) add(key, op === "eq" ? value : [value]);
  for (const [key, value] of Object.entries(metadata ?? {})) add(key, value);
  return { indexed, rest };
}
