// Text encoding: any JavaScript string as text that PostgreSQL accepts, without NUL and lone surrogates.
// Invariants:
//   - A text reads back as written; different texts stay different.
//   - A text without special characters stays as it is.
//   - JSON for SQL conditions writes equal characters equally inside its strings.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

/** Starts an escape: `\u0001` and four hex digits. Hardly any text has it, JSON text never. */
const ESCAPE = "\u0001";
const ODD = /[\u0000\u0001]|\p{Surrogate}/gu;
const ESCAPED = /\u0001([0-9a-f]{4})/g;
/**
 * Escapes that JSON text uses for special characters. A backslash before one may change its meaning; then the extra
 * check does no harm.
 */
const ODD_IN_JSON = /\\u(?:000[01]|d[89a-f])/;

const escapeOne = (found: string): string => ESCAPE + found.charCodeAt(0).toString(16).padStart(4, "0");

export function toText(value: string): string {
  if (!value.includes("\u0000") && !value.includes(ESCAPE) && value.isWellFormed()) return value;
  return value.replace(ODD, escapeOne);
}

export function fromText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** JSON text for SQL conditions. */
export function toJsonText(json: string): string {
  return ODD_IN_JSON.test(json) ? JSON.stringify(mapTexts(JSON.parse(json) as Json, toText)) : json;
}

export function fromJsonText(json: string): string {
  return json.includes("\\u0001") ? JSON.stringify(mapTexts(JSON.parse(json) as Json, fromText)) : json;
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => mapTexts(item, change));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [change(key), mapTexts(item, change)]),
  );
}
