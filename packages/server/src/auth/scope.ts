// Scope: conditions on metadata that restrict the objects visible to a caller. Pure.
// Invariants:
//   scope.1. An object without the member is outside a scope that requires it.
//   scope.2. An object created in a scope stays in it: the scope's members override those of the request.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Scope } from "../model/model.ts";

export function inScope(metadata: JsonObject, scope: Scope): boolean {
  if (scope === null) return true;
  return scope.every(({ key, op, value }) => {
    if (!Object.hasOwn(metadata, key)) return false; // scope.1
    const own = metadata[key];
    if (op === "eq") return own === value;
    if (op === "in") return own !== undefined && isListed(own, value);
    return Array.isArray(own) && own.includes(value);
  });
}

/** Metadata of an object created or changed within the scope (scope.2). */
export function stamped(metadata: JsonObject, scope: Scope): JsonObject {
  if (scope === null || inScope(metadata, scope)) return metadata;
  const members: Record<string, Json> = { ...metadata };
  for (const { key, op, value } of scope) {
    const own = Object.hasOwn(members, key) ? members[key] : undefined;
    if (op === "eq") members[key] = value;
    else if (op === "in") members[key] = own !== undefined && isListed(own, value) ? own : takeFirst(value);
    else if (!Array.isArray(own)) members[key] = [value];
    else if (!own.includes(value)) members[key] = [...(own as readonly Json[]), value];
  }
  return members;
}

function isListed(own: Json, list: Json): boolean {
  return Array.isArray(list) && list.includes(own);
}

function takeFirst(value: Json): Json {
  return Array.isArray(value) ? ((value as readonly Json[])[0] ?? null) : value;
}
