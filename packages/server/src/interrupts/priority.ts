// Priority: how urgent a question is, as the option of `interrupt()` says. Pure.
// Invariants:
//   - A value that is none of the four fails the run that asks with it: a typo must not hide an urgent question.
import { PRIORITIES } from "@holdpoint/api/inbox-filter.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

/** Member of a response schema with the priority. Only the graph's code writes the schema. */
const SCHEMA_KEY = "x-holdpoint-priority";

const SHOWN_UNITS_MAX = 60;

/** @returns its place among PRIORITIES, the most urgent first */
export function readPriority(responseSchema: JsonObject | null): number {
  const at = PRIORITIES.findIndex((one) => one === responseSchema?.[SCHEMA_KEY]);
  return at === -1 ? PRIORITIES.indexOf("normal") : at;
}

/** @returns a sentence; null for a priority, or without one */
export function findPriorityFault(responseSchema: JsonObject | null): string | null {
  const given: Json | undefined = responseSchema?.[SCHEMA_KEY];
  if (given === undefined || PRIORITIES.some((one) => one === given)) return null;
  const shown = JSON.stringify(given).slice(0, SHOWN_UNITS_MAX);
  return `${SCHEMA_KEY} is one of ${PRIORITIES.join(", ")}, and not ${shown}`;
}
