// JSON Schema of a type: TypeScript types → JSON Schema, as far as both can express the same.
// Invariants:
//   json-schema-of-type.1. A type without a JSON Schema allows everything: functions, classes, dates, maps, types that
//        are new on every level.
//   json-schema-of-type.2. A schema is never stricter than its type: it omits the part of a type that it cannot
//        express, not the value.
//   json-schema-of-type.3. A type that refers to itself is a definition, and each mention of it a reference.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { MESSAGE_LIST, MESSAGE_NAMES } from "./message-definitions.ts";
import type { Type, TypeProgram, TypeSymbol } from "./type-checker.ts";

const DEPTH_MAX = 10;
const TYPES_MAX = 5000;
const LITERALS_MAX = 200;
const CALL = 0;

interface Walk {
  readonly program: TypeProgram;
  /** Types around the present one. */
  readonly above: Type[];
  /** Types that are mentioned within themselves, by name. */
  readonly names: Map<Type, string>;
  readonly definitions: Record<string, JsonObject>;
  count: number;
}

export function schemaOfType(program: TypeProgram, root: Type): JsonObject {
  const walk: Walk = { program, above: [], names: new Map(), definitions: {}, count: 0 };
  const schema = typeSchema(walk, root);
  const name = walk.names.get(root);
  const whole = name === undefined ? schema : (walk.definitions[name] ?? {});
  return walk.names.size === 0 ? whole : { ...whole, definitions: walk.definitions };
}

function typeSchema(walk: Walk, type: Type): JsonObject {
  const { above } = walk;
  if (above.includes(type) || walk.names.has(type)) return reference(nameType(walk, type)); // json-schema-of-type.3
  if (above.length > DEPTH_MAX || ++walk.count > TYPES_MAX) return {}; // json-schema-of-type.1
  above.push(type);
  const schema = describe(walk, type);
  above.pop();
  const name = walk.names.get(type);
  if (name === undefined) return schema;
  walk.definitions[name] = schema;
  return reference(name);
}

const reference = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });

const findAlias = (type: Type): TypeSymbol | undefined =>
  type.getAliasSymbol === undefined ? (type.aliasSymbol as TypeSymbol | undefined) : type.getAliasSymbol();

/** Its own name, with a number where another type has it. */
function nameType({ names }: Walk, type: Type): string {
  const known = names.get(type);
  if (known !== undefined) return known;
  const symbol = findAlias(type)?.name ?? type.getSymbol()?.name ?? "";
  const base = /^[A-Za-z]\w*$/.test(symbol) ? symbol : "Type";
  const usedNames = new Set([...names.values(), ...MESSAGE_NAMES]);
  let name = base;
  for (let number = 2; usedNames.has(name); number++) name = `${base}${number}`;
  names.set(type, name);
  return name;
}

function is({ program: { typeFlags } }: Walk, type: Type, ...names: readonly string[]): boolean {
  return names.some((name) => (type.flags & (typeFlags[name] ?? 0)) !== 0);
}

function describe(walk: Walk, type: Type): JsonObject {
  const { checker, members } = walk.program;
  if (is(walk, type, "StringLiteral", "NumberLiteral") && !is(walk, type, "Union"))
    return literal(type.value as string | number);
  if (is(walk, type, "BooleanLiteral")) return literal(checker.typeToString(type) === "true");
  if (is(walk, type, "Union")) return unionSchema(walk, members(type));
  if (is(walk, type, "String", "TemplateLiteral", "StringMapping")) return { type: "string" };
  if (is(walk, type, "Number", "Enum")) return { type: "number" };
  if (is(walk, type, "Boolean")) return { type: "boolean" };
  if (is(walk, type, "Null")) return { type: "null" };
  if (is(walk, type, "NonPrimitive")) return { type: "object" };
  if (is(walk, type, "Intersection")) return intersectionSchema(walk, type);
  if (is(walk, type, "Object")) return objectSchema(walk, type);
  return {}; // json-schema-of-type.1: any, unknown, bigint, symbol, never, types that depend on a parameter
}

function unionSchema(walk: Walk, members: readonly Type[]): JsonObject {
  const written = members.filter(
    (type) => !is(walk, type, "Undefined", "Void") && type.getSymbol()?.name !== "OverwriteValue",
  );
  const schemas = written.map((type) => typeSchema(walk, type));
  // json-schema-of-type.2: one member allows everything
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {};
  const literals = schemas.flatMap((schema) => ("const" in schema ? [schema["const"] ?? null] : []));
  const others = schemas.filter((schema) => !("const" in schema));
  if (literals.length > LITERALS_MAX) return {};
  const all = [...others, ...literalSchemas(literals)];
  const different = withTypesTogether([...new Map(all.map((schema) => [JSON.stringify(schema), schema])).values()]);
  return different.length === 1 ? (different[0] ?? {}) : { anyOf: different };
}

