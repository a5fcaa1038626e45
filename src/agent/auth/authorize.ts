// Authorization: the caller and its scope. Every route calls it before its operation (routes/route.ts).
// Invariants:
//   authorize.1. An object outside the scope is indistinguishable from a missing one.
//   authorize.2. Queries filter lists; this file checks single objects.
//   authorize.3. A store item has no metadata: store-scope.ts applies the scope to its namespace, key and value.
import type { AccessEvent } from "../../api/operation.ts";
import type { JsonObject } from "../../base/json/json.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { Access, AuthorizationDecision } from "../ports/ports.ts";

/** Caller without authentication, as the audit trail records it. */
export const ANONYMOUS: Caller = { name: "anonymous", user: null, permissions: [] };

/** Scopes of a run-creating call. */
export interface Reach {
  readonly threads: Scope;
  readonly assistants: Scope;
}

/** Authorizes an additional event beyond the route's own. @throws {ApiError} `forbidden` */
export type Ask = (event: AccessEvent, value: JsonObject) => Promise<Scope>;

/** @throws {ApiError} `forbidden` */
export async function authorize(
  access: Access,
  caller: Caller,
  event: AccessEvent,
  value: JsonObject,
): Promise<AuthorizationDecision> {
  return access.authorize(caller, { event, value });
}
