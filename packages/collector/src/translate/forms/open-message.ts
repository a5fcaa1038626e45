// Open message: a message without what is around it: an event of Logfire's, a choice, Gemini's candidate, LangChain's
// constructor.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { readLangChain } from "./lang-chain.ts";
import { withRest } from "./members.ts";
import { isMessage } from "./message-shapes.ts";
import { withoutEmpty } from "./tool-forms.ts";

/** Without what is around a message: an event of Logfire's, a choice, Gemini's candidate, LangChain's constructor. */
export function openMessage(item: JsonObject): JsonObject {
  const name = item["event.name"];
  if (typeof name === "string") return openEvent(item, name);
  if (item["role"] === undefined && (isObject(item["message"]) || isObject(item["content"])))
    return readLangChain(openReply(item) ?? item);
  if (item["type"] === "message" && typeof item["role"] === "string") return withRest({}, item, TYPE);
  const { content } = item;
  if (isObject(content) && typeof content["message"] === "string") {
    const { message, ...beside } = content; // {message, finish_reason}, of AgentCore
    return withRest({ ...item, content: message }, beside, NONE);
  }
  return readLangChain(item);
}

const TYPE: ReadonlySet<string> = new Set(["type"]);

function openEvent(item: JsonObject, name: string): JsonObject {
  const implied = /^gen_ai\.(\w+)\.message$/.exec(name)?.[1];
  const { "event.name": _name, "gen_ai.message.index": _index, "gen_ai.system": _system, ...members } = item;
  if (isObject(members["message"])) return openReply(members) ?? members;
  return { ...(implied === undefined ? {} : { role: implied }), ...members };
}

/** A choice of a model's API → its message, with what is beside it. */
export function openReply(reply: Json): JsonObject | null {
  if (!isObject(reply)) return null;
  const { message = reply["delta"], index, text, ...beside } = reply;
  const place = index === undefined || typeof index === "number" ? {} : { index }; // the order tells
  const inner = jsonWithin(message);
  if (isObject(inner) && (isMessage(inner) || inner["content"] !== undefined)) {
    const isRepeated = text === undefined || text === "" || text === (inner["content"] ?? textWithin(inner));
    const { delta: _delta, message: _message, ...more } = beside;
    const rest = { ...withoutEmpty(more), ...place, ...(isRepeated ? {} : { text }) };
    const given =
      inner["role"] === undefined && inner["kwargs"] === undefined ? { role: "assistant", ...inner } : inner;
    return withRest(given, rest, NONE);
  }
  const { content } = reply;
  if (isObject(content) && Array.isArray(content["parts"]))
    return withRest({ role: "assistant", ...content }, { ...withoutEmpty(beside), ...place }, CANDIDATE);
  if (typeof text !== "string" || message !== undefined) return null;
  return withRest({ role: "assistant", content: text }, { ...withoutEmpty(beside), ...place }, NONE);
}

const CANDIDATE: ReadonlySet<string> = new Set(["content"]);

function textWithin(message: JsonObject): Json | undefined {
  const { kwargs } = message;
  return isObject(kwargs) ? kwargs["content"] : undefined;
}

const NONE: ReadonlySet<string> = new Set();
