// Metadata filter: what a caller asks for, and what it may touch at all, as conditions on a `metadata` column.
// Invariant MF1: a filter's keys and values are bound, never part of the SQL text.
import type { SQLInputValue } from "node:sqlite";
import type { Scope } from "../../agent/model.ts";
import { contains, type Json, type JsonObject } from "../../base/json.ts";
import type { Database } from "./database.ts";

export type AddCondition = (condition: string, ...parameters: SQLInputValue[]) => void;

export function defineMetadataFilter(db: Database): void {
  db.defineFunction("json_contains", (whole, part) =>
    contains(JSON.parse(String(whole)) as Json, JSON.parse(String(part)) as Json) ? 1 : 0,
  );
}

export function addMetadataConditions(
  add: AddCondition,
  filter: { readonly scope: Scope; readonly metadata: JsonObject | null },
): void {
  for (const { key, op, value } of filter.scope ?? []) addMember(add, key, op === "eq" ? value : [value]);
  for (const [key, value] of Object.entries(filter.metadata ?? {})) addMember(add, key, value);
}

function addMember(add: AddCondition, key: string, value: Json): void {
  // A text member with an ordinary name is compared by SQLite itself; the exact test sees only what is left.
  if (typeof value === "string" && /^\w+$/.test(key)) add("metadata ->> ? = ?", `$."${key}"`, value);
  add("json_contains(metadata, ?)", JSON.stringify({ [key]: value })); // MF1
}
