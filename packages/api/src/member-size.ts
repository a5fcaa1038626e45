// Member size: the limit of the request members that are small by nature: metadata, filters, configs, contexts.
// Invariants:
//   - Each member is small, except those that the operation lists as `large`: a new member is small until its operation
//     says otherwise.
//   - The check ends at the limit, and comes before the schema and every other step.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { exceedsBytes } from "@holdpoint/base/json/json-size.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";

/** A call without large members has at most this many small ones of full size. */
const FULL_MEMBERS_MAX = 4;

/** A character of the body is at most this many bytes when it is written again: `1e20` has 21 digits. */
const BYTES_PER_UNIT_MAX = 6;

/** Largest body of an operation; undefined for one with large members. */
export function chooseBodyBytesMax(
  { large }: { readonly large: readonly string[] },
  bytesMax: number,
): number | undefined {
  return large.length === 0 ? FULL_MEMBERS_MAX * bytesMax : undefined;
}

/** @param units length of the body's text @throws {ApiError} `member_too_large` */
export function checkMemberSizes(body: unknown, large: readonly string[], bytesMax: number, units = Infinity): void {
  if (units * BYTES_PER_UNIT_MAX <= bytesMax) return;
  if (isJsonObject(body)) return checkMembers(body, large, bytesMax);
  // The schema of a list limits its length before it reads its items.
  if (Array.isArray(body)) for (const one of body) if (isJsonObject(one)) checkMembers(one, large, bytesMax);
}

function checkMembers(body: JsonObject, large: readonly string[], bytesMax: number): void {
  for (const name in body) {
    if (large.includes(name) || !exceedsBytes(body[name], bytesMax)) continue;
    const cure = "Keep large data in the input, the state or the store.";
    throw new ApiError("member_too_large", `${name} has more than ${bytesMax} bytes as JSON. ${cure}`);
  }
}
