// Closed schema: a JSON Schema whose objects take no members beyond those that it describes. Pure.
// Invariants:
//   - An object whose members the schema describes takes these only, at any depth, unless the schema says
//     itself what else it takes. An object without any described member stays open.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

/** Keywords whose schemas describe the same value as the schema around them. */
const PARTS = ["allOf", "anyOf", "oneOf"];
const CONDITIONS = ["if", "then", "else"];
const DEFINITIONS = ["$defs", "definitions"];
/** Keywords whose schemas describe values inside. */
const INNER = [
  "items",
  "additionalProperties",
  "unevaluatedProperties",
  "contains",
  "additionalItems",
  "unevaluatedItems",
];
const INNER_MAPS = ["properties", "patternProperties"];

export function closeSchema(schema: JsonObject): JsonObject {
  return closed(schema, { root: schema, isPart: false }) as JsonObject;
}

interface Place {
  readonly root: JsonObject;
  /** The schema around it is closed in its place. */
  readonly isPart: boolean;
}

function closed(schema: Json, { root, isPart }: Place): Json {
  if (!isJsonObject(schema)) return schema;
  const inside = (value: Json): Json => closed(value, { root, isPart: false });
  const part = (value: Json): Json => closed(value, { root, isPart: true });
  const members = Object.entries(schema).map(([keyword, value]): [string, Json] => {
    if (PARTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(part)];
    if (CONDITIONS.includes(keyword)) return [keyword, part(value)];
    if (DEFINITIONS.includes(keyword) && isJsonObject(value)) return [keyword, mapped(value, part)];
    if (INNER_MAPS.includes(keyword) && isJsonObject(value)) return [keyword, mapped(value, inside)];
    if (keyword === "prefixItems" && Array.isArray(value)) return [keyword, value.map(inside)];
    return INNER.includes(keyword) ? [keyword, inside(value)] : [keyword, value];
  });
  const isOpen = "additionalProperties" in schema || "unevaluatedProperties" in schema;
  const closes = !isPart && !isOpen && describesMembers(schema, root, 0);
  return Object.fromEntries(closes ? [...members, ["unevaluatedProperties", false]] : members);
}

function mapped(map: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

const REFERENCES_MAX = 20;

function describesMembers(schema: Json, root: JsonObject, references: number): boolean {
  if (!isJsonObject(schema)) return false;
  if (isJsonObject(schema["properties"] ?? null)) return true;
  const { $ref: reference } = schema;
  const target =
    typeof reference === "string" && references < REFERENCES_MAX ? resolveReference(reference, root) : null;
  const parts = PARTS.flatMap((keyword) => (Array.isArray(schema[keyword]) ? (schema[keyword] as Json[]) : []));
  return describesMembers(target, root, references + 1) || parts.some((one) => describesMembers(one, root, references));
}

/** Null for a reference to another document. */
function resolveReference(reference: string, root: JsonObject): Json {
  if (!reference.startsWith("#")) return null;
  let found: Json = root;
  for (const step of reference.split("/").slice(1)) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return null;
    found = found[name] ?? null;
  }
  return found;
}
