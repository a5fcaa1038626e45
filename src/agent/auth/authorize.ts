// Access: who asks, and what they may touch. Every route passes here before its operation (routes/route.ts).
// Invariants:
//   authorize.1. What a caller may not touch looks exactly as if it were not there.
//   authorize.2. Lists are filtered where they are read; this file checks single objects.
//   authorize.3. A store item has no metadata: store-scope.ts applies a scope to its namespace, key and value.
import type { AccessEvent } from "../../api/operation.ts";
import type { JsonObject } from "../../base/json/json.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { Access, AccessAnswer } from "../ports/ports.ts";

/** Nobody has to authenticate; the record of answers says so. */
export const ANONYMOUS: Caller = { name: "anonymous", user: null, permissions: [] };

/** What a call that makes a run may touch. */
export interface Reach {
  readonly threads: Scope;
  readonly assistants: Scope;
}

/** Asks whether the caller may do one more thing than its route is about, and on what. @throws {ApiError} `forbidden` */
export type Ask = (event: AccessEvent, value: JsonObject) => Promise<Scope>;

/** @throws {ApiError} `forbidden` */
export async function authorize(
  access: Access,
  caller: Caller,
  event: AccessEvent,
  value: JsonObject,
): Promise<AccessAnswer> {
  return access.authorize(caller, { event, value });
}
