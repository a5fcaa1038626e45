// Extract: the values at paths such as `values.messages[-1].content` in an API object. Pure.
// Invariants:
//   extract.1. A path without a value yields null; an invalid path is rejected.
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { valueAt } from "@holdpoint/base/json/json-path.ts";

/** @throws {ApiError} `invalid_request` */
export function extract(from: JsonObject, paths: Readonly<Record<string, string>>): JsonObject {
  try {
    return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, valueAt(from, path) ?? null]));
  } catch (error) {
    throw new ApiError("invalid_request", `extract: ${describeError(error).message}`);
  }
}
