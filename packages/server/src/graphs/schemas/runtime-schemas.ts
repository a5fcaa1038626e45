// Runtime schemas: a graph's declared state, input, output and context → JSON Schema.
// Zod (3 and 4) and StateSchema declare all of it. At run time Annotation has only the channel names, the message
// channels, and the kind of a default; the rest is `{}`, which allows everything.
// Invariants:
//   runtime-schemas.1. A field without a JSON Schema is `{}`: one field never costs a graph its schemas.
//   runtime-schemas.2. A field's references stay inside the field, wherever it goes.
import * as z from "zod";
import type { GraphSchemas } from "../../ports/ports.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Channel, CompiledGraph } from "../langgraph/compiled-graph.ts";
import type { Library } from "../langgraph/library.ts";
import { MESSAGE_LIST, MESSAGE_REFERENCE } from "./message-definitions.ts";

/** LangGraph's mark for "the state's fields, all optional". */
const PARTIAL_STATE = Symbol.for("langgraph.state.partial");

/** Dialect of zod 4, as its own converter has it. */
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

type Purpose = "input" | "output";

export function buildSchemas(graph: CompiledGraph, library: Library): GraphSchemas {
  const { builder } = graph;
  if (builder === undefined) return { input: {}, output: {}, state: {}, context: null }; // the functional API
  const state = builder._schemaRuntimeDefinition;
  const input = builder._inputRuntimeDefinition;
  const read = (definition: unknown, names: object | undefined, purpose: Purpose): JsonObject => ({
    ...(library.types.isZodSchemaV4(definition) || isStateSchema(definition) ? { $schema: DRAFT_2020 } : {}),
    ...objectSchema(listSchemaFields({ definition, names: Object.keys(names ?? {}), graph, library }, purpose)),
  });
  return {
    state: read(state, builder._schemaDefinition, "output"),
    input: read(input === PARTIAL_STATE ? state : input, builder._inputDefinition, "input"),
    output: read(builder._outputRuntimeDefinition, builder._outputDefinition, "output"),
    context: builder._configRuntimeSchema === undefined ? null : read(builder._configRuntimeSchema, {}, "output"),
  };
}

interface Field {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

interface DeclaredState {
  readonly definition: unknown;
  /** Its channels, including those absent from its definition. */
  readonly names: readonly string[];
  readonly graph: CompiledGraph;
  readonly library: Library;
}

function listSchemaFields({ definition, names, graph, library }: DeclaredState, purpose: Purpose): readonly Field[] {
  const declared = library.types.isInteropZodObject(definition)
    ? zodFields(definition, library, purpose)
    : isStateSchema(definition)
      ? stateSchemaFields(definition, purpose)
      : [];
  const known = new Set(declared.map(({ name }) => name));
  const others = names.filter((name) => !known.has(name));
  return [
    ...declared.map((field) => ({ ...field, schema: withMessages(field.schema) })),
    ...others.map((name) => ({ name, schema: channelSchema(graph.channels[name], library), required: false })),
  ];
}

function objectSchema(fields: readonly Field[]): JsonObject {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map(({ name, schema }) => [
        name,
        moved(schema, `/properties/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`),
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** runtime-schemas.2. */
function moved(schema: JsonObject, path: string): JsonObject {
  const move = (part: Json): Json => {
    if (Array.isArray(part)) return part.map((item: Json) => move(item));
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, value]) => [
        key,
        key === "$ref" && typeof value === "string" && value.startsWith("#") && value !== MESSAGE_REFERENCE
          ? `#${path}${value.slice(1)}`
          : move(value),
      ]),
    );
  };
  const { $schema: _schema, ...rest } = schema;
  return move(rest) as JsonObject;
}

type ZodObject = Parameters<Library["types"]["getInteropZodObjectShape"]>[0];

function zodFields(definition: ZodObject, library: Library, purpose: Purpose): readonly Field[] {
  const { schemaMetaRegistry } = library.zod;
  return Object.entries(library.types.getInteropZodObjectShape(definition)).map(([name, field]) => {
    const meta = schemaMetaRegistry.get(field);
    const written = purpose === "input" ? (meta?.reducer?.schema ?? field) : field;
    const schema = { ...convert(written, library), ...(meta?.jsonSchemaExtra as JsonObject | undefined) };
    return { name, schema, required: purpose === "output" && !takesNothing(field, library) };
  });
}

/** Zod 4 describes its own structure, from any copy; LangGraph's converter loops on recursive types. */
function convert(schema: unknown, library: Library): JsonObject {
  try {
    const converted = library.types.isZodSchemaV4(schema)
      ? z.toJSONSchema(schema as unknown as z.ZodType, { unrepresentable: "any", io: "input" })
      : library.jsonSchema.toJsonSchema(schema as ZodObject);
    return JSON.parse(JSON.stringify(converted)) as JsonObject;
  } catch {
    return {}; // runtime-schemas.1
  }
}

function takesNothing(field: ZodObject, library: Library): boolean {
  try {
    return library.types.interopSafeParse(field, undefined).success;
  } catch {
    return true;
  }
}

interface StateSchemaLike {
  getJsonSchema(): JsonObject;
  getInputJsonSchema(): JsonObject;
}

function isStateSchema(definition: unknown): definition is StateSchemaLike {
  return (
    typeof definition === "object" &&
    definition !== null &&
    "getJsonSchema" in definition &&
    typeof definition.getJsonSchema === "function" &&
    "getInputJsonSchema" in definition &&
    typeof definition.getInputJsonSchema === "function"
  );
}

function stateSchemaFields(definition: StateSchemaLike, purpose: Purpose): readonly Field[] {
  try {
    const schema = purpose === "input" ? definition.getInputJsonSchema() : definition.getJsonSchema();
    const plain = JSON.parse(JSON.stringify(schema)) as JsonObject;
    const required = new Set(Array.isArray(plain["required"]) ? (plain["required"] as readonly Json[]) : []);
    return Object.entries(isJsonObject(plain["properties"]) ? plain["properties"] : {}).map(([name, field]) => ({
      name,
      schema: isJsonObject(field) ? field : {},
      required: required.has(name),
    }));
  } catch {
    return []; // runtime-schemas.1: the channels' names remain
  }
}

const MESSAGE_REDUCERS = ["messagesStateReducer", "messagesDeltaReducer"] as const;

function channelSchema(channel: Channel | undefined, library: Library): JsonObject {
  const reducer = channel?.operator ?? channel?.reducer;
  if (MESSAGE_REDUCERS.some((name) => reducer === library.langgraph[name])) return MESSAGE_LIST;
  const initial = reducer === undefined ? undefined : channel?.value; // only these have their default here
  if (Array.isArray(initial)) return { type: "array" };
  if (typeof initial === "string" || typeof initial === "number" || typeof initial === "boolean")
    return { type: typeof initial, default: initial };
  return {};
}

/** A field marked as messages without a schema gets that of messages. */
function withMessages(schema: JsonObject): JsonObject {
  const silent = schema["type"] === undefined && schema["anyOf"] === undefined;
  return schema["langgraph_type"] === "messages" && silent ? { ...MESSAGE_LIST, ...schema } : schema;
}
