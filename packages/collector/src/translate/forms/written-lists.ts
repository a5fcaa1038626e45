// Written lists: conversations of which the items are no messages yet: pairs of a role and a text, chunks of a stream.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { isObject } from "../attributes/plain-values.ts";
import { joinNeighbours } from "./messages.ts";

/** Roles in LangChain's pairs. */
const ROLES: ReadonlySet<Json | undefined> = new Set(["system", "human", "user", "ai", "assistant", "developer"]);

/** [["human", "Hi"], …] → messages; null for any other list. */
export function readPairs(list: readonly Json[]): readonly Json[] | null {
  if (!list.every(isPair)) return null;
  return (list as readonly (readonly Json[])[]).map(([role, content]) => ({
    role: role ?? "",
    content: content ?? "",
  }));
}

function isPair(item: Json): boolean {
  return Array.isArray(item) && item.length === 2 && ROLES.has(item[0]) && typeof item[1] === "string";
}

/** Pieces of one answer: texts that follow each other are one text. */
export function joinChunks(messages: readonly Json[]): readonly Json[] {
  const texts = messages.map((one) => (isObject(one) && one["tool_calls"] === undefined ? one["content"] : null));
  if (messages.length < 2 || !texts.every((one) => typeof one === "string")) return joinNeighbours(messages);
  const whole: JsonObject = Object.assign({}, ...messages) as JsonObject;
  return [{ ...whole, content: texts.join("") }];
}
