// Open message: a message without what is around it: an event of Logfire's, a choice, Gemini's candidate, LangChain's
// constructor.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { readAutoGen } from "./auto-gen.ts";
import { readLangChain } from "./lang-chain.ts";
import { withRest } from "./members.ts";
import { isMessage } from "./message-shapes.ts";
import { toRole } from "./roles.ts";
import { withoutEmpty } from "./tool-forms.ts";

/** Without what is around a message: an event of Logfire's, a choice, Gemini's candidate, LangChain's constructor. */
export function openMessage(item: JsonObject): JsonObject {
  const name = item["event.name"];
  if (typeof name === "string") return openEvent(item, name);
  if (item["role"] === undefined && (isObject(item["message"]) || isObject(item["content"])))
    return readLangChain(openReply(item) ?? item);
  if (typeof item["_role"] === "string") return openHaystack(item);
  if (typeof item["role"] === "string") {
    if (MESSAGE_TYPES.has(item["type"])) return withRest({}, item, TYPE);
    if (item["role"] === "thinking")
      return withRest({ role: "assistant", reasoning_content: item["content"] ?? "" }, item, SAID); // OpenLLMetry
    if (REPEATERS.some((name) => item[name] !== undefined)) return withoutRepeats(item);
    if (Array.isArray(item["toolInvocations"]) || Array.isArray(item["parts"])) return openUiMessage(item);
  }
  const { content } = item;
  return isObject(content) ? openContent(item, content) : readLangChain(readAutoGen(item));
}

/** OpenAI's Responses, Mistral's conversations. */
const MESSAGE_TYPES: ReadonlySet<Json | undefined> = new Set(["message", "message.input", "message.output"]);

/** A message of the AI SDK for user interfaces: version 4 has its text and its calls beside the parts too. */
function openUiMessage(item: JsonObject): JsonObject {
  const { content, parts: given, toolInvocations: calls = [], ...message } = item;
  const invocations = Array.isArray(calls) ? (calls as readonly Json[]) : [];
  const parts = Array.isArray(given) ? (given as readonly Json[]) : invocations.map(writeInvocation);
  const texts = parts.map((one) => textMember(one, "text") || textMember(one, "content"));
  const isSaid = typeof content === "string" && (texts.includes(content) || texts.join("") === content);
  const written = invocations.length === 0 ? "" : JSON.stringify(parts);
  const areCalled = invocations.every((one) => written.includes(JSON.stringify(one)));
  if (!isSaid && (item["toolInvocations"] === undefined || !areCalled)) return item;
  const kept = isSaid || content === undefined ? {} : { content };
  return { ...message, ...kept, parts, ...(areCalled ? {} : { toolInvocations: calls }) };
}

function writeInvocation(toolInvocation: Json): Json {
  return { type: "tool-invocation", toolInvocation };
}

/** {message, finish_reason} and {content, role} of AgentCore, {format: 2, parts, content} of Mastra's memory. */
function openContent(item: JsonObject, content: JsonObject): JsonObject {
  const { message, ...beside } = content;
  if (typeof message === "string") return withRest({ ...item, content: message }, beside, NONE);
  const { content: text, role, ...around } = content;
  if (typeof text === "string" && role === item["role"]) return withRest({ ...item, content: text }, around, NONE);
  const { parts, format, ...others } = content;
  if (!Array.isArray(parts) || typeof format !== "number") return readLangChain(readAutoGen(item));
  const said = JSON.stringify(parts);
  const more = Object.entries(others).filter(([, value]) => !said.includes(JSON.stringify(value)));
  return withRest({ ...item, content: parts }, Object.fromEntries(more), NONE);
}

const HAYSTACK: ReadonlySet<string> = new Set(["_role", "_content", "_name", "_meta"]);

/** Haystack before 2.9. */
function openHaystack(item: JsonObject): JsonObject {
  const { _role: role = "", _content: content = "", _name: name = null, _meta: meta = null } = item;
  return withRest({ role, content, name, meta }, item, HAYSTACK);
}

const REPEATERS = ["additional_kwargs", "provider_specific_fields", "raw", "reasoning_details"];

/**
 * Without the calls as the model's API wrote them, the texts of OpenRouter's details of a reasoning, what LiteLLM has
 * beside the message too, and the choice of the raw answer (smolagents).
 */
