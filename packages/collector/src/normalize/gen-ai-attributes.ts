// GenAI attributes: the facts of a translated run → attributes of OpenTelemetry's GenAI conventions, in groups that are
// written or left together.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { AttributeValue } from "../otlp/span.ts";
import type { RunContent } from "../shared/trace-run.ts";
import { toMessage, toPrompt } from "./gen-ai-messages.ts";

/** `rest`: the conversation, the agent, the response. */
export const GROUPS = ["inputs", "outputs", "usage", "model", "params", "type", "rest"] as const;
export type Group = (typeof GROUPS)[number];

export interface Written {
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** The attributes say all of the group: its sources may go. */
  readonly isWhole: boolean;
}

/** A translated run, with its texts parsed. */
export interface ParsedRun {
  readonly content: RunContent;
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
  readonly metadata: JsonObject;
  readonly params: JsonObject;
}

export function parseRun(content: RunContent): ParsedRun {
  const extra = parse(content.extra);
  const { usage_metadata: _usage, ...outputs } = parse(content.outputs);
  const part = (name: string): JsonObject => (isJsonObject(extra[name]) ? extra[name] : {});
  return {
    content,
    inputs: parse(content.inputs),
    outputs,
    metadata: part("metadata"),
    params: part("invocation_params"),
  };
}

function parse(text: string): JsonObject {
  return text === "" ? {} : (JSON.parse(text) as JsonObject);
}

/** What the sender wrote of these stays the better answer. */
export interface Given {
  /** `gen_ai.operation.name`. */
  readonly operation: string;
  /** Values of the attributes that told the type of the run. */
  readonly kinds: readonly string[];
}

export function writeGroup(group: Group, run: ParsedRun, given: Given): Written {
  switch (group) {
    case "inputs":
      return writeInputs(run);
    case "outputs":
      return writeOutputs(run);
    case "usage":
      return writeUsage(run.metadata);
    case "model":
      return writeModel(run);
    case "params":
      return writeParameters(run.params);
    case "type":
      return writeType(run, given);
    case "rest":
      return writeRest(run);
    default:
      return group satisfies never;
  }
}

const NOTHING: Written = { attributes: {}, isWhole: false };
const ALL: Written = { attributes: {}, isWhole: true };

function only(value: JsonObject, name: string): Json | undefined {
  return Object.keys(value).length === 1 ? value[name] : undefined;
}

function messagesOnly(value: JsonObject): readonly Json[] | null {
  const messages = only(value, "messages");
  return Array.isArray(messages) ? (messages as readonly Json[]) : null;
}

function asText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function whole(attributes: Written["attributes"]): Written {
  return { attributes, isWhole: true };
}

function writeInputs({ content, inputs }: ParsedRun): Written {
  if (Object.keys(inputs).length === 0) return ALL;
  if (content.runType === "tool")
    return whole({ "gen_ai.tool.call.arguments": asText(only(inputs, "input") ?? inputs) });
  const query = only(inputs, "query");
  if (content.runType === "retriever" && typeof query === "string")
    return whole({ "gen_ai.retrieval.query.text": query });
  const messages = messagesOnly(inputs);
  if (messages === null) return NOTHING;
  const prompt = toPrompt(messages);
  return whole({
    ...(prompt.instructions === null ? {} : { "gen_ai.system_instructions": JSON.stringify(prompt.instructions) }),
    ...(prompt.messages.length === 0 ? {} : { "gen_ai.input.messages": JSON.stringify(prompt.messages) }),
  });
}

function writeOutputs({ content, outputs }: ParsedRun): Written {
  if (Object.keys(outputs).length === 0) return ALL;
  if (content.runType === "tool")
    return whole({ "gen_ai.tool.call.result": asText(only(outputs, "output") ?? outputs) });
  const documents = only(outputs, "documents");
  if (content.runType === "retriever" && Array.isArray(documents))
    return whole({ "gen_ai.retrieval.documents": JSON.stringify((documents as readonly Json[]).map(toDocument)) });
  const messages = messagesOnly(outputs);
  return messages === null ? NOTHING : whole({ "gen_ai.output.messages": JSON.stringify(messages.map(toMessage)) });
}

