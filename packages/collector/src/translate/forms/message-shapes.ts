// Message shapes: what is a message, and what only a part of one.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import { spell } from "../attributes/spellings.ts";
import { isObject } from "../attributes/plain-values.ts";
import { type Part, readPart } from "./block-forms.ts";
import { readLangChain } from "./lang-chain.ts";

/** True for a list in which every item is a message, or a block that can only belong to one. */
export function looksLikeMessages(value: Json | undefined): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && (value as readonly Json[]).every(isMessage);
}

const CONTENT = ["content", "parts", "text", ...spell("tool_calls", "function_call", "contents")];

export function isMessage(item: Json): boolean {
  if (!isObject(item)) return false;
  if (typeof item["role"] === "string") return CONTENT.some((name) => item[name] !== undefined);
  if (Array.isArray(item["parts"]) || typeof item["event.name"] === "string") return true;
  if (readLangChain(item) !== item) return true;
  const { message } = item;
  if (isObject(message)) return isMessage(message);
  return typeof item["type"] === "string" && readBare(item) !== null;
}

/** A block that is no message's part; null for everything else. */
export function readBare(item: Json): Part | null {
  if (!isObject(item) || item["role"] !== undefined || Array.isArray(item["parts"])) return null;
  if (item["event.name"] !== undefined || item["message"] !== undefined) return null;
  const part = readPart(item);
  return part.form === "" ? null : part;
}
