// Conversation: messages from several attributes of a span, as one list.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { member, textMember } from "../attributes/indexed.ts";
import { isObject, jsonWithin } from "../attributes/plain-values.ts";
import { listMessages } from "./messages.ts";

/** Only an equal text is a repetition. */
export function prependSystem(messages: readonly Json[], system: Json): readonly Json[] {
  if (system === null || system === "" || (Array.isArray(system) && system.length === 0)) return messages;
  const first = writeSystem(system);
  const text = joinText(first);
  const isThere = messages.some((one) => member(one, "role") === "system" && joinText([one]) === text);
  return isThere ? messages : [...first, ...messages];
}

/** A text, blocks, {parts}, or messages. */
function writeSystem(system: Json): readonly Json[] {
  if (Array.isArray(system)) {
    const list = (system as readonly Json[]).map((one) => (isObject(jsonWithin(one)) ? jsonWithin(one) : one));
    const isConversation = list.some((one) => isObject(one) && one["role"] !== undefined);
    return listMessages(isConversation ? list : { role: "system", parts: list.flatMap(openParts) }, "system");
  }
  if (!isObject(system)) return listMessages({ role: "system", content: system });
  return listMessages(
    Array.isArray(system["parts"]) ? { ...system, role: "system" } : { role: "system", parts: [system] },
  );
}

function openParts(item: Json): readonly Json[] {
  const parts = member(item, "parts");
  return Array.isArray(parts) && Object.keys(item as JsonObject).length === 1 ? (parts as readonly Json[]) : [item];
}

/** The text of messages, regardless of its blocks. */
function joinText(messages: readonly Json[]): string {
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