function withoutRepeats(item: JsonObject): JsonObject {
  const out: Record<string, Json> = { ...item };
  const { additional_kwargs: additional, reasoning_details: details, raw, tool_calls: calls } = item;
  const { provider_specific_fields: own } = item;
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  if (isObject(additional) && hasCalls && additional["tool_calls"] !== undefined)
    putRest(out, "additional_kwargs", without(additional, "tool_calls"));
  if (Array.isArray(details))
    putRest(
      out,
      "reasoning_details",
      (details as readonly Json[]).filter((one) => !isRepeated(one, item)),
    );
  if (isObject(own)) putRest(out, "provider_specific_fields", withoutOwn(own, item));
  if (isObject(raw) && isSaid(raw["choices"], item)) putRest(out, "raw", without(raw, "choices"));
  return out;
}

function withoutOwn(fields: JsonObject, item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => JSON.stringify(item[name]) !== JSON.stringify(value)),
  );
}

function without(value: JsonObject, name: string): JsonObject {
  return withRest({}, value, new Set([name]));
}

function putRest(out: Record<string, Json>, name: string, rest: Json): void {
  if (Object.keys(rest as JsonObject).length > 0) out[name] = rest;
  else delete out[name];
}

/** One choice, with the text of the message, and calls only if the message has some. */
export function isSaid(choices: Json | undefined, { content, tool_calls: calls }: JsonObject): boolean {
  const choice = Array.isArray(choices) && choices.length === 1 ? (choices as readonly Json[])[0] : null;
  const said = isObject(choice) ? choice["message"] : null;
  const texts = Array.isArray(content) ? content.filter((one) => textMember(one, "type") === "text") : [];
  const text = texts.length === 1 ? textMember(texts[0], "text") : content;
  if (!isObject(said) || said["content"] !== text) return false;
  return !Array.isArray(said["tool_calls"]) || (Array.isArray(calls) && calls.length === said["tool_calls"].length);
}

function isRepeated(detail: Json, { reasoning, reasoning_content: content }: JsonObject): boolean {
  if (!isObject(detail)) return false;
  const said = detail["text"] ?? detail["summary"];
  return said !== undefined && said !== null && said !== "" && (said === reasoning || said === content);
}

const TYPE: ReadonlySet<string> = new Set(["type"]);
const SAID: ReadonlySet<string> = new Set(["role", "content"]);

function openEvent(item: JsonObject, name: string): JsonObject {
  const implied = /^gen_ai\.(\w+)\.message$/.exec(name)?.[1];
  const { "event.name": _name, "gen_ai.message.index": _index, "gen_ai.system": _system, ...members } = item;
  if (isObject(members["message"])) return openReply(members) ?? members;
  if (name === "gen_ai.unknown" && isObject(members["data"]))
    return { role: toRole(textMember(members, "role")) || "assistant", parts: [members["data"]] };
  return { ...(implied === undefined ? {} : { role: implied }), ...members };
}

/** A choice of a model's API → its message, with what is beside it. */
export function openReply(reply: Json): JsonObject | null {
  if (!isObject(reply)) return null;
  const { message = reply["delta"], index, text, ...whole } = reply;
  const beside = GENERATION.test(textMember(whole, "type")) ? withRest({}, whole, TYPE) : whole;
  const place = index === undefined || typeof index === "number" ? {} : { index }; // the order tells
  const inner = jsonWithin(message);
  if (isObject(inner) && (isMessage(inner) || inner["content"] !== undefined)) {
    const isRepeated = text === undefined || text === "" || text === (inner["content"] ?? textWithin(inner));
    const { delta: _delta, message: _message, ...more } = beside;
    const rest = { ...withoutEmpty(more), ...place, ...(isRepeated ? {} : { text }) };
    const hasRole =
      inner["role"] !== undefined || inner["kwargs"] !== undefined || toRole(textMember(inner, "type")) !== "";
    return withRest(hasRole ? inner : { role: "assistant", ...inner }, rest, NONE);
  }
  const { content } = reply;
  if (isObject(content) && Array.isArray(content["parts"]))
    return withRest({ role: "assistant", ...content }, { ...withoutEmpty(beside), ...place }, CANDIDATE);
  if (typeof text !== "string" || message !== undefined) return null;
  return withRest({ role: "assistant", content: text }, { ...withoutEmpty(beside), ...place }, NONE);
}

/** LangChain's name of a choice. */
const GENERATION = /^(?:Chat)?Generation(?:Chunk)?$/;
const CANDIDATE: ReadonlySet<string> = new Set(["content"]);

function textWithin(message: JsonObject): Json | undefined {
  const { kwargs } = message;
  return isObject(kwargs) ? kwargs["content"] : undefined;
}

const NONE: ReadonlySet<string> = new Set();