/** `string & {brand}` has the JSON form of a string. */
function intersectionSchema(walk: Walk, type: Type): JsonObject {
  const plain = walk.program.members(type).find((member) => is(walk, member, "String", "Number", "Boolean"));
  return plain === undefined ? objectSchema(walk, type) : typeSchema(walk, plain);
}

function objectSchema(walk: Walk, type: Type): JsonObject {
  const { checker } = walk.program;
  if (checker.isArrayType(type)) return arraySchema(walk, checker.getTypeArguments(type)[0]);
  if (checker.isTupleType(type)) return tupleSchema(walk, type);
  const symbol = type.getSymbol();
  if (symbol !== undefined && isOpaque(walk, symbol)) return {};
  if (checker.getSignaturesOfType(type, CALL).length > 0) return {};
  return memberSchemas(walk, type);
}

function memberSchemas(walk: Walk, type: Type): JsonObject {
  const { checker, symbolFlags, comment } = walk.program;
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  for (const property of checker.getPropertiesOfType(type)) {
    const propertyType = checker.getTypeOfSymbol(property);
    if (propertyType === undefined || property.name.startsWith("__@")) continue; // a symbol's name is not for JSON
    const text = comment(property).trim();
    properties[property.name] = { ...typeSchema(walk, propertyType), ...(text === "" ? {} : { description: text }) };
    if ((property.flags & (symbolFlags["Optional"] ?? 0)) === 0 && !mayBeUndefined(walk, propertyType))
      required.push(property.name);
  }
  const [info] = checker.getIndexInfosOfType(type);
  const index = info?.valueType ?? info?.type;
  if (index === undefined && Object.keys(properties).length === 0) return {};
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(index === undefined ? {} : { additionalProperties: typeSchema(walk, index) }),
  };
}

function mayBeUndefined(walk: Walk, type: Type): boolean {
  if (is(walk, type, "Any", "Unknown", "Undefined")) return true;
  return is(walk, type, "Union") && walk.program.members(type).some((member) => mayBeUndefined(walk, member));
}

function arraySchema(walk: Walk, item: Type | undefined): JsonObject {
  if (item?.getSymbol()?.name === "BaseMessage") return MESSAGE_LIST;
  const items = item === undefined ? {} : typeSchema(walk, item);
  return { type: "array", ...(Object.keys(items).length === 0 ? {} : { items }) };
}

/** As draft 7 has it; with optional or rest elements a list of any of them. */
function tupleSchema(walk: Walk, type: Type): JsonObject {
  const members = walk.program.checker.getTypeArguments(type);
  const length = walk.program.tupleLength(type);
  if (length !== members.length) return { type: "array", items: unionSchema(walk, members) };
  const items = members.map((member) => typeSchema(walk, member));
  return { type: "array", items, minItems: length, maxItems: length };
}

function isOpaque({ program: { symbolFlags } }: Walk, { name, flags }: TypeSymbol): boolean {
  return (flags & (symbolFlags["Class"] ?? 0)) !== 0 || OPAQUE.has(name);
}

/** Built-in types, whose JSON form differs from their members. */
const OPAQUE = new Set([
  "Date",
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "Promise",
  "RegExp",
  "Error",
  "URL",
  "Uint8Array",
  "ArrayBuffer",
]);

function literalSchemas(values: readonly unknown[]): readonly JsonObject[] {
  const rest = values.filter((value) => typeof value !== "boolean") as readonly (string | number)[];
  const booleans = values.filter((value) => typeof value === "boolean") as readonly boolean[];
  return [
    ...(booleans.length === 2 ? [{ type: "boolean" }] : booleans.map(literal)),
    ...(rest.length < 2 ? rest.map(literal) : [enumeration(rest)]),
  ];
}

const literal = (value: string | number | boolean): JsonObject => ({ type: typeof value, const: value });

/** `{"type": ["null", "string"]}` for members that are only a type, as the reference has it. */
function withTypesTogether(schemas: readonly JsonObject[]): readonly JsonObject[] {
  const isPlain = (schema: JsonObject): boolean =>
    Object.keys(schema).length === 1 && typeof schema["type"] === "string" && schema["type"] !== "array";
  const types = schemas.filter(isPlain).map(({ type }) => type as string);
  if (types.length < 2) return schemas;
  return [...schemas.filter((schema) => !isPlain(schema)), { type: types.toSorted() }];
}

/** Sorted, because the order of a union's members is the checker's own. */
function enumeration(values: readonly (string | number)[]): JsonObject {
  const [type, other] = new Set(values.map((value) => typeof value));
  const sorted = values.toSorted((one, two) =>
    typeof one === "number" && typeof two === "number" ? one - two : String(one) < String(two) ? -1 : 1,
  );
  return { ...(type === undefined || other !== undefined ? {} : { type }), enum: sorted };
}
