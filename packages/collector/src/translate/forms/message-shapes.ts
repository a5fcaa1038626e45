// Message shapes: what is a message, and what only a part of one.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell } from "../attributes/spellings.ts";
import { isObject } from "../attributes/plain-values.ts";
import { type Part, readPart } from "./block-forms.ts";
import { readAutoGen } from "./auto-gen.ts";
import { readLangChain } from "./lang-chain.ts";

/** True for a list of messages, blocks that can only belong to one, and items of other kinds between them. */
export function looksLikeMessages(value: Json | undefined): value is readonly JsonObject[] {
  if (!Array.isArray(value)) return false;
  const list = value as readonly Json[];
  return list.some(isMessage) && list.every((one) => isMessage(one) || isItem(one));
}

const ITEM: Part = { kind: "block", form: "item", value: null };

/** Typed, and neither a message nor a block: an item of OpenAI's Responses that no form knows. */
function isItem(item: Json): boolean {
  return isObject(item) && typeof item["type"] === "string" && OF_MESSAGES.every((name) => item[name] === undefined);
}

const OF_MESSAGES = [
  "role",
  "content",
  "contents",
  "parts",
  "text",
  "message",
  "data",
  "kwargs",
  "toolExecutionRequests",
];
const CONTENT = ["content", "parts", "blocks", "text", ...spell("tool_calls", "function_call", "contents")];

export function isMessage(item: Json): boolean {
  if (!isObject(item)) return false;
  if (typeof item["role"] === "string") return CONTENT.some((name) => item[name] !== undefined);
  if (Array.isArray(item["parts"]) || typeof item["event.name"] === "string") return true;
  if (typeof item["_role"] === "string") return item["_content"] !== undefined;
  if (readLangChain(item) !== item || readAutoGen(item) !== item) return true;
  const { message } = item;
  if (isObject(message)) return isMessage(message);
  return typeof item["type"] === "string" && (readBare(item) ?? ITEM).form !== ITEM.form;
}

/** A block that is no message's part; null for everything else. */
export function readBare(item: Json): Part | null {
  if (!isObject(item) || item["role"] !== undefined || Array.isArray(item["parts"])) return null;
  if (item["event.name"] !== undefined || item["message"] !== undefined) return null;
  const part = readPart(item);
  if (part.form !== "") return part;
  return isItem(item) ? { ...ITEM, value: item } : null;
}
