// Access port: authentication and authorization of callers.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Caller, Scope, Vote } from "../model/model.ts";
import type { CredentialTx } from "./operations.ts";

/** Request members available to authentication. */
export interface AccessRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Absent where the caller of this process made the request. */
  readonly remoteAddress?: string;
  /** The gateway that passes the request on. */
  readonly via?: "mcp" | "a2a";
  /** The renewed check of an open stream, which is no use of a session. */
  readonly isRecheck?: boolean;
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
  /** Ends of credentials in this process; absent where handlers of the deployment decide. */
  readonly changes?: AccessChanges;
  /** @throws {ApiError} `unauthenticated` */
  authenticate(request: AccessRequest): Promise<Caller>;
  /** @throws {ApiError} `forbidden` */
  authorize(caller: Caller, question: AuthorizationQuery): Promise<AuthorizationDecision>;
  /**
   * Role and limits of a person who acts outside the console, by the rules of the sign-in; null without a role. Absent
   * where no rules say so.
   */
  findGrant?(groups: readonly string[], email: string | null): Required<Pick<Caller, "role" | "limits">> | null;
  /**
   * False for a vote of a person or a key that no longer exists, or no longer has the role to answer, or to
   * cause the event, on a thread with these metadata: it does not count any more. With limits, also if whoever has the
   * name now has others. Absent where handlers of the deployment decide.
   */
  isCurrent?(tx: CredentialTx, vote: EarlierAct, event?: AccessEvent): Promise<boolean>;
}

/** What somebody did before, under a name. */
export interface EarlierAct extends Pick<Vote, "by" | "via">, Pick<Caller, "limits"> {
  /** That of the thread that it is about. */
  readonly metadata?: JsonObject;
}

/** Tells open streams of this process that the credentials of a caller may have ended. */
export interface AccessChanges {
  /** A session, key or person of this name has ended. */
  ended(name: string): void;
  /** @returns an unsubscribe function */
  onEnded(name: string, callback: () => void): () => void;
}
