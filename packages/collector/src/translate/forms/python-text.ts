// Python text: lists and dicts as Python prints them, in which some senders write messages, blocks and calls (LiteLLM).
// Invariants:
//   - A text is read only as a whole, and only when it holds dicts, lists, texts, numbers, True, False and None.
//   - The value is that of the same JSON, with its limits.
import type { Json } from "@holdpoint/base/json/json.ts";
import { jsonWithin } from "../attributes/plain-values.ts";

/** The value in a text: JSON, or what Python prints; other values as they are. */
export function contentWithin(value: Json | undefined): Json {
  const json = jsonWithin(value);
  return typeof json === "string" ? (readPython(json) ?? json) : json;
}

/** Longer text stays text. */
const CHARS_MAX = 512 * 1024;
/** No JSON begins so. */
const START = /^\s*(?:\[\s*'|(?:\[\s*)?\{\s*')/;
const TOKEN =
  /\s+|[[\]{},:]|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|True|False|None|(?:'[^'\\\n]*(?:\\.[^'\\\n]*)*'|"[^"\\\n]*(?:\\.[^"\\\n]*)*")/gy;
const WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
]);

/** null: the text is something else. */
export function readPython(text: string): Json {
  if (text.length > CHARS_MAX || !START.test(text)) return null;
  let json = "";
  let length = 0;
  for (const token of text.match(TOKEN) ?? []) {
    json +=
      token.startsWith("'") || token.startsWith('"') ? toJsonText(token.slice(1, -1)) : (WORDS.get(token) ?? token);
    length += token.length;
  }
  const value = length === text.length ? jsonWithin(json) : null;
  return typeof value === "string" ? null : value;
}

const ESCAPE = /\\(?:x[\da-f]{2}|u[\da-f]{4}|U00[\da-f]{6}|.)/g;
const PLAIN: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\", "'": "'", '"': '"' };

/** Python prints these escapes only; with another one the result is no JSON. */
function toJsonText(printed: string): string {
  let isKnown = true;
  const text = printed.replace(ESCAPE, (escape) => {
    const point = escape.length > 2 ? Number.parseInt(escape.slice(2), 16) : Infinity;
    if (point <= 0x10ffff) return String.fromCodePoint(point);
    const plain = PLAIN[escape.slice(1)];
    isKnown &&= plain !== undefined;
    return plain ?? "";
  });
  return isKnown ? JSON.stringify(text) : "\\";
}
