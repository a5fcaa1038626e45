// Model: provider, model and request parameters. Invariants:
//   model.1. The priced model is the one that answered; the requested one stays in the invocation parameters.
//   model.2. Only known provider names are normalised; the raw name stays in the metadata.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { itemsOf, member, textMember } from "../attributes/indexed.ts";
import { sources, type Sources, union } from "../attributes/known-keys.ts";
import { isObject, jsonOf, jsonWithin, plain } from "../attributes/plain-values.ts";
import type { SpanTalk } from "./span-events.ts";
import type { RunType } from "../../shared/trace-run.ts";

const SDK_PROVIDER = sources("langsmith.metadata.ls_provider");
const PROVIDER = sources("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider");

/** Instrumentations' names → the names that the backend's price table uses. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["az.ai.openai", "azure"],
  ["azure.ai.openai", "azure"],
  ["azure_openai", "azure"],
  ["azure-openai", "azure"],
  ["az.ai.inference", "azure"],
  ["azure.ai.inference", "azure"],
  ["gcp.vertex_ai", "google_vertexai"],
  ["gcp.vertex.agent", "google_vertexai"],
  ["vertex_ai", "google_vertexai"],
  ["vertexai", "google_vertexai"],
  ["google.vertex", "google_vertexai"],
  ["gcp.gemini", "google_genai"],
  ["gcp.gen_ai", "google_genai"],
  ["gemini", "google_genai"],
  ["google.generative-ai", "google_genai"],
  ["aws.bedrock", "amazon_bedrock"],
  ["aws_bedrock", "amazon_bedrock"],
  ["amazon-bedrock", "amazon_bedrock"],
  ["x_ai", "xai"],
  ["mistral_ai", "mistralai"],
  ["mistral", "mistralai"],
]);

const MODEL = sources(
  "langsmith.metadata.ls_model_name",
  "gen_ai.response.model",
  "ai.response.model",
  "llm.response.model_name",
  "gen_ai.request.model",
  "ai.model.id",
  "llm.model_name",
  "llm.request.model_name",
  "embedding.model_name",
  "reranker.model_name",
  "langfuse.observation.model.name",
  "model",
  "model_name",
);
const GENKIT_SUBTYPE = sources("genkit:metadata:subtype");
const GENKIT_NAME = sources("genkit:name");
const REQUEST_MODEL = sources(
  "gen_ai.request.model",
  "ai.model.id",
  "llm.request.model_name",
  "llm.model_name",
  "langfuse.observation.model.name",
  "gen_ai.response.model",
);
const MODEL_TYPE = sources("langsmith.metadata.ls_model_type");
const OPERATION = sources("gen_ai.operation.name");
const REQUEST_TYPE = sources("llm.request.type");

export interface Model {
  readonly provider: string;
  /** "" when `provider` is the raw name. */
  readonly rawProvider: string;
  readonly name: string;
  readonly type: string;
}

export function modelOf(facts: Facts, runType: RunType): Model {
  const declared = facts.text(SDK_PROVIDER);
  const raw = declared || facts.text(PROVIDER) || (facts.span.name === "claude_code.llm_request" ? "anthropic" : "");
  const provider = declared || providerOf(raw); // model.2: the backend's own SDK uses the backend's names
  const name = facts.text(MODEL) || (facts.peek(GENKIT_SUBTYPE).endsWith("model") ? facts.text(GENKIT_NAME) : "");
  const completes = facts.peek(OPERATION) === "text_completion" || facts.peek(REQUEST_TYPE) === "completion";
  const type = facts.text(MODEL_TYPE) || (runType === "llm" ? (completes ? "llm" : "chat") : "");
  return { provider, rawProvider: provider === raw ? "" : raw, name, type };
}

function providerOf(raw: string): string {
  if (raw === "") return "";
  const name = raw.toLowerCase();
  const known = PROVIDERS.get(name);
  if (known !== undefined) return known;
  // The AI SDK writes provider and interface: `openai.chat`, `google.generative-ai`, `amazon-bedrock.chat`.
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const outer = PROVIDERS.get(name.slice(0, dot));
    if (outer !== undefined) return outer;
  }
  return name.startsWith("gcp.") || name.startsWith("aws.") ? name : (name.split(".", 1)[0] ?? name);
}

/** attribute → parameter, where the name is not simply the last part. */
const RENAMED: ReadonlyMap<string, string> = new Map([["choice.count", "n"]]);
const NOT_PARAMETERS: ReadonlySet<string> = new Set(["model", "stop_sequences"]);

