// Required text: the bytes that every match of a regular expression of RE2 contains, as requirements that the scan for
// candidates can check without an automaton.
// Invariants:
//   required-text.1. Every match of the pattern contains one of the requirements. An expression that is not understood
//        here requires nothing, so that every value is a candidate (candidates.1).
//   required-text.2. `gate` finds something in every text in which the pattern matches.
import { patternOf, rarityOf } from "./byte-pattern.ts";
import { literalRequirement, type Requirement } from "./candidates.ts";

export interface RequiredText {
  readonly requirements: readonly Requirement[];
  /** null: any text may match. */
  readonly gate: RegExp | null;
}

const ANYTHING: RequiredText = { requirements: [{ kind: "anything" }], gate: null };
const REPEATS_MAX = 64;
const CHARACTERS_MAX = 64;
/** In bits. Less rare bytes are in every text. */
const RARITY_MIN = 5;
/** Without regard to case, "s" and "k" are also these two, in UTF-8 and as escapes of JSON. */
const OTHER_CASES: readonly Requirement[] = ["\u017f", "\u212a", "u017", "u212"].map(literalRequirement);

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

export function requiredText(pattern: string): RequiredText {
  const ignoreCase = pattern.startsWith("(?i)");
  const rest = ignoreCase ? pattern.slice(4) : pattern;
  // A change of case inside, or a quotation, in which brackets are characters.
  if (/\(\?[a-zA-Z-]*i|\\Q/.test(rest)) return ANYTHING;
  const all: (readonly string[])[] = [];
  for (const alternative of alternativesOf(rest)) {
    const parts = partsOf(alternative);
    const sources = parts === null ? null : rarestRun(parts, ignoreCase);
    if (sources === null) return ANYTHING;
    all.push(sources);
  }
  const gate = all.map((sources) => sources.join("")).join("|") + (ignoreCase ? "|[\u017f\u212a]" : "");
  return {
    requirements: [...all.flatMap(requirementsOf), ...(ignoreCase ? OTHER_CASES : [])],
    gate: new RegExp(gate),
  };
}

function requirementsOf(sources: readonly string[]): readonly Requirement[] {
  const bytes: Requirement = { kind: "bytes", sources };
  const sets = patternOf(sources);
  const fitsInteger = sets.every((set, index) =>
    (index === 0 ? "-0123456789" : "0123456789").split("").some((char) => set[char.charCodeAt(0)] === 1),
  );
  return fitsInteger ? [bytes, { kind: "integer", digits: sources.length }] : [bytes];
}

/** Separated by "|" outside groups and classes. */
function alternativesOf(pattern: string): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "(" || char === "[") {
      const end = char === "(" ? groupEnd(pattern, at) : classEnd(pattern, at);
      if (end < 0) break;
      at = end - 1;
    } else if (char === "|") {
      found.push(pattern.slice(from, at));
      from = at + 1;
    }
  }
  return [...found, pattern.slice(from)];
}

/** A break (null) stands for a part that is not understood. */
type Parts = readonly (Atom | null)[];

const METACHARACTERS = new Set("^$.|?*+()[]{}");
const ESCAPES: Readonly<Record<string, string>> = { d: "[0-9]", w: "[0-9A-Za-z_]" };
/** JSON may write these with an escape. */
const ESCAPED_IN_JSON = new Set('"\\/');

/** null: unbalanced, or not understood. */
function partsOf(pattern: string): Parts | null {
  const parts: (Atom | null)[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at] ?? "";
    let source = "";
    let literal = "";
    let end = at + 1;
    if (char === "|" || char === ")") return null;
    if (char === "^" || char === "$") {
      at = end;
      continue; // no characters
    }
    if (char === "*" || char === "?" || char === "+" || char === "{") return null;
    if (char === "(") {
      end = groupEnd(pattern, at);
      if (end < 0) return null;
    } else if (char === "[") {
      const found = /^\[(?!\^)(?:[\w .,:;@#%&=+-]|\\[dw.\-+])+\]/.exec(pattern.slice(at))?.[0];
      end = found === undefined ? classEnd(pattern, at) : at + found.length;
      if (end < 0) return null;
      source = found === undefined || mayBeEscaped(found) ? "" : found;
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

/** A range of the class has characters that JSON may write with an escape: `[+-9]` has "/". */
function mayBeEscaped(source: string): boolean {
  const pattern = new RegExp(source);
  return [...ESCAPED_IN_JSON].some((char) => pattern.test(char));
}

function atomOf(source: string, literal: string, quantifier: RegExpExecArray | null): Atom | null {
  if (quantifier === null) return { source, literal, times: 1, isOpen: false };
  const [text, least, comma] = quantifier;
  if (text.startsWith("+")) return { source, literal, times: 1, isOpen: true };
  const times = Number(least ?? 0);
  if (times < 1 || times > REPEATS_MAX) return null;
  return { source, literal, times, isOpen: comma === "," };
}

/** The position after the group or class; -1 when it does not end. */
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

/** As groupEnd. A "]" that comes first is a character, and one that ends `[:digit:]` does not end the class around it. */
function classEnd(pattern: string, from: number): number {
  const [opening = ""] = /^\[\^?\]?/.exec(pattern.slice(from)) ?? [];
  for (let at = from + opening.length; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === "]") return at + 1;
    else if (pattern.startsWith("[:", at)) {
      const [posix] = /^\[:\^?[a-z]+:\]/.exec(pattern.slice(at)) ?? [];
      if (posix === undefined) return -1;
      at += posix.length - 1;
    }
  }
  return -1;
}

/** Neighbouring atoms with fixed repetitions; the first or the last may repeat further. null: none is rare enough. */
function rarestRun(parts: Parts, ignoreCase: boolean): readonly string[] | null {
  let best: readonly string[] = [];
  let bestRarity = RARITY_MIN;
  let run: string[] = [];
  const close = (): void => {
    const rarity = rarityOf(patternOf(run));
    if (rarity < bestRarity) return;
    best = run;
    bestRarity = rarity;
  };
  for (const part of parts) {
    if (part === null || run.length + part.times > CHARACTERS_MAX) {
      close();
      run = [];
    }
    if (part === null) continue;
    const source = part.literal === "" ? caseless(part.source, ignoreCase) : anyCase(part.literal, ignoreCase);
    const copies = Array.from({ length: part.times }, () => source);
    run = [...run, ...copies];
    if (!part.isOpen) continue;
    close();
    run = copies;
  }
  close();
  return best.length === 0 ? null : best;
}

function anyCase(literal: string, ignoreCase: boolean): string {
  const escaped = `\\x${literal.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const other = literal === literal.toLowerCase() ? literal.toUpperCase() : literal.toLowerCase();
  return ignoreCase && other !== literal ? `[${literal}${other}]` : escaped;
}

function caseless(source: string, ignoreCase: boolean): string {
  return ignoreCase && /[A-Za-z]/.test(source) ? "[0-9A-Za-z_ .,:;@#%&=+/-]" : source;
}
