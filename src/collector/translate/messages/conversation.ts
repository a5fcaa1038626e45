// Conversation: messages from several attributes of a span, as one list.
import type { Json, JsonObject } from "../../../base/json/json.ts";
import { conversation, found, wrapped, type Found } from "./content.ts";
import type { Facts } from "../attributes/span-facts.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { sources, type Sources } from "../attributes/known-keys.ts";
import { merged } from "./merge-messages.ts";
import { messagesOf } from "./messages.ts";
import { isObject, jsonOf } from "../attributes/plain-values.ts";

/** ADK writes "{}" and "N/A" where it has nothing to say. */
export function notApplicable(facts: Facts, from: Sources): Found | null {
  const value = jsonOf(facts.value(from));
  if (value === "N/A" || (isObject(value) && Object.keys(value).length === 0)) return null;
  return wrapped({ value, source: null }, "input");
}

export function withSystem(messages: Json, system: Json): Found | null {
  const list = messages === null || messages === "" ? [] : messagesOf(messages);
  if (system === null || system === "" || (Array.isArray(system) && system.length === 0)) return conversation(list);
  const first = messagesOf(
    Array.isArray(system) ? { role: "system", parts: system } : { role: "system", content: system },
  );
  const text = textOf(first);
  const isThere = list.some((one) => member(one, "role") === "system" && textOf([one]) === text);
  return conversation(isThere ? list : [...first, ...list]); // only equal text is a duplicate
}

/** The text of messages, regardless of its blocks. */
function textOf(messages: readonly Json[]): string {
  const texts = messages.flatMap((message) => {
    const content = member(message, "content");
    if (!Array.isArray(content)) return [typeof content === "string" ? content : JSON.stringify(content ?? "")];
    return (content as readonly Json[]).map((block) => textMember(block, "text") || JSON.stringify(block));
  });
  return texts.join("\n").trim();
}

export interface ToolPart {
  readonly part: JsonObject;
  /** The messages hold nothing else. */
  readonly isAlone: boolean;
}

/** The first part of this type, with this member, in a list of messages: a tool's own call or result. */
export function toolPart(messages: Json, type: string, name: string): ToolPart | null {
  if (!Array.isArray(messages)) return null;
  for (const message of messages as readonly Json[]) {
    const parts = member(message, "parts");
    if (!Array.isArray(parts) || !isObject(message)) continue;
    const part = (parts as readonly Json[]).find(
      (one) => member(one, "type") === type && member(one, name) !== undefined,
    );
    if (!isObject(part)) continue;
    const isBare = Object.entries(message).every(
      ([key, value]) => key === "parts" || (key === "role" && value === "tool"),
    );
    return { part, isAlone: messages.length === 1 && parts.length === 1 && isBare };
  }
  return null;
}

/** Adds the details that the request or response in another attribute has (merge-messages.1). */
export function mergedWith(
  facts: Facts,
  body: Sources | undefined,
  messages: readonly Json[],
  role: "user" | "assistant",
): Found | null {
  if (body === undefined || !facts.has(body)) return conversation(messages);
  const mark = facts.mark();
  const richer = merged(messages, jsonOf(facts.value(body)), role);
  if (richer === null) facts.release(mark);
  if (richer === null) return conversation(messages);
  return found({
    ...(role === "user" ? withoutParameters(facts, richer.rest) : richer.rest),
    messages: richer.messages,
  });
}

const PARAMETERS = sources("llm.invocation_parameters");
const MODEL_NAME = sources("llm.model_name");

/** A request without the settings that the invocation parameters have anyway. */
function withoutParameters(facts: Facts, request: JsonObject): JsonObject {
  if (Object.keys(request).length === 0) return request;
  const mark = facts.mark();
  const settings = jsonOf(facts.value(PARAMETERS));
  facts.release(mark);
  const tools = facts.familySize("tools") > 0;
  return Object.fromEntries(
    Object.entries(request).filter(([name, value]) => {
      if (name === "tools") return !tools;
      if (name === "model" && value === facts.peek(MODEL_NAME)) return false;
      return JSON.stringify(member(settings, name)) !== JSON.stringify(value);
    }),
  );
}
