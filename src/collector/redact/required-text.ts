// Required text: the fixed beginning, or a fixed part, of a regular expression of RE2, as a requirement that the scan for
// candidates can check without an automaton.
// Invariant required-text.1: every match of the pattern contains the requirement. An expression that is not understood
// here requires nothing, so that every value is a candidate (candidates.1).
import type { Requirement } from "./candidates.ts";

const ANYTHING: Requirement = { kind: "anything" };
const REPEATS_MAX = 64;
const CHARACTERS_MAX = 128;

interface Atom {
  /** One character, as source of a class or a literal over ASCII. */
  readonly source: string;
  /** "" for a class. */
  readonly literal: string;
  /** Repeated exactly this often; 0 when the expression allows none, or another number. */
  readonly times: number;
  /** At least one, perhaps more: the atom counts once and ends a run. */
  readonly isOpen: boolean;
}

export function requirementOf(pattern: string): Requirement {
  const ignoreCase = pattern.startsWith("(?i)");
  const rest = ignoreCase ? pattern.slice(4) : pattern;
  const atoms = /\(\?[a-zA-Z-]*i/.test(rest) ? null : atomsOf(rest);
  if (atoms === null) return ANYTHING;
  const start = beginningOf(atoms, ignoreCase);
  if (start !== null) return { kind: "pattern", source: start };
  return ignoreCase ? ANYTHING : longestLiteral(atoms);
}

/** A break (null) stands for a part that is not understood. */
type Parts = readonly (Atom | null)[];

const METACHARACTERS = new Set("^$.|?*+()[]{}");
const ESCAPES: Readonly<Record<string, string>> = { d: "[0-9]", w: "[0-9A-Za-z_]" };
/** JSON may write these with an escape. */
const ESCAPED_IN_JSON = new Set('"\\/');

/** null: alternatives at the top, or unbalanced. */
function atomsOf(pattern: string): Parts | null {
  const parts: (Atom | null)[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at] ?? "";
    let source = "";
    let literal = "";
    let end = at + 1;
    if (char === "|" || char === ")") return null;
    if (char === "^" || char === "$" || char === "*" || char === "?" || char === "+" || char === "{") return null;
    if (char === "(") {
      end = groupEnd(pattern, at);
      if (end < 0) return null;
    } else if (char === "[") {
      const found = /^\[(?!\^)(?:[\w .,:;@#%&=+-]|\\[dw.\-+])+\]/.exec(pattern.slice(at))?.[0];
      end = found === undefined ? classEnd(pattern, at) : at + found.length;
      if (end < 0) return null;
      source = found ?? "";
    } else if (char === "\\") {
      const next = pattern[at + 1] ?? "";
      end = at + 2;
      if (next === "b") {
        at = end;
        continue; // a boundary has no characters
      }
      if (METACHARACTERS.has(next) || /[-@:%#&' ]/.test(next)) literal = next;
      else source = ESCAPES[next] ?? "";
      if (literal === "" && source === "" && !ESCAPED_IN_JSON.has(next) && next !== "s") return null;
    } else if (char !== "." && /[\x20-\x7e]/.test(char) && !ESCAPED_IN_JSON.has(char)) literal = char;
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(pattern.slice(end));
    parts.push(source === "" && literal === "" ? null : atomOf(source, literal, quantifier));
    at = end + (quantifier?.[0].length ?? 0);
  }
  return parts;
}

function atomOf(source: string, literal: string, quantifier: RegExpExecArray | null): Atom | null {
  if (quantifier === null) return { source, literal, times: 1, isOpen: false };
  const [text, least, comma] = quantifier;
  if (text.startsWith("+")) return { source, literal, times: 1, isOpen: true };
  const times = Number(least ?? 0);
  if (times < 1 || times > REPEATS_MAX) return null;
  return { source, literal, times, isOpen: comma === "," };
}

/** Positions after the group or class, -1 when it does not end. */
function groupEnd(pattern: string, from: number): number {
  let depth = 0;
  for (let at = from; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "[") at = classEnd(pattern, at) - 1;
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return at + 1;
    if (at < from) return -1;
  }
  return -1;
}

function classEnd(pattern: string, from: number): number {
  for (let at = pattern[from + 1] === "^" ? from + 3 : from + 2; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === "]") return at + 1;
  }
  return -1;
}

/** The atoms up to the first one that is not fixed. null: too short to tell a place from another. */
function beginningOf(parts: Parts, ignoreCase: boolean): string | null {
  let source = "";
  let weight = 0;
  let characters = 0;
  for (const part of parts) {
    if (part === null || characters + part.times > CHARACTERS_MAX) break;
    const { isOpen, literal, times } = part;
    characters += times;
    source += (literal === "" ? caseless(part.source, ignoreCase) : anyCase(literal, ignoreCase)) + `{${times}}`;
    weight += times * (literal === "" ? 1 : 2);
    if (isOpen) break;
  }
  return weight >= 3 ? source : null;
}

function anyCase(literal: string, ignoreCase: boolean): string {
  const escaped = `\\x${literal.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const other = literal === literal.toLowerCase() ? literal.toUpperCase() : literal.toLowerCase();
  return ignoreCase && other !== literal ? `[${literal}${other}]` : escaped;
}

function caseless(source: string, ignoreCase: boolean): string {
  return ignoreCase && /[A-Za-z]/.test(source) ? "[0-9A-Za-z_ .,:;@#%&=+/-]" : source;
}

function longestLiteral(parts: Parts): Requirement {
  let longest = "";
  let run = "";
  for (const part of parts) {
    if (part === null || part.literal === "") {
      run = "";
      continue;
    }
    run += part.literal.repeat(part.times);
    if (run.length > longest.length) longest = run;
    if (part.isOpen) run = part.literal;
  }
  return longest === "" ? ANYTHING : { kind: "literal", text: longest };
}
