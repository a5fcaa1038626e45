// Message definitions: the schema of a message, once in each schema with messages, under the names of the reference.
// Rules:
//   - Every value that LangGraph accepts as a message matches exactly one of them: by `type`, or else BaseMessageChunk.
//   - A schema without messages has no definitions; one that allows everything stays `{}`.
import type { GraphSchemas } from "../../ports/ports.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";

export const MESSAGE_REFERENCE = "#/definitions/BaseMessage";

const DRAFT_7 = "http://json-schema.org/draft-07/schema#";

export const MESSAGE_LIST: JsonObject = {
  type: "array",
  langgraph_type: "messages",
  items: { $ref: MESSAGE_REFERENCE },
};

const COMMON: JsonObject = {
  content: { anyOf: [{ type: "string" }, { type: "array", items: { type: "object" } }] },
  id: { type: "string" },
  name: { type: "string" },
};

const OWN: Readonly<Record<string, readonly [type: string, properties: JsonObject]>> = {
  AIMessage: ["ai", { tool_calls: { type: "array", items: { type: "object" } } }],
  ChatMessage: ["generic", { role: { type: "string" } }],
  FunctionMessage: ["function", {}],
  HumanMessage: ["human", {}],
  RemoveMessage: ["remove", {}],
  SystemMessage: ["system", {}],
  ToolMessage: ["tool", { tool_call_id: { type: "string" } }],
};

const TYPES = Object.values(OWN).map(([type]) => type);

const DEFINITIONS: JsonObject = {
  BaseMessage: {
    description: "Base class for all types of messages in a conversation.",
    oneOf: [...Object.keys(OWN), "BaseMessageChunk"].toSorted().map((name) => ({ $ref: `#/definitions/${name}` })),
  },
  BaseMessageChunk: {
    description: "A message in another form, such as one that names its role.",
    type: "object",
    properties: { role: { type: "string", description: "user, assistant, system, tool" }, ...COMMON },
    not: { required: ["type"], properties: { type: { enum: TYPES } } },
  },
  ...Object.fromEntries(
    Object.entries(OWN).map(([name, [type, properties]]) => [
      name,
      {
        type: "object",
        properties: { type: { type: "string", const: type }, ...COMMON, ...properties },
        required: ["type"],
      },
    ]),
  ),
};

export const MESSAGE_NAMES: readonly string[] = Object.keys(DEFINITIONS);

/** Schemas in the form for clients. */
export function servedSchemas({ input, output, state, context }: GraphSchemas): GraphSchemas {
  return {
    input: served(input),
    output: served(output),
    state: served(state),
    context: context === null ? null : served(context),
  };
}

/** A schema with its dialect and its referenced definitions. */
function served(schema: JsonObject): JsonObject {
  if (schema["properties"] === undefined) return schema;
  const hasMessages = JSON.stringify(schema).includes(`"$ref":"${MESSAGE_REFERENCE}"`);
  const own = isJsonObject(schema["definitions"]) ? schema["definitions"] : {};
  return { $schema: DRAFT_7, ...schema, ...(hasMessages ? { definitions: { ...own, ...DEFINITIONS } } : {}) };
}
