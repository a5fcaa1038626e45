// Type schemas: TypeScript types → JSON Schema, as far as both can express the same.
// Invariants:
//   type-schemas.1. A type without a JSON Schema allows everything: functions, classes, dates, maps, infinite types.
//   type-schemas.2. A schema is never stricter than its type: it omits the part of a type that it cannot express, not
//        the value.
import type { JsonObject } from "../../base/json/json.ts";
import { MESSAGE_LIST } from "./message-definitions.ts";
import type { Type, TypeProgram, TypeSymbol } from "./type-checker.ts";

/** Schemas of a graph from its types. Null where the types are silent. */
export interface TypeSchemas {
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly state: JsonObject | null;
  readonly context: JsonObject | null;
  /** By node name; absent where the file adds no graph as a node. */
  readonly subgraphs?: Readonly<Record<string, TypeSchemas>>;
}

const DEPTH_MAX = 10;
const TYPES_MAX = 5000;
const LITERALS_MAX = 200;
const CALL = 0;

/** Types that contain a graph: a function's result, a promise's value, the result of compile, an agent's member. */
const UNWRAPS_MAX = 5;

export function graphTypeSchemas(program: TypeProgram, exported: Type): TypeSchemas | null {
  const graph = graphOf(program, exported);
  if (graph === null) return null;
  const member = (name: string): JsonObject | null => {
    const type = propertyType(program, graph, name);
    return type === null ? null : told(schemaOf(program, awaited(program, type)));
  };
  const context = contextType(program, graph);
  return {
    input: member("~InputType"),
    output: member("~OutputType"),
    state: member("~RunOutput"),
    context: context === null ? null : told(schemaOf(program, context)),
  };
}

function graphOf(program: TypeProgram, exported: Type): Type | null {
  const { checker } = program;
  let type: Type = exported;
  for (let step = 0; step < UNWRAPS_MAX; step++) {
    if (propertyType(program, type, "~OutputType") !== null) return type;
    const inner = propertyType(program, type, "graph");
    const compile = propertyType(program, type, "compile");
    const [signature] = checker.getSignaturesOfType(compile ?? type, CALL);
    const made = signature === undefined ? undefined : checker.getReturnTypeOfSignature(signature);
    const next = awaited(program, type);
    if (next !== type) type = next;
    else if (inner !== null) type = inner;
    else if (made !== undefined) type = made;
    else return null;
  }
  return null;
}

function contextType(program: TypeProgram, graph: Type): Type | null {
  const invoke = propertyType(program, graph, "invoke");
  const [signature] = invoke === null ? [] : program.checker.getSignaturesOfType(invoke, CALL);
  const options = signature === undefined ? undefined : program.parameterType(signature, 1);
  const given = options === undefined ? undefined : program.checker.getNonNullableType(options);
  const context = given === undefined ? null : propertyType(program, given, "context");
  return context === null ? null : (program.checker.getNonNullableType(context) ?? null);
}

function propertyType({ checker }: TypeProgram, type: Type, name: string): Type | null {
  const symbol = checker.getPropertyOfType(type, name);
  return (symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol)) ?? null;
}

function awaited({ checker }: TypeProgram, type: Type): Type {
  return type.getSymbol()?.name === "Promise" ? (checker.getTypeArguments(type)[0] ?? type) : type;
}

/** A schema that only says "an object" says nothing about a graph. */
function told(schema: JsonObject): JsonObject | null {
  const empty =
    schema["type"] === "object" && Object.keys((schema["properties"] as JsonObject | undefined) ?? {}).length === 0;
  return empty || Object.keys(schema).length === 0 ? null : schema;
}

