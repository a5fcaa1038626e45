// Framework outputs: responses in the form of one framework or SDK.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { conversation, listWithin, found, wrapped, type Found } from "../messages/content.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { textMember } from "../attributes/indexed.ts";
import { sources, union } from "../attributes/known-keys.ts";
import { take, withRest } from "../messages/members.ts";
import { callOf } from "../messages/message-parts.ts";
import { messagesOf } from "../messages/messages.ts";
import { isObject, jsonOf, jsonWithin } from "../attributes/plain-values.ts";

export const GENKIT_OUTPUT = sources("genkit:output");
export const LK_CALLS = sources("lk.pii.response.function_calls", "lk.response.function_calls");
const LK_TEXT = sources("lk.pii.response.text", "lk.response.text");
/** Mastra's answers of an agent, a model call and its steps. */
export const MASTRA_ANSWER = sources(
  "mastra.model_generation.output",
  "mastra.model_step.output",
  "mastra.model_inference.output",
  "mastra.agent_run.output",
);
const SENTRY_TEXT = sources("gen_ai.response.text");
const SENTRY_CALLS = sources("gen_ai.response.tool_calls");
const SENTRY_OBJECT = sources("gen_ai.response.object");
export const SENTRY_ANSWER = union(SENTRY_TEXT, SENTRY_CALLS, SENTRY_OBJECT);
export const AI_TEXT = sources("ai.response.text", "ai.result.text");
export const AI_CALLS = sources("ai.response.toolCalls", "ai.result.toolCalls");
export const AI_OBJECT = sources("ai.response.object", "ai.result.object");
export const AI_REASONING = sources("ai.response.reasoning", "ai.result.reasoning");
export const AI_FILES = sources("ai.response.files");
export const ADK_RESPONSE = sources("gcp.vertex.agent.llm_response");

/** Genkit's response: {message: {role: "model", content: parts}, finishReason, usage, …}. */
export function genkitResponse(response: Json): Found | null {
  if (!isObject(response) || !isObject(response["message"])) return null;
  return found(withRest({ messages: messagesOf(response["message"], "assistant") }, response, MESSAGE));
}

/** Sentry: text, also as a list of JSON, calls, and a generated object. */
export function sentryAnswer(facts: Facts): Found | null {
  const given = jsonOf(facts.value(SENTRY_TEXT));
  const texts = Array.isArray(given) ? (given as readonly Json[]) : given === null ? [] : [given];
  const calls = listWithin(facts, SENTRY_CALLS).map(callOf);
  const object = facts.value(SENTRY_OBJECT);
  if (texts.length === 0 && calls.length === 0)
    return object === undefined ? null : wrapped({ value: jsonOf(object), source: null }, "output");
  const messages = texts.length === 0 ? [{ role: "assistant", content: "" }] : messagesOf(texts, "assistant");
  const last = messages.at(-1) ?? null;
  const withCalls = (one: JsonObject): JsonObject => withRest({ ...one, tool_calls: calls }, one, NONE);
  return found({
    messages: calls.length === 0 || !isObject(last) ? messages : [...messages.slice(0, -1), withCalls(last)],
    ...(object === undefined ? {} : { object: jsonOf(object) }),
  });
}

/** {text, toolCalls: [{toolCallId, toolName, args}], …}: the text alone stays as it is. */
export function mastraAnswer(answer: Json): Found | null {
  if (!isObject(answer) || typeof answer["text"] !== "string" || !Array.isArray(answer["toolCalls"])) return null;
  const { text, toolCalls } = answer;
  const calls = (toolCalls as readonly Json[]).map(callOf);
  const message = { role: "assistant", content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return found(withRest({ messages: [message] }, answer, MASTRA_MESSAGE));
}

export function livekitAnswer(facts: Facts): Found | null {
  const calls = listWithin(facts, LK_CALLS).map((call) => callOf(jsonWithin(call)));
  if (calls.length === 0) return null;
  return conversation([{ role: "assistant", content: facts.text(LK_TEXT), tool_calls: calls }]);
}

/** Text, reasoning, files and calls are one message; a generated object is a separate member. */
export function vercelAnswer(facts: Facts): Found | null {
  const object = facts.value(AI_OBJECT);
  const calls = listWithin(facts, AI_CALLS).map(callOf);
  const text = facts.text(AI_TEXT);
  const blocks: Json[] = [];
  const reasoning = facts.value(AI_REASONING);
  if (reasoning !== undefined) blocks.push({ type: "reasoning", reasoning: jsonOf(reasoning) });
  for (const file of listWithin(facts, AI_FILES)) blocks.push(fileBlock(file));
  if (text === "" && calls.length === 0 && blocks.length === 0)
    return object === undefined ? null : wrapped({ value: jsonOf(object), source: null }, "output");
  const content = blocks.length === 0 ? text : [...blocks, ...(text === "" ? [] : [{ type: "text", text }])];
  const message = { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  return found({ messages: [message], ...(object === undefined ? {} : { object: jsonOf(object) }) });
}

/** {type: "file", mediaType, data} → block. */
function fileBlock(file: Json): Json {
  const mime = textMember(file, "mediaType") || textMember(file, "mimeType");
  const data = textMember(file, "data") || textMember(file, "base64");
  if (!isObject(file) || mime === "" || data === "") return file;
  if (!mime.startsWith("image/")) return { ...file, type: "file" };
  const url = /^(?:https?|data):/.test(data) ? data : `data:${mime};base64,${data}`;
  const used = new Set(["type"]);
  take(file, used, ["mediaType", "mimeType"], mime);
  take(file, used, ["data", "base64"], data);
  const image = { type: "image_url", image_url: { url }, ...(url === data ? { mime_type: mime } : {}) };
  return withRest(image, file, used);
}

export function adkResponse(response: Json): Found | null {
  if (!isObject(response) || Object.keys(response).length === 0) return null;
  const { content, usage_metadata: usage } = response;
  if (content === undefined) return found(response);
  // The name is the backend's own for tokens (token-usage.ts), which are not all that Gemini counts.
  const answer = { messages: messagesOf(content, "assistant"), ...(usage === undefined ? {} : { usage }) };
  return found(withRest(answer, response, ADK_MEMBERS));
}

const NONE: ReadonlySet<string> = new Set();
const MESSAGE: ReadonlySet<string> = new Set(["message"]);
const MASTRA_MESSAGE: ReadonlySet<string> = new Set(["text", "toolCalls"]);
const ADK_MEMBERS: ReadonlySet<string> = new Set(["content", "usage_metadata"]);
