// Metadata filter: the conditions of a scope and a metadata filter, divided into those an index decides and the rest.
// Every adapter stores the members of a metadata object as rows, so a search by one member reads only its matches.
// Invariants:
//   - Text, numbers, booleans and null have one row each; lists and objects have none, so the filter reads them in the
//     JSON.
//   - A row has at most VALUE_UNITS_MAX units of the value's JSON text; the filter also compares a longer one in the
//     JSON.
//   - The values of an `in` condition are scalars shorter than that, so the index decides.
import type { Scope } from "../../model/model.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

const VALUE_UNITS_MAX = 200;

export interface IndexedCondition {
  readonly key: string;
  /** The value's JSON text in the index. */
  readonly text: string;
}

/** The member is one of several values. */
export interface OneOf {
  readonly key: string;
  /** JSON texts of the values in the index. */
  readonly texts: readonly string[];
}

/** Null if the index has no row for it. */
export function indexText(value: Json): string | null {
  if (typeof value === "object" && value !== null) return null;
  return JSON.stringify(value).slice(0, VALUE_UNITS_MAX);
}

/** The conditions an index decides, and the rest as JSON texts that the metadata must contain. */
export function metadataConditions(
  scope: Scope,
  metadata: JsonObject | null,
): {
  readonly indexed: readonly IndexedCondition[];
  readonly oneOf: readonly OneOf[];
  readonly rest: readonly string[];
} {
  const indexed: IndexedCondition[] = [];
  const oneOf: OneOf[] = [];
  const rest: string[] = [];
  const add = (key: string, value: Json): void => {
    const text = indexText(value);
    if (text !== null) indexed.push({ key, text });
    if (text === null || text.length >= VALUE_UNITS_MAX) rest.push(JSON.stringify(Object.fromEntries([[key, value]])));
  };
  for (const { key, op, value } of scope ?? []) {
    if (op === "in") oneOf.push({ key, texts: listTexts(value) });
    else add(key, op === "eq" ? value : [value]);
  }
  for (const [key, value] of Object.entries(metadata ?? {})) add(key, value);
  return { indexed, oneOf, rest };
}

function listTexts(list: Json): readonly string[] {
  return (Array.isArray(list) ? (list as readonly Json[]) : []).map((value) => {
    const text = indexText(value);
    if (text === null || text.length >= VALUE_UNITS_MAX) throw new Error("a list of a condition has long values");
    return text;
  });
}
