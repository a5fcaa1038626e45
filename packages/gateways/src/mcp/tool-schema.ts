// Tool schema: the JSON Schema of a graph, of any draft, in the form that clients of tools take: valid in draft 2020-12,
// with a type for every parameter.
// Invariants:
//   tool-schema.1. The result is valid by the meta-schema of 2020-12, whatever comes in: one tool that is not makes all
//        tools of a server unusable for some clients.
//   tool-schema.2. What draft 7 says in other words is kept: tuples, dependencies, exclusive bounds of draft 4.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

const TYPES = ["string", "number", "boolean", "object", "array", "null"];
const ALL_TYPES: ReadonlySet<Json> = new Set([...TYPES, "integer"]);

type Convert = (value: Json, root: JsonObject) => Json | undefined;

/** Depth of a schema that is converted; below it, anything is allowed. */
const DEPTH_MAX = 40;

export function convertSchema(schema: JsonObject): JsonObject {
  return converted(schema, schema, 0) as JsonObject;
}

/** The same, for a value about which nothing is known. */
export const ANY_TYPE: readonly string[] = TYPES;

function converted(schema: Json, root: JsonObject, depth: number): JsonObject | boolean {
  if (typeof schema === "boolean") return schema;
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return {};
  const given = olderBounds(olderTuple(olderDependencies(schema)));
  const below: Convert = (value) => converted(value, root, depth + 1);
  const result: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(given)) {
    if (DROPPED.has(keyword) || value === undefined) continue;
    const made = keywordValue(keyword, value, root, below);
    if (made !== undefined) result[keyword] = made;
  }
  return result;
}

/** The dialect is that of the whole; a base address would turn references to the root away from it. */
const DROPPED: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$vocabulary",
  "$dynamicAnchor",
  "$dynamicRef",
]);

