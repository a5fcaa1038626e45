// Cut JSON: text of a list or an object whose end an attribute limit cut off.
import type { Json } from "@holdpoint/base/json/json.ts";
import { unwrap } from "./plain-values.ts";

export interface Cut {
  /** What is complete, in the containers around it. */
  readonly whole: Json;
  /** What follows it. */
  readonly rest: string;
  /** Depth of the container that it ends: 0 is the outer one. */
  readonly level: number;
  /** It ends between the items of a list, and not inside an object. */
  readonly isList: boolean;
}

/** Longer text stays text: each level is a parse. */
const CHARS_MAX = 512 * 1024;
/** Deeper containers count as one value. */
const LEVELS_MAX = 8;

/** The most that is complete first; then with the innermost container as a part of the rest, and so on. */
export function readCuts(given: string): readonly Cut[] {
  const text = given.length > CHARS_MAX ? "" : openText(given);
  if (!/^\s*(?:\[\s*\{|\{\s*")/.test(text)) return [];
  const open = listOpen(text);
  return open
    .flatMap(({ end, isEmpty }, level): readonly Cut[] => {
      if (isEmpty) return [];
      const closers = open.slice(0, level + 1).map(({ closer }) => closer);
      const { value } = unwrap(text.slice(0, end) + closers.toReversed().join(""));
      return typeof value === "object"
        ? [{ whole: value, rest: text.slice(end).replace(/^\s*,\s*/, ""), level, isList: closers[level] === "]" }]
        : [];
    })
    .toReversed();
}

/** JSON in a JSON string, which is cut off too. */
function openText(text: string): string {
  if (!/^\s*"\s*[[{]/.test(text)) return text;
  const { value } = unwrap(`${text.replace(/\\(?:u[\da-fA-F]{0,3})?$/, "")}"`);
  return typeof value === "string" ? value : text;
}

interface Open {
  readonly closer: "]" | "}";
  /** After its last complete member. */
  end: number;
  isEmpty: boolean;
}

/** The containers that are open at the end, the outer one first; none for text that is complete or no JSON. */
function listOpen(text: string): readonly Open[] {
  const open: Open[] = [];
  let deeper = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === "\\") at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === "[" || char === "{") {
      if (open.length === LEVELS_MAX) deeper += 1;
      else open.push({ closer: char === "[" ? "]" : "}", end: at + 1, isEmpty: true });
    } else if (char === "]" || char === "}") {
      if (deeper > 0) deeper -= 1;
      else if (open.pop()?.closer !== char || open.length === 0) return [];
      else endMember(open, at + 1);
    } else if (char === "," && deeper === 0) endMember(open, at);
  }
  return open;
}

function endMember(open: readonly Open[], end: number): void {
  const last = open.at(-1);
  if (last !== undefined) Object.assign(last, { end, isEmpty: false });
}
