// Invocation parameters: the settings and tools of a model call.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { joinItems, member, textMember } from "../attributes/indexed.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { isObject, toJson, jsonWithin, plain } from "../attributes/plain-values.ts";
import { isWithin } from "../attributes/said.ts";
import { spell } from "../attributes/spellings.ts";
import { SYSTEM } from "../forms/envelopes.ts";
import type { SpanEventContent } from "../messages/span-events.ts";
import { unwrapped } from "../forms/members.ts";
import { MODEL, REQUEST_MODEL } from "./model.ts";
import { TOOL } from "./run-name.ts";

interface Parameters {
  /** A later value replaces an earlier one, which stays as `overridden.<name>`. */
  set(name: string, value: Json): void;
  has(name: string): boolean;
  /** Behind the value that is there. */
  setFirst(name: string, value: Json): void;
  result(): JsonObject | null;
}

/** attribute → parameter, where the name is not simply the last part. */
const RENAMED: ReadonlyMap<string, string> = new Map([["choice.count", "n"]]);
const NOT_PARAMETERS: ReadonlySet<string> = new Set(["model", "stop_sequences"]);
/** Members of the family that are content when a rule takes them as such. */
const CONTENT: ReadonlyMap<string, number> = new Map(
  ["messages", "available_tools"].map((name) => [name, sources(`gen_ai.request.${name}`).slots[0] ?? -1]),
);

const STOP = sources("gen_ai.request.stop_sequences");
const STOP_NAMES: ReadonlySet<string> = new Set(spell("stop_sequences"));
const SINGLE: readonly (readonly [string, Sources])[] = [
  ["frequency_penalty", sources("llm.frequency_penalty")],
  ["presence_penalty", sources("llm.presence_penalty")],
  ["top_k", sources("llm.top_k")],
  ["functions", sources("llm.request.functions")],
  ["tool_choice", sources("ai.prompt.toolChoice")],
  ["output_type", sources("gen_ai.output.type")],
  ["tool_name", TOOL],
  [
    "tool_call_id",
    sources(
      "gen_ai.tool.call.id",
      "gen_ai.tool.call_id",
      "tool.id",
      "ai.toolCall.id",
      "tool_use_id",
      "lk.function_tool.id",
      "spring.ai.tool.call.id",
    ),
  ],
  [
    "tool_description",
    sources(
      "gen_ai.tool.description",
      "tool.description",
      "spring.ai.tool.definition.description",
      "haystack.tool.description",
    ),
  ],
  ["tool_type", sources("gen_ai.tool.type")],
  ["tool_schema", sources("spring.ai.tool.definition.schema")],
];
const PARAMETER_OBJECT_NAMES = [
  "llm.invocation_parameters",
  "embedding.invocation_parameters",
  "langfuse.observation.model.parameters",
  "model_config",
  "model_request_parameters",
];
const ANY_PARAMETER_OBJECT = sources(...PARAMETER_OBJECT_NAMES);
const PARAMETER_OBJECTS = PARAMETER_OBJECT_NAMES.map((name) => sources(name));
const ANY_SINGLE = union(...SINGLE.map(([, from]) => from));
const TOOLS = sources(
  "gen_ai.tool.definitions",
  "ai.prompt.tools",
  "tools",
  "gen_ai.agent.tools",
  "lk.function_tools",
  "haystack.agent.tools",
  "gen_ai.request.available_tools",
  "mlflow.chat.tools",
);
const REQUEST_PARAMETERS = sources("model_request_parameters");

