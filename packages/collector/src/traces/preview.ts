// Preview: the beginning of a run's inputs or outputs as one line for lists. Pure.
// Invariant preview.1: of a conversation it shows the newest message; of anything else the values by name.
import { formatExcerpt } from "@holdpoint/api/text/payload-excerpt.ts";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";

const PREVIEW_UNITS_MAX = 160;

/** @param text JSON @returns null for nothing to show */
export function formatPreview(text: string): string | null {
  const value = JSON.parse(text) as Json;
  const line = formatExcerpt(newestMessage(value) ?? value, { actions: [] }).trim();
  if (line === "") return null;
  return line.length <= PREVIEW_UNITS_MAX ? line : `${line.slice(0, PREVIEW_UNITS_MAX - 1).toWellFormed()}…`;
}

/** preview.1. Some senders wrap the list of messages in a list of calls. */
function newestMessage(value: Json): Json | null {
  const given = isJsonObject(value) ? value["messages"] : null;
  const [first] = Array.isArray(given) ? (given as readonly Json[]) : [];
  const messages = Array.isArray(first) ? (first as readonly Json[]) : given;
  const newest = Array.isArray(messages) ? (messages as readonly Json[]).at(-1) : undefined;
  if (!isJsonObject(newest)) return null;
  const content = newest["content"] ?? (isJsonObject(newest["kwargs"]) ? newest["kwargs"]["content"] : undefined);
  const blocks = Array.isArray(content) ? (content as readonly Json[]) : [content ?? ""];
  const calls = Array.isArray(newest["tool_calls"]) ? (newest["tool_calls"] as readonly Json[]) : [];
  const texts = [...blocks.map(blockText), ...calls.map(callText)].filter((one) => one.trim() !== "");
  return texts.length === 0 ? null : texts.join(" ");
}

/** A message that only calls tools says which. */
function callText(call: Json): string {
  const inner = isJsonObject(call) ? call["function"] : null;
  if (!isJsonObject(inner)) return "";
  const { name, arguments: args } = inner;
  return [name, args].filter((one) => typeof one === "string").join(" ");
}

function blockText(block: Json): string {
  if (typeof block === "string") return block;
  const text = isJsonObject(block) ? (block["text"] ?? block["refusal"]) : null;
  return typeof text === "string" ? text : "";
}