function schemaOf(program: TypeProgram, root: Type): JsonObject {
  const { checker, typeFlags, symbolFlags } = program;
  const above: Type[] = [];
  let count = 0;
  const is = (type: Type, ...names: readonly string[]): boolean =>
    names.some((name) => (type.flags & (typeFlags[name] ?? 0)) !== 0);

  const walk = (type: Type): JsonObject => {
    if (above.length > DEPTH_MAX || ++count > TYPES_MAX || above.includes(type)) return {}; // type-schemas.1
    above.push(type);
    try {
      return describe(type);
    } finally {
      above.pop();
    }
  };

  const describe = (type: Type): JsonObject => {
    if (is(type, "StringLiteral", "NumberLiteral") && !is(type, "Union")) return literal(type.value as string | number);
    if (is(type, "BooleanLiteral")) return literal(checker.typeToString(type) === "true");
    if (is(type, "Union")) return union(program.members(type));
    if (is(type, "String", "TemplateLiteral", "StringMapping")) return { type: "string" };
    if (is(type, "Number", "Enum")) return { type: "number" };
    if (is(type, "Boolean")) return { type: "boolean" };
    if (is(type, "Null")) return { type: "null" };
    if (is(type, "NonPrimitive")) return { type: "object" };
    if (is(type, "Intersection")) return intersection(type);
    if (is(type, "Object")) return object(type);
    return {}; // type-schemas.1: any, unknown, bigint, symbol, never, types that depend on a parameter
  };

  const union = (members: readonly Type[]): JsonObject => {
    const written = members.filter(
      (type) => !is(type, "Undefined", "Void") && type.getSymbol()?.name !== "OverwriteValue",
    );
    const schemas = written.map(walk);
    // type-schemas.2: one member allows everything
    if (schemas.some((schema) => Object.keys(schema).length === 0)) return {};
    const literals = schemas.flatMap((schema) => ("const" in schema ? [schema["const"] ?? null] : []));
    const others = schemas.filter((schema) => !("const" in schema));
    if (literals.length > LITERALS_MAX) return {};
    const all = [...others, ...literalSchemas(literals)];
    const different = withTypesTogether([...new Map(all.map((schema) => [JSON.stringify(schema), schema])).values()]);
    return different.length === 1 ? (different[0] ?? {}) : { anyOf: different };
  };

  /** `string & {brand}` has the JSON form of a string. */
  const intersection = (type: Type): JsonObject => {
    const plain = program.members(type).find((member) => is(member, "String", "Number", "Boolean"));
    return plain === undefined ? object(type) : walk(plain);
  };

  /** As draft 7 has it; with optional or rest elements a list of any of them. */
  const tuple = (type: Type): JsonObject => {
    const members = checker.getTypeArguments(type);
    const length = program.tupleLength(type);
    if (length !== members.length) return { type: "array", items: union(members) };
    return { type: "array", items: members.map(walk), minItems: length, maxItems: length };
  };

  const object = (type: Type): JsonObject => {
    if (checker.isArrayType(type)) return array(checker.getTypeArguments(type)[0]);
    if (checker.isTupleType(type)) return tuple(type);
    const symbol = type.getSymbol();
    if (symbol !== undefined && isOpaque(symbol)) return {};
    if (checker.getSignaturesOfType(type, CALL).length > 0) return {};
    const properties: Record<string, JsonObject> = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type)) {
      const propertyType = checker.getTypeOfSymbol(property);
      if (propertyType === undefined || property.name.startsWith("__@")) continue; // a symbol's name is not for JSON
      const comment = program.comment(property).trim();
      properties[property.name] = { ...walk(propertyType), ...(comment === "" ? {} : { description: comment }) };
      if ((property.flags & (symbolFlags["Optional"] ?? 0)) === 0 && !mayBeUndefined(propertyType))
        required.push(property.name);
    }
    const [info] = checker.getIndexInfosOfType(type);
    const index = info?.valueType ?? info?.type;
    if (index === undefined && Object.keys(properties).length === 0) return {};
    return {
      type: "object",
      properties,
      ...(required.length === 0 ? {} : { required }),
      ...(index === undefined ? {} : { additionalProperties: walk(index) }),
    };
  };

  const mayBeUndefined = (type: Type): boolean =>
    is(type, "Any", "Unknown", "Undefined") || (is(type, "Union") && program.members(type).some(mayBeUndefined));

  const array = (item: Type | undefined): JsonObject => {
    if (item?.getSymbol()?.name === "BaseMessage") return MESSAGE_LIST;
    const items = item === undefined ? {} : walk(item);
    return { type: "array", ...(Object.keys(items).length === 0 ? {} : { items }) };
  };

  const isOpaque = ({ name, flags }: TypeSymbol): boolean =>
    (flags & (symbolFlags["Class"] ?? 0)) !== 0 || OPAQUE.has(name);

  return walk(root);
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
