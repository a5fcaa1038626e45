// Extract: what paths such as `values.messages[-1].content` lead to in an object of the wire. Pure.
// Invariant extract.1: where a path leads to nothing, null; a path that is none is refused.
import { ApiError, describeError } from "../../base/api-error.ts";
import type { JsonObject } from "../../base/json/json.ts";
import { valueAt } from "../../base/json/json-path.ts";

/** @throws {ApiError} `invalid_request` */
export function extract(from: JsonObject, paths: Readonly<Record<string, string>>): JsonObject {
  try {
    return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, valueAt(from, path) ?? null]));
  } catch (error) {
    throw new ApiError("invalid_request", `extract: ${describeError(error).message}`);
  }
}
