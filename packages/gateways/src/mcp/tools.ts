// Tools: the assistants that the caller may see, as MCP tools, and the tool that answers a paused run.
// Invariants:
//   tools.1. A tool's name comes from one assistant alone: new assistants never rename a tool. Where the name is not
//        the graph's own, letter by letter, it ends with a hash, so that no two are alike.
import type { Tool } from "@modelcontextprotocol/server";
import type { Assistant } from "@holdpoint/api/schemas.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { ApiRefusal, type OwnApi } from "../calls/own-api.ts";
import { APPROVE, ASK_HUMAN } from "./ask-tools.ts";
import { ANY_TYPE, convertSchema } from "./tool-schema.ts";

/** The assistant behind a tool. */
export interface Agent {
  readonly assistantId: string;
  readonly config: Json;
}

export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly next: number | null;
}

export const RESUME_TOOL = "resume";
/** A graph of such a name gets a tool with another one. */
const OWN_TOOLS: ReadonlySet<string> = new Set([RESUME_TOOL, ASK_HUMAN.name, APPROVE.name]);
const PAGE = 50;
const PAGES_MAX = 200;
const NAME_UNITS_MAX = 64;
const HASH_UNITS = 12;

type Named = Pick<Assistant, "assistant_id" | "graph_id" | "name" | "metadata">;

/** @param offset position in the list of assistants */
export async function toolPage(api: OwnApi, offset: number): Promise<ToolPage> {
  const assistants = await assistantPage(api, offset);
  const tools = await Promise.all(assistants.map((assistant) => toTool(api, assistant)));
  return { tools: tools.filter((tool) => tool !== null), next: nextOffset(assistants, offset) };
}

/** Null for a name that is not on the caller's list. Reads no schemas, which take long the first time. */
export async function findAgent(api: OwnApi, name: string): Promise<Agent | null> {
  let offset: number | null = 0;
  for (let page = 0; offset !== null && page < PAGES_MAX; page++) {
    const assistants: readonly Assistant[] = await assistantPage(api, offset);
    const found = assistants.find((assistant) => nameTool(assistant) === name);
    if (found !== undefined) return { assistantId: found.assistant_id, config: found.config };
    offset = nextOffset(assistants, offset);
  }
  return null;
}

async function assistantPage(api: OwnApi, offset: number): Promise<readonly Assistant[]> {
  const body = { limit: PAGE, offset, sort_by: "created_at", sort_order: "asc" };
  return (await api.call("POST", "/assistants/search", { body })) as unknown as readonly Assistant[];
}

function nextOffset(assistants: readonly Assistant[], offset: number): number | null {
  return assistants.length < PAGE ? null : offset + PAGE;
}

/** Null for an assistant whose input is neither messages nor an object. */
async function toTool(api: OwnApi, assistant: Assistant): Promise<Tool | null> {
  const schemas = await readSchemas(api, assistant.assistant_id);
  const inputSchema = toInputSchema(schemas["input_schema"] ?? null);
  if (inputSchema === null) return null;
  const { description } = assistant;
  return {
    name: nameTool(assistant),
    title: assistant.name,
    description: `${description ?? `Runs the agent "${assistant.name}".`} The run may pause for the decision of a person.`,
    inputSchema,
    outputSchema: toOutputSchema(schemas["output_schema"] ?? null),
    annotations: { title: assistant.name, readOnlyHint: false, openWorldHint: true },
  };
}

/** tools.1: a built-in assistant has the name of its graph; any other its own name, and a hash of its id. */
export function nameTool({ assistant_id: id, graph_id: graph, name, metadata }: Named): string {
  const isBuiltIn = metadata["created_by"] === "system";
  const own = slug(isBuiltIn ? graph : name);
  if (isBuiltIn && own === graph && own.length <= NAME_UNITS_MAX && !OWN_TOOLS.has(own)) return own;
  const suffix = `_${contentHash(isBuiltIn ? graph : id).slice(0, HASH_UNITS)}`;
  return `${own.slice(0, NAME_UNITS_MAX - suffix.length)}${suffix}`;
}

function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, "_") || "agent";
}

async function readSchemas(api: OwnApi, assistantId: string): Promise<JsonObject> {
  try {
    const schemas = await api.call("GET", `/assistants/${assistantId}/schemas`);
    return isJsonObject(schemas) ? schemas : {};
  } catch (error) {
    if (error instanceof ApiRefusal) return {}; // a graph without readable types takes any object
    throw error;
  }
}

const MESSAGES: JsonObject = {
  type: "array",
  description: "The conversation, usually one message of the user.",
  items: {
    type: "object",
    properties: { role: { type: "string", enum: ["user", "assistant", "system"] }, content: { type: "string" } },
    required: ["role", "content"],
  },
  minItems: 1,
};

function toInputSchema(schema: Json): Tool["inputSchema"] | null {
  if (schema === null) return { type: "object" };
  if (!isJsonObject(schema)) return null;
  if (schema["type"] !== "object" && !isJsonObject(schema["properties"])) return null;
  const own = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const properties = "messages" in own ? { ...own, messages: MESSAGES } : own;
  return withoutUnused(convertSchema({ ...schema, type: "object", properties })) as Tool["inputSchema"];
}

/** Without definitions that nothing refers to: models pay for every line of a tool. */
function withoutUnused(schema: JsonObject): JsonObject {
  const { definitions, $defs, ...rest } = schema;
  const text = JSON.stringify(rest);
  return {
    ...rest,
    ...(definitions !== undefined && text.includes('"#/definitions/') ? { definitions } : {}),
    ...($defs !== undefined && text.includes('"#/$defs/') ? { $defs } : {}),
  };
}

/** The values of the graph inside the result of a call; other results leave them out. */
function toOutputSchema(schema: Json): NonNullable<Tool["outputSchema"]> {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const values = {
    type: ANY_TYPE,
    description: `Final values of the run${names.length === 0 ? "" : `: ${names.join(", ")}`}.`,
  };
  return {
    type: "object",
    properties: {
      status: { type: "string", enum: ["completed", "paused", "failed", "cancelled"] },
      thread_id: { type: "string" },
      run_id: { type: "string" },
      values,
      interrupts: { type: "array", items: { type: "object" } },
      values_omitted: { type: "boolean", description: "The values are too large: `link` has them." },
      error: { type: "string" },
      link: { type: "string" },
    },
    required: ["status"],
  };
}

export const RESUME: Tool = {
  name: RESUME_TOOL,
  title: "Answer a paused run",
  description:
    "Answers an interrupt of a paused run, and returns how the run continues. Interrupts that are for people only are refused: their link opens them.",
  inputSchema: {
    type: "object",
    properties: {
      thread_id: { type: "string", description: "From the result of the paused call." },
      interrupt_id: { type: "string", description: "Required if several interrupts are open." },
      answer: {
        type: [...ANY_TYPE],
        description: "The answer, in the form that the interrupt asks for. Leave it out at a breakpoint.",
      },
    },
    required: ["thread_id"],
  },
  outputSchema: toOutputSchema(null),
  annotations: { title: "Answer a paused run", readOnlyHint: false },
};
