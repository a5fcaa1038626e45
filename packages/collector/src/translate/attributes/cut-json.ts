// Cut JSON: text of a list whose end an attribute limit cut off.
import type { Json } from "@holdpoint/base/json/json.ts";
import { unwrap } from "./plain-values.ts";

export interface CutList {
  /** The items that are complete. */
  readonly items: readonly Json[];
  /** What follows them. */
  readonly rest: string;
}

/** null: no list, or not one complete item. */
export function readCutList(text: string): CutList | null {
  if (!/^\s*\[\s*\{/.test(text)) return null;
  const end = findLastItem(text);
  if (end === -1) return null;
  const { value } = unwrap(`${text.slice(0, end)}]`);
  return Array.isArray(value)
    ? { items: value as readonly Json[], rest: text.slice(end).replace(/^\s*,\s*/, "") }
    : null;
}

/** The end of the last complete item of the outer list; -1 without one. */
function findLastItem(text: string): number {
  let depth = 0;
  let isText = false;
  let end = -1;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === "\\") at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === "[" || char === "{") depth += 1;
    else if (char === "]" || char === "}") {
      depth -= 1;
      if (depth === 1) end = at + 1;
    }
  }
  return end;
}
