// Access: who a caller is, and what they may reach.
import type { JsonObject } from "../../base/json/json.ts";
import type { Caller, Scope } from "../model/model.ts";

/** A request as far as authentication looks at it. */
export interface AccessRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What a caller is about to do: `threads:create_run` and the like, and the members of the request. */
export interface AccessQuestion {
  readonly event: string;
  readonly value: JsonObject;
}

export interface AccessAnswer {
  readonly scope: Scope;
  /** The members, possibly with additions of the handler, such as an owner in the metadata. */
  readonly value: JsonObject;
}

export interface Access {
  /** @throws {ApiError} `unauthenticated` */
  authenticate(request: AccessRequest): Promise<Caller>;
  /** @throws {ApiError} `forbidden` */
  authorize(caller: Caller, question: AccessQuestion): Promise<AccessAnswer>;
}
