// Secrets of an answer: the parts that its schema marks with `format: "password"` or `writeOnly: true`. Pure.
// Rules:
//   mask-secrets.1. A mark holds wherever it applies to the value, or may apply: at any depth, in arrays, behind
//        references, and in every branch of a condition or a choice.
//   mask-secrets.2. What cannot be decided counts as secret: an unknown reference in a schema with a mark, a very deep
//        value.
//   mask-secrets.3. A value without a secret stays the same object.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

/** In place of a secret. It has no words that a search could find. */
export const HIDDEN = "********";

/** Texts of stored schemas with a mark, for databases: they keep schemas as JSON.stringify() writes them. */
const SECRET_MARKS = ['"writeOnly":true', '"format":"password"'] as const;

const DEPTH_MAX = 200;

/** Keywords whose schemas describe the same value. */
const LISTS = ["allOf", "anyOf", "oneOf"];
const SINGLE = ["if", "then", "else", "not"];
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];
const ITEMS = ["items", "additionalItems", "unevaluatedItems", "contains"];
const OTHER_MEMBERS = ["additionalProperties", "unevaluatedProperties"];

/** What a reader gets of an answer: the answer, or `maskSecrets`. */
export type Show = typeof maskSecrets;

export const showAll: Show = (value) => value;

/** @param schema of the answer; null if any fits */
export function maskSecrets(value: Json, schema: JsonObject | null): Json {
  if (schema === null || !hasMark(schema)) return value;
  return masked(value, [schema], { root: schema, depth: 0 });
}

/** Whether a schema marks anything: answers under any other are shown as they are. */
export function hasMark(schema: JsonObject): boolean {
  const text = JSON.stringify(schema);
  return SECRET_MARKS.some((mark) => text.includes(mark));
}

interface Place {
  readonly root: JsonObject;
  readonly depth: number;
}

function masked(value: Json, schemas: readonly Json[], { root, depth }: Place): Json {
  const all = applicable(schemas, root);
  if (all === null || depth > DEPTH_MAX || all.some(isSecret)) return HIDDEN; // mask-secrets.2
  if (all.length === 0) return value;
  const inside = { root, depth: depth + 1 };
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    const items = list.map((item, at) => masked(item, itemSchemas(all, at), inside));
    return items.every((item, at) => item === list[at]) ? value : items; // mask-secrets.3
  }
  if (!isJsonObject(value)) return value;
  const names = applicable(
    all.flatMap((schema) => present(schema["propertyNames"])),
    root,
  );
  if (names === null || names.some(isSecret)) return HIDDEN;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    masked(member, memberSchemas(all, name), inside),
  ]);
  return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
}

function isSecret(schema: JsonObject): boolean {
  return schema["writeOnly"] === true || schema["format"] === "password";
}

/** These schemas, and all that may describe the same value; null if a reference leads nowhere. */
function applicable(schemas: readonly Json[], root: JsonObject): readonly JsonObject[] | null {
  const found = new Set<JsonObject>();
  const pending = [...schemas];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (!isJsonObject(schema) || found.has(schema)) continue;
    found.add(schema);
    for (const keyword of LISTS) pending.push(...listed(schema[keyword]));
    for (const keyword of SINGLE) pending.push(...present(schema[keyword]));
    for (const keyword of ["dependentSchemas", "dependencies"]) pending.push(...valuesIn(schema[keyword]));
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference !== "string") continue;
      const target = findSchema(reference, root);
      if (target === undefined) return null;
      pending.push(target);
    }
  }
  return [...found];
}

function itemSchemas(schemas: readonly JsonObject[], at: number): readonly Json[] {
  return schemas.flatMap((schema) => {
    const byPlace = [...listed(schema["prefixItems"]), ...listed(schema["items"])];
    const others = ITEMS.flatMap((keyword) => (Array.isArray(schema[keyword]) ? [] : present(schema[keyword])));
    return [...(byPlace[at] === undefined ? [] : [byPlace[at]]), ...others];
  });
}

function memberSchemas(schemas: readonly JsonObject[], name: string): readonly Json[] {
  return schemas.flatMap((schema) => {
    const { properties = null, patternProperties = null } = schema;
    const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? present(properties[name]) : [];
    const patterns = isJsonObject(patternProperties) ? Object.entries(patternProperties) : [];
    const described = [...own, ...patterns.filter(([pattern]) => mayMatch(pattern, name)).map(([, one]) => one)];
    return described.length > 0 ? described : OTHER_MEMBERS.flatMap((keyword) => present(schema[keyword]));
  });
}

/** Only plain patterns are compared, so that none can take long; any other may match (mask-secrets.1). */
function mayMatch(pattern: string, name: string): boolean {
  const [, start = "", text, end = ""] = /^(\^?)([\w -]*)(\$?)$/.exec(pattern) ?? [];
  if (text === undefined) return true;
  if (start !== "" && end !== "") return name === text;
  if (start !== "") return name.startsWith(text);
  return end === "" ? name.includes(text) : name.endsWith(text);
}

/** By pointer, anchor or id; undefined if it is in another document, or nowhere. */
function findSchema(reference: string, root: JsonObject): Json | undefined {
  if (reference === "#" || reference === "" || reference === root["$id"]) return root;
  if (reference.startsWith("#/")) return atPointer(reference.slice(2), root);
  const anchor = reference.startsWith("#") ? reference.slice(1) : null;
  const isNamed = (schema: JsonObject): boolean =>
    anchor === null
      ? schema["$id"] === reference
      : schema["$anchor"] === anchor || schema["$dynamicAnchor"] === anchor || schema["$id"] === reference;
  const pending: Json[] = [root];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (isJsonObject(one) && isNamed(one)) return one;
    if (one !== null && typeof one === "object") pending.push(...Object.values(one as Readonly<Record<string, Json>>));
  }
  return undefined;
}

function atPointer(pointer: string, root: JsonObject): Json | undefined {
  let found: Json | undefined = root;
  for (const step of pointer.split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, Json>>)[name];
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const present = (schema: Json | undefined): readonly Json[] => (schema === undefined ? [] : [schema]);
const listed = (schemas: Json | undefined): readonly Json[] =>
  Array.isArray(schemas) ? (schemas as readonly Json[]) : [];
const valuesIn = (map: Json | undefined): readonly Json[] =>
  map !== undefined && isJsonObject(map) ? Object.values(map) : [];