/** @param said inputs and outputs of the run, which have the system prompt. null without parameters. Later entries win, so the order of the steps is the precedence, lowest first. */
export function readInvocationParams(facts: Facts, eventContent: SpanEventContent, said: string): JsonObject | null {
  const params = createParameters();
  const tools = readTools(facts, eventContent);
  const stop = facts.value(STOP);
  if (stop !== undefined) params.set("stop", toJson(stop));
  for (const { rest, value } of facts.familySize("settings") === 0 ? [] : facts.family("settings"))
    params.set(rest, plain(value));
  for (const [name, from] of facts.has(ANY_SINGLE) ? SINGLE : []) {
    const value = facts.value(from);
    if (value !== undefined) params.set(name, toJson(value));
  }
  for (const { rest, value } of facts.familySize("request") === 0 ? [] : facts.family("request")) {
    const name = RENAMED.get(rest) ?? rest;
    if (facts.slotFields(CONTENT.get(rest) ?? -1) !== 0) continue;
    if (!NOT_PARAMETERS.has(name)) params.set(name, plain(value));
    else if (typeof value === "object" && name !== "stop_sequences") params.set(`request.${name}`, plain(value)); // no text, so no rule reads it
  }
  const model = facts.text(REQUEST_MODEL);
  for (const from of facts.has(ANY_PARAMETER_OBJECT) ? PARAMETER_OBJECTS : []) {
    if (!facts.has(from)) continue;
    const mark = facts.mark();
    const value = toJson(facts.value(from));
    if (!isObject(value)) {
      facts.release(mark);
      continue;
    }
    for (const [name, item] of Object.entries(value))
      if (name !== "function_tools" && !(SYSTEM.includes(name) && isWithin(item, said))) params.set(name, item);
  }
  if (model !== "" && (!params.has("model") || model !== facts.peek(MODEL))) params.setFirst("model", model);
  if (tools.length > 0) params.set("tools", tools);
  return params.result();
}

function createParameters(): Parameters {
  const params = new Map<string, Json>();
  const set = (name: string, value: Json): void => {
    if (STOP_NAMES.has(name) && isSame(params.get("stop"), value)) return;
    const before = params.get(name);
    if (before !== undefined && !isSame(before, value)) {
      let spare = `overridden.${name}`;
      while (params.has(spare)) spare = `overridden.${spare}`;
      params.set(spare, before);
    }
    params.set(name, value);
  };
  return {
    set,
    has: (name) => params.has(name),
    setFirst(name, value) {
      const isUsed = params.has(name) && params.get(name) !== value;
      params.set(isUsed ? `overridden.${name}` : name, value);
    },
    result: () => (params.size === 0 ? null : toObject(params)),
  };
}

function isSame(one: Json | undefined, other: Json): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Like `Object.fromEntries`, which is slower. */
function toObject(members: ReadonlyMap<string, Json>): JsonObject {
  if (members.has("__proto__")) return Object.fromEntries(members);
  const object: Record<string, Json> = {};
  for (const [name, value] of members) object[name] = value;
  return object;
}

function readTools(facts: Facts, eventContent: SpanEventContent): readonly Json[] {
  if (facts.familySize("tools") > 0) return joinItems(facts.family("tools")).map(unwrapSchema);
  if (facts.familySize("functions") > 0) return joinItems(facts.family("functions")).map(functionTool);
  const value = facts.value(TOOLS);
  const given = value === undefined ? eventContent.details.tools : toJson(value);
  if (given === null) {
    const mark = facts.mark();
    const own = member(toJson(facts.value(REQUEST_PARAMETERS)), "function_tools");
    if (Array.isArray(own)) return own as readonly Json[];
    facts.release(mark);
    return [];
  }
  return Array.isArray(given) ? (given as readonly Json[]).map(jsonWithin) : [given];
}

/** OpenInference: llm.tools.N.tool.json_schema (JSON text). */
function unwrapSchema(item: Json): Json {
  return unwrapped(item, "tool", (tool) => unwrapped(tool, "json_schema", jsonWithin));
}

/** OpenLLMetry: llm.request.functions.N.{name,description,parameters (JSON text)}. */
function functionTool(item: Json): Json {
  if (!isObject(item) || textMember(item, "name") === "") return item;
  return {
    type: "function",
    function: { ...item, ...(item["parameters"] === undefined ? {} : { parameters: jsonWithin(item["parameters"]) }) },
  };
}
