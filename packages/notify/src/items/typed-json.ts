// Typed JSON: JSON as people type it into a message program, which turns quotes into typographic ones and blanks into
// no-break spaces. Pure.
// Invariants:
//   typed-json.1. JSON stays what it is: only a text that is none is read again.
//   typed-json.2. Characters inside strings stay. A typographic string ends at a quote before `,`, `:`, `}`, `]` or the end.
import type { Json } from "@holdpoint/base/json/json.ts";

const BLANKS = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/u;
const DOUBLE = /["\u201c-\u201f\u00ab\u00bb\u2033\uff02]/u;
const SINGLE = /['\u2018-\u201b\u2039\u203a]/u;
/** What follows a string. */
const AFTER = /^[\s\u00a0\u2000-\u200b\u202f\u2060\u3000\ufeff]*(?:[,:}\]]|$)/u;

/** @throws {SyntaxError} of the text as it was typed */
export function parseTypedJson(text: string): Json {
  try {
    return JSON.parse(text) as Json; // typed-json.1
  } catch (error) {
    try {
      return JSON.parse(straighten(text)) as Json;
    } catch {
      throw error;
    }
  }
}

function straighten(text: string): string {
  let straight = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    const end = DOUBLE.test(char) ? findEnd(text, at, DOUBLE) : SINGLE.test(char) ? findEnd(text, at, SINGLE) : -1;
    if (end < 0) straight += BLANKS.test(char) ? " " : char;
    else {
      straight += char === '"' ? text.slice(at, end + 1) : `"${escapeQuotes(text.slice(at + 1, end))}"`;
      at = end;
    }
  }
  return straight;
}

/** Index of the quote that ends the string which begins at `start`; -1 without one. */
function findEnd(text: string, start: number, quotes: RegExp): number {
  const isStraight = text[start] === '"';
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "\\") at++;
    else if (isStraight ? char === '"' : quotes.test(char) && AFTER.test(text.slice(at + 1, at + 100))) return at; // typed-json.2
  }
  return -1;
}

function escapeQuotes(content: string): string {
  return content.replaceAll(/\\.|"/gsu, (found) => (found === '"' ? '\\"' : found));
}
