// Authorization: the caller and its scope. Every route calls it before its operation (routes/route.ts).
// Invariants:
//   - An object outside the scope is indistinguishable from a missing one.
//   - Queries filter lists; this file checks single objects.
//   - Rights beyond the event of a call are asked before the transaction, because handlers of the deployment
//     answer. The transaction decides from the thread as it is whether the call needs them.
//   - A store item has no metadata: store-scope.ts applies the scope to its namespace, key and value.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Caller, Scope, Thread } from "../model/model.ts";
import type { Access, AuthorizationDecision } from "../ports/ports.ts";
import { inScope } from "./scope.ts";

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

/** The answer to one question: the scope of the right, or the refusal. */
export type Right = { readonly scope: Scope } | { readonly refusal: ApiError };

export const GRANTED: Right = { scope: null };

export interface Rights {
  /** To answer a question, to vote on it, and to continue a breakpoint. */
  readonly answer?: Right;
  /** To go to the nodes of a command, or to act in the name of nodes, past a question. */
  readonly bypass?: Right;
  /** To switch compiled breakpoints off. */
  readonly disable?: Right;
  /** To continue a question with review rules by another assistant than the one that asked. */
  readonly administrate?: Right;
}

export async function askRight(ask: Ask, event: AccessEvent, value: JsonObject): Promise<Right> {
  try {
    return { scope: await ask(event, value) };
  } catch (error) {
    if (error instanceof ApiError && error.code === "forbidden") return { refusal: error };
    throw error;
  }
}

/** @param right undefined if the call seemed not to need it when it came @throws {ApiError} `forbidden` */
export function requireRight(right: Right | undefined, event: AccessEvent, thread: Pick<Thread, "metadata">): void {
  if (right === undefined) throw forbidden(event);
  if ("refusal" in right) throw right.refusal;
  if (!inScope(thread.metadata, right.scope)) throw forbidden(event);
}

function forbidden(event: AccessEvent): ApiError {
  return new ApiError("forbidden", `The caller lacks permission: ${event}.`);
}