function toDocument(document: Json): Json {
  if (!isJsonObject(document) || !isJsonObject(document["metadata"])) return document;
  const { id, score, ...metadata } = document["metadata"];
  return {
    ...(id === undefined ? {} : { id }),
    ...(score === undefined ? {} : { score }),
    content: document["page_content"] ?? "",
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

const DETAILS: Readonly<Record<string, readonly string[]>> = {
  input_token_details: ["cache_read", "cache_creation", "audio", "image", "video", "text"],
  output_token_details: ["reasoning", "audio", "image", "video", "text"],
};

function writeUsage(metadata: JsonObject): Written {
  const usage = metadata["usage_metadata"] ?? metadata["aggregate_usage"];
  if (!isJsonObject(usage)) return ALL;
  const attributes: Record<string, AttributeValue> = {};
  let isWhole = true;
  for (const [name, value] of Object.entries(usage)) {
    const parts = DETAILS[name];
    const side = name.startsWith("input") ? "input" : "output";
    if (name === "input_tokens" || name === "output_tokens") put(attributes, `gen_ai.usage.${name}`, value);
    else if (parts !== undefined && isJsonObject(value))
      for (const [part, count] of Object.entries(value)) {
        if (parts.includes(part)) put(attributes, `gen_ai.usage.${part}.${side}_tokens`, count);
        else isWhole = false;
      }
    else if (name !== "total_tokens") isWhole = false;
  }
  return { attributes, isWhole };
}

function put(attributes: Record<string, AttributeValue>, name: string, value: Json | undefined): void {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") attributes[name] = value;
  else if (Array.isArray(value)) attributes[name] = (value as readonly Json[]).map(asText);
}

/** Providers in the words of the conventions, by those of the backend. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["azure", "azure.ai.openai"],
  ["google_vertexai", "gcp.vertex_ai"],
  ["google_genai", "gcp.gemini"],
  ["amazon_bedrock", "aws.bedrock"],
  ["mistralai", "mistral_ai"],
  ["xai", "x_ai"],
]);

/** A model that only an answer names is none of the request. */
function writeModel({ content, metadata }: ParsedRun): Written {
  const { ls_model_name: model, ls_provider: provider } = metadata;
  const attributes: Record<string, AttributeValue> = {};
  if (typeof provider === "string") attributes["gen_ai.provider.name"] = PROVIDERS.get(provider) ?? provider;
  const { requestModel } = content.call;
  if (requestModel !== "") attributes["gen_ai.request.model"] = requestModel;
  if (requestModel !== model && !requestModel.endsWith(`/${asText(model ?? "")}`))
    put(attributes, "gen_ai.response.model", model);
  return whole(attributes);
}

const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ...["temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty", "seed", "stream"].map(
    (name): [string, string] => [name, `gen_ai.request.${name}`],
  ),
  ["stop", "gen_ai.request.stop_sequences"],
  ["n", "gen_ai.request.choice.count"],
  ["output_type", "gen_ai.output.type"],
  ["tool_name", "gen_ai.tool.name"],
  ["tool_call_id", "gen_ai.tool.call.id"],
  ["tool_description", "gen_ai.tool.description"],
  ["tool_type", "gen_ai.tool.type"],
]);

function writeParameters(params: JsonObject): Written {
  const attributes: Record<string, AttributeValue> = {};
  let isWhole = true;
  for (const [name, value] of Object.entries(params)) {
    const key = PARAMETERS.get(name);
    if (name === "tools") attributes["gen_ai.tool.definitions"] = JSON.stringify(value);
    else if (key !== undefined && !isJsonObject(value)) put(attributes, key, value);
    else if (name !== "model") isWhole = false;
  }
  return { attributes, isWhole };
}

const OPERATIONS: Readonly<Record<string, string>> = {
  embedding: "embeddings",
  tool: "execute_tool",
  retriever: "retrieval",
};

function writeType({ content, metadata }: ParsedRun, { kinds, operation }: Given): Written {
  const name = operation || (OPERATIONS[content.runType] ?? "");
  if (name !== "") return whole({ "gen_ai.operation.name": name });
  if (content.runType === "llm")
    return whole({ "gen_ai.operation.name": metadata["ls_model_type"] === "llm" ? "text_completion" : "chat" });
  if (content.runType !== "chain") return NOTHING;
  if (kinds.some((kind) => /agent/i.test(kind))) return whole({ "gen_ai.operation.name": "invoke_agent" });
  const isWorkflow = kinds.some((kind) => /workflow|chain|flow/i.test(kind));
  return isWorkflow ? whole({ "gen_ai.operation.name": "invoke_workflow" }) : NOTHING;
}

const REST: readonly (readonly [member: string, attribute: string])[] = [
  ["conversation_id", "gen_ai.conversation.id"],
  ["session_id", "gen_ai.conversation.id"],
  ["thread_id", "gen_ai.conversation.id"],
  ["agent_name", "gen_ai.agent.name"],
  ["response_id", "gen_ai.response.id"],
  ["finish_reasons", "gen_ai.response.finish_reasons"],
];

function writeRest({ metadata, outputs }: ParsedRun): Written {
  const attributes: Record<string, AttributeValue> = {};
  const reasons = (messagesOnly(outputs) ?? []).flatMap((one) =>
    isJsonObject(one) && typeof one["finish_reason"] === "string" ? [one["finish_reason"]] : [],
  );
  if (reasons.length > 0) attributes["gen_ai.response.finish_reasons"] = reasons;
  for (const [name, key] of REST) put(attributes, key, metadata[name]);
  return { attributes, isWhole: false };
}