const OF_SCHEMAS: ReadonlySet<string> = new Set(["$defs", "definitions", "patternProperties", "dependentSchemas"]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SCHEMAS = new Set(
  "additionalProperties contains else if items not propertyNames then unevaluatedItems".split(" "),
);
const COUNTS = new Set(
  "maxItems minItems maxLength minLength maxProperties minProperties maxContains minContains".split(" "),
);
const NUMBERS = new Set(["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"]);
const TEXTS = new Set("$comment title description format contentEncoding contentMediaType".split(" "));
const FLAGS = new Set(["uniqueItems", "readOnly", "writeOnly", "deprecated"]);

/** @returns undefined for a value that the keyword does not allow */
function keywordValue(keyword: string, value: Json, root: JsonObject, below: Convert): Json | undefined {
  if (keyword === "$ref") return typeof value === "string" && target(value, root) !== null ? value : undefined;
  if (keyword === "properties") return mapped(value, (member) => typed(below(member, root) ?? {}, root));
  if (OF_SCHEMAS.has(keyword)) return mapped(value, (member) => below(member, root) ?? {});
  if (LISTS.has(keyword)) return listed(value, (item) => below(item, root) ?? {});
  if (SCHEMAS.has(keyword) || keyword === "unevaluatedProperties" || keyword === "contentSchema")
    return below(value, root);
  if (keyword === "type") return typesIn(value);
  if (keyword === "required") return names(value);
  if (keyword === "dependentRequired") return mapped(value, (member) => names(member) ?? []);
  if (keyword === "enum" || keyword === "examples") return Array.isArray(value) ? value : undefined;
  if (keyword === "multipleOf") return typeof value === "number" && value > 0 ? value : undefined;
  if (keyword === "pattern") return isPattern(value) ? value : undefined;
  if (COUNTS.has(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? value : undefined;
  if (NUMBERS.has(keyword)) return typeof value === "number" ? value : undefined;
  if (FLAGS.has(keyword)) return typeof value === "boolean" ? value : undefined;
  if (TEXTS.has(keyword)) return typeof value === "string" ? value : undefined;
  return value;
}

function isPattern(value: Json): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function mapped(value: Json, change: (member: Json) => Json): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}

function listed(value: Json, change: (item: Json) => Json): Json | undefined {
  return Array.isArray(value) && value.length > 0 ? (value as readonly Json[]).map(change) : undefined;
}

function names(value: Json): Json | undefined {
  if (!Array.isArray(value)) return undefined;
  return [...new Set((value as readonly Json[]).filter((name) => typeof name === "string"))];
}

function typesIn(value: Json): Json | undefined {
  const known = [
    ...new Set((Array.isArray(value) ? (value as readonly Json[]) : [value]).filter((one) => ALL_TYPES.has(one))),
  ];
  return known.length > 1 ? known : known[0];
}

/** Draft 7 has tuples in `items`. */
function olderTuple(schema: JsonObject): JsonObject {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items };
  const more = additionalItems === undefined ? {} : { items: additionalItems };
  return items.length === 0 ? { ...rest, ...more } : { ...rest, prefixItems: items, ...more };
}

/** Draft 7 has both kinds of dependencies in one keyword. */
function olderDependencies({ dependencies, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(dependencies)) return rest;
  const all = Object.entries(dependencies);
  const lists = all.filter(([, value]) => Array.isArray(value));
  const schemas = all.filter(([, value]) => !Array.isArray(value));
  return {
    ...rest,
    ...(lists.length === 0 ? {} : { dependentRequired: Object.fromEntries(lists) }),
    ...(schemas.length === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

/** Draft 4 has a flag beside the bound. */
function olderBounds(schema: JsonObject): JsonObject {
  const changed: Record<string, Json> = { ...schema };
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof changed[exclusive] !== "boolean") continue;
    const isExclusive = changed[exclusive];
    delete changed[exclusive];
    if (!isExclusive || typeof changed[bound] !== "number") continue;
    changed[exclusive] = changed[bound];
    delete changed[bound];
  }
  return changed;
}

/** A parameter with a type: that of its own, of what it refers to, or all. */
function typed(schema: Json, root: JsonObject): JsonObject {
  if (!isJsonObject(schema)) return { type: TYPES };
  if ("type" in schema) return schema;
  const found = findTypes(schema, root, 0);
  return { type: found.length === 1 ? (found[0] ?? TYPES) : found.length === 0 ? TYPES : found, ...schema };
}

/** @returns the types that the schema allows; empty if it does not say */
function findTypes(schema: Json, root: JsonObject, depth: number): readonly Json[] {
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return [];
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  const own = typesIn(type ?? null);
  if (own !== undefined) return Array.isArray(own) ? (own as readonly Json[]) : [own];
  if (Array.isArray(schema["enum"])) return [...new Set((schema["enum"] as readonly Json[]).map(typeName))];
  if ("const" in schema) return [typeName(schema["const"] ?? null)];
  if (typeof $ref === "string") return findTypes(target($ref, root), root, depth + 1);
  const choice = anyOf ?? oneOf;
  if (Array.isArray(choice)) {
    const all = (choice as readonly Json[]).map((one) => findTypes(one, root, depth + 1));
    return all.some((types) => types.length === 0) ? [] : [...new Set(all.flat())];
  }
  if (Array.isArray(allOf)) {
    return (
      (allOf as readonly Json[]).map((one) => findTypes(one, root, depth + 1)).find((types) => types.length > 0) ?? []
    );
  }
  return [];
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The schema at `#/definitions/name`; null for one that is not there, or not in this schema. */
function target(reference: string, root: JsonObject): Json {
  if (reference !== "#" && !reference.startsWith("#/")) return null;
  let found: Json = root;
  for (const part of reference
    .replace(/^#\/?/, "")
    .split("/")
    .filter((name) => name !== "")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isJsonObject(found) || !Object.hasOwn(found, name)) return null;
    found = found[name] ?? null;
  }
  return found;
}