const STOP = sources("gen_ai.request.stop_sequences");
const SINGLE: readonly (readonly [string, Sources])[] = [
  ["frequency_penalty", sources("llm.frequency_penalty")],
  ["presence_penalty", sources("llm.presence_penalty")],
  ["top_k", sources("llm.top_k")],
  ["functions", sources("llm.request.functions")],
  ["tool_choice", sources("ai.prompt.toolChoice")],
  ["output_type", sources("gen_ai.output.type")],
  [
    "tool_name",
    sources(
      "gen_ai.tool.name",
      "tool.name",
      "ai.toolCall.name",
      "tool_name",
      "lk.function_tool.name",
      "spring.ai.tool.definition.name",
    ),
  ],
  [
    "tool_call_id",
    sources(
      "gen_ai.tool.call.id",
      "tool.id",
      "ai.toolCall.id",
      "tool_use_id",
      "lk.function_tool.id",
      "spring.ai.tool.call.id",
    ),
  ],
  ["tool_description", sources("gen_ai.tool.description", "tool.description", "spring.ai.tool.definition.description")],
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
);
const REQUEST_PARAMETERS = sources("model_request_parameters");

/** null without parameters. Later entries win, so the order of the steps is the precedence, lowest first. */
export function invocationParamsOf(facts: Facts, talk: SpanTalk): JsonObject | null {
  const params = createParameters();
  for (const { rest, value } of facts.familySize("settings") === 0 ? [] : facts.family("settings"))
    params.set(rest, plain(value));
  for (const [name, from] of facts.has(ANY_SINGLE) ? SINGLE : []) {
    const value = facts.value(from);
    if (value !== undefined) params.set(name, jsonOf(value));
  }
  for (const { rest, value } of facts.familySize("request") === 0 ? [] : facts.family("request")) {
    const name = RENAMED.get(rest) ?? rest;
    if (!NOT_PARAMETERS.has(name)) params.set(name, plain(value));
    else if (typeof value === "object") params.set(`request.${name}`, plain(value)); // no text, so no rule reads it
  }
  const stop = facts.value(STOP);
  if (stop !== undefined) {
    params.set("stop", jsonOf(stop));
    params.set("stop_sequences", jsonOf(stop));
  }
  const model = facts.text(REQUEST_MODEL);
  for (const from of facts.has(ANY_PARAMETER_OBJECT) ? PARAMETER_OBJECTS : []) {
    if (!facts.has(from)) continue;
    const mark = facts.mark();
    const value = jsonOf(facts.value(from));
    if (!isObject(value)) {
      facts.release(mark);
      continue;
    }
    for (const [name, item] of Object.entries(value)) if (name !== "function_tools") params.set(name, item);
  }
  if (model !== "" && (!params.has("model") || model !== facts.peek(MODEL))) params.setFirst("model", model);
  const tools = toolsOf(facts, talk);
  if (tools.length > 0) params.set("tools", tools);
  return params.result();
}

interface Parameters {
  /** A later value replaces an earlier one, which stays as `overridden.<name>`. */
  set(name: string, value: Json): void;
  has(name: string): boolean;
  /** Behind the value that is there. */
  setFirst(name: string, value: Json): void;
  result(): JsonObject | null;
}

function createParameters(): Parameters {
  const params = new Map<string, Json>();
  const set = (name: string, value: Json): void => {
    const before = params.get(name);
    if (before !== undefined && before !== value && JSON.stringify(before) !== JSON.stringify(value)) {
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
      const taken = params.has(name) && params.get(name) !== value;
      params.set(taken ? `overridden.${name}` : name, value);
    },
    result: () => (params.size === 0 ? null : objectOf(params)),
  };
}

/** Like `Object.fromEntries`, which is slower. */
function objectOf(members: ReadonlyMap<string, Json>): JsonObject {
  if (members.has("__proto__")) return Object.fromEntries(members); // plain-values.3
  const object: Record<string, Json> = {};
  for (const [name, value] of members) object[name] = value;
  return object;
}

function toolsOf(facts: Facts, talk: SpanTalk): readonly Json[] {
  if (facts.familySize("tools") > 0)
    return itemsOf(facts.family("tools")).map((item) => jsonWithin(member(item, "tool", "json_schema") ?? item));
  if (facts.familySize("functions") > 0) return itemsOf(facts.family("functions")).map(functionTool);
  const value = facts.value(TOOLS);
  const given = value === undefined ? talk.details.tools : jsonOf(value);
  if (given === null) {
    const mark = facts.mark();
    const own = member(jsonOf(facts.value(REQUEST_PARAMETERS)), "function_tools");
    if (Array.isArray(own)) return own as readonly Json[];
    facts.release(mark);
    return [];
  }
  return Array.isArray(given) ? (given as readonly Json[]).map(jsonWithin) : [given];
}

/** OpenLLMetry: llm.request.functions.N.{name,description,parameters (JSON text)}. */
function functionTool(item: Json): Json {
  if (!isObject(item) || textMember(item, "name") === "") return item;
  return {
    type: "function",
    function: { ...item, ...(item["parameters"] === undefined ? {} : { parameters: jsonWithin(item["parameters"]) }) },
  };
}
