// Access port: authentication and authorization of callers.
import type { JsonObject } from "../../base/json/json.ts";
import type { Caller, Scope } from "../model/model.ts";

/** Request members available to authentication. */
export interface AccessRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Operation to authorize: an event such as `threads:create_run`, and the members of the request. */
export interface AuthorizationQuery {
  readonly event: string;
  readonly value: JsonObject;
}

export interface AuthorizationDecision {
  readonly scope: Scope;
  /** The members, including additions by the handler such as an owner in the metadata. */
  readonly value: JsonObject;
}

export interface Access {
  /** @throws {ApiError} `unauthenticated` */
  authenticate(request: AccessRequest): Promise<Caller>;
  /** @throws {ApiError} `forbidden` */
  authorize(caller: Caller, question: AuthorizationQuery): Promise<AuthorizationDecision>;
  /**
   * Role and limits of a person who acts outside the console, by the rules of the sign-in; null without a role. Absent
   * where no rules say so.
   */
  grantOf?(groups: readonly string[], email: string | null): Required<Pick<Caller, "role" | "limits">> | null;
}
