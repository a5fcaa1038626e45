// Payload text: a one-line summary of an interrupt. Pure, and runs in browsers.
// Invariants:
//   payload-text.1. A line has at most TITLE_UNITS_MAX units, is well-formed, and needs only part of a long payload.
import { isJsonObject, type Json } from "../base/json/json.ts";

const TITLE_UNITS_MAX = 200;

/** Members that usually hold the question in words, best first. */
const TITLE_KEYS = ["question", "title", "message", "prompt", "description", "text", "task", "action"] as const;

/** Title of an interrupt without an action. */
export function titleOf(value: Json): string {
  if (typeof value === "string") return short(firstLine(value));
  for (const key of TITLE_KEYS) {
    const text = textOf(memberOf(value, key));
    if (text !== null) return short(firstLine(text));
  }
  return short(glance(value));
}

/** `("refund", "A customer asks.\n…")` → `refund: A customer asks.` */
export function actionTitle(name: string | null, description: string | null): string {
  const parts = [name, description].filter((text) => text !== null).map(firstLine);
  return short(parts.join(": ") || "an action");
}

/** A member of a known dialect, or null. */
export function memberOf(value: Json, key: string): Json {
  return isJsonObject(value) ? (value[key] ?? null) : null;
}

/** Non-empty text, or null. */
export function textOf(value: Json | undefined): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function short(text: string): string {
  return text.length <= TITLE_UNITS_MAX ? text : `${text.slice(0, TITLE_UNITS_MAX - 1).toWellFormed()}…`; // payload-text.1
}

/** JSON text of a value, truncated at the limit (payload-text.1). */
function glance(value: Json): string {
  if (typeof value === "string") return short(JSON.stringify(short(value)));
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return short(`[${(value as readonly Json[]).slice(0, 5).map(glance).join(", ")}]`);
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (members.length === 5) break;
    members.push(`${short(key)}: ${typeof member === "object" && member !== null ? "…" : glance(member)}`);
  }
  return short(members.join(", "));
}

function firstLine(text: string): string {
  return (
    text
      .slice(0, 10 * TITLE_UNITS_MAX)
      .trim()
      .split(/[\r\n]/, 1)[0] ?? ""
  );
}
