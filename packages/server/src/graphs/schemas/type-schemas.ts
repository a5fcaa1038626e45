// Type schemas: the schemas of a graph from its TypeScript types (json-schema-of-type.ts).
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { schemaOfType } from "./json-schema-of-type.ts";
import type { Type, TypeProgram } from "./type-checker.ts";

/** Schemas of a graph from its types. Null where the types are silent. */
export interface TypeSchemas {
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly state: JsonObject | null;
  readonly context: JsonObject | null;
  /** By node name; absent where the file adds no graph as a node. */
  readonly subgraphs?: Readonly<Record<string, TypeSchemas>>;
}

const CALL = 0;

/** Types that contain a graph: a function's result, a promise's value, the result of compile, an agent's member. */
const UNWRAPS_MAX = 5;

export function graphTypeSchemas(program: TypeProgram, exported: Type): TypeSchemas | null {
  const graph = findGraphType(program, exported);
  if (graph === null) return null;
  const member = (name: string): JsonObject | null => {
    const type = propertyType(program, graph, name);
    return type === null ? null : unlessEmpty(schemaOfType(program, awaited(program, type)));
  };
  const context = contextType(program, graph);
  return {
    input: member("~InputType"),
    output: member("~OutputType"),
    state: member("~RunOutput"),
    context: context === null ? null : unlessEmpty(dropRequired(schemaOfType(program, context))),
  };
}

function findGraphType(program: TypeProgram, exported: Type): Type | null {
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

/** No member is required: an assistant may have some, and a run adds the others. The library accepts more members. */
function dropRequired(schema: JsonObject): JsonObject {
  const { required: _all, additionalProperties: _more, ...rest } = schema;
  return rest;
}

/** A schema that only says "an object" says nothing about a graph. */
function unlessEmpty(schema: JsonObject): JsonObject | null {
  const empty =
    schema["type"] === "object" && Object.keys((schema["properties"] as JsonObject | undefined) ?? {}).length === 0;
  return empty || Object.keys(schema).length === 0 ? null : schema;
}
