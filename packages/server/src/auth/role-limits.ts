// Role limits: the limits of a role, as the scope of one call. The same conditions that handlers return. Pure.
// Invariants:
//   role-limits.1. Threads and crons need a member of the metadata for every limit; items of the store likewise. An
//        object without the member is out of scope.
//   role-limits.2. A limited role changes no assistant. It reads those of its limit, or all without one.
//   role-limits.3. A run of a limited role is a run of one of its assistants.
//   role-limits.4. A limited role sees and makes no key, and removes nobody: a key could have fewer limits.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { isRunEvent } from "./handler-value.ts";
import { toAssistantId } from "../model/built-in-assistant.ts";
import type { Condition, RoleLimits, Scope } from "../model/model.ts";

export const NO_LIMITS: RoleLimits = { assistants: null, metadata: {} };

const VALUES_MAX = 100;
const VALUE_UNITS_MAX = 150;

/**
 * `{assistants: ["agent"], metadata: {region: ["eu", "us"]}}`; names of graphs become ids.
 * @returns the limits, or the reason why they are none
 */
export function parseRoleLimits(assistants: unknown, metadata: unknown): RoleLimits | string {
  const listed = assistants ?? null;
  if (listed !== null && !isListWhere(listed, (one) => typeof one === "string" && one !== "")) {
    return `"assistants" is not a list of at most ${VALUES_MAX} ids of assistants or names of graphs`;
  }
  const members = metadata ?? {};
  if (!isJsonObject(members)) return '"metadata" is not an object';
  for (const [name, value] of Object.entries(members)) {
    if (!isShort(value) && !isListWhere(value, isShort))
      return `"metadata.${name}" is not a short text, a number or a boolean, or a list of them`;
  }
  return { assistants: listed === null ? null : (listed as readonly string[]).map(toAssistantId), metadata: members };
}

function isListWhere(value: unknown, fits: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.length <= VALUES_MAX && value.every(fits);
}

function isShort(value: unknown): boolean {
  return typeof value === "string"
    ? value.length <= VALUE_UNITS_MAX
    : typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}

export function isLimited({ assistants, metadata }: RoleLimits): boolean {
  return assistants !== null || Object.keys(metadata).length > 0;
}

/** Whether somebody with these limits reaches all that an earlier holder of the name reached. */
export function reachesAsFar(now: RoleLimits, before: RoleLimits): boolean {
  return !isLimited(now) || isDeepStrictEqual(now, before);
}

/** @param value members of the request @throws {ApiError} `forbidden` (role-limits.2, role-limits.3, role-limits.4) */
export function scopeWithin(limits: RoleLimits, event: string, value: JsonObject): Scope {
  if (!isLimited(limits)) return null;
  const { assistants } = limits;
  const [resource, action] = event.split(":");
  const ofAssistants: readonly Condition[] =
    assistants === null ? [] : [{ key: "assistant_id", op: "in", value: assistants }];
  if (resource === "assistants") {
    if (action === "read" || action === "search") return ofAssistants.length === 0 ? null : ofAssistants;
    throw new ApiError("forbidden", "Your access is limited to some objects, so you cannot change assistants.");
  }
  if (resource === "keys" || event === "people:delete")
    throw new ApiError("forbidden", "Your access is limited to some objects, so you cannot manage keys and people.");
  const named = value["assistant_id"];
  if (assistants !== null && isRunEvent(event) && typeof named === "string") {
    if (!assistants.includes(toAssistantId(named)))
      throw new ApiError("forbidden", `Your access does not include the assistant ${named}.`);
  }
  return [...ofAssistants, ...Object.entries(limits.metadata).map(toCondition)]; // role-limits.1
}

function toCondition([key, value]: readonly [string, Json]): Condition {
  return Array.isArray(value) ? { key, op: "in", value } : { key, op: "eq", value };
}
