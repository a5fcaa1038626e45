// Excerpt: the beginning of a value as JSON, and whether a value is large, without reading all of it. Pure.
import { visible } from "@holdpoint/api/text/visible-text.ts";

/** Beyond this, a value is edited as text in the code editor and compared by line (diff/json-diff.tsx). */
export const LARGE_UNITS = 100_000;

/** The JSON text of the first units of a value; the whole text if it is shorter. */
export function formatExcerpt(value: unknown, unitsMax: number): string {
  const budget = { left: unitsMax };
  const text = write(value, budget);
  return text.length <= unitsMax ? text : text.slice(0, unitsMax).toWellFormed();
}

/** JSON on one line, truncated at `max` units, with hidden characters as escapes. */
export function glance(value: unknown, max = 120): string {
  const text = typeof value === "string" ? value : formatExcerpt(value, max + 1);
  return visible(text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`);
}

export function isLarge(value: unknown): boolean {
  const budget = { left: LARGE_UNITS };
  measure(value, budget);
  return budget.left < 0;
}

interface Budget {
  left: number;
}

function write(value: unknown, budget: Budget): string {
  if (budget.left < 0) return "";
  if (typeof value !== "object" || value === null) {
    const scalar = typeof value === "string" ? value.slice(0, budget.left + 1) : value;
    const text = JSON.stringify(scalar) ?? "";
    budget.left -= text.length;
    return text;
  }
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const name in value) {
    if (budget.left < 0) break;
    const key = isList ? "" : `${JSON.stringify(name)}:`;
    budget.left -= key.length + 1;
    parts.push(key + write((value as Readonly<Record<string, unknown>>)[name], budget));
  }
  return isList ? `[${parts.join(",")}]` : `{${parts.join(",")}}`;
}

function measure(value: unknown, budget: Budget): void {
  budget.left -= typeof value === "string" ? value.length : 1;
  if (typeof value !== "object" || value === null) return;
  for (const name in value) {
    if (budget.left < 0) return;
    budget.left -= Array.isArray(value) ? 0 : name.length;
    measure((value as Readonly<Record<string, unknown>>)[name], budget);
  }
}
