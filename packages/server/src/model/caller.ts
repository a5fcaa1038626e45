// Caller: who makes a call, from where, and the objects in reach.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Role, RoleLimits } from "./identity.ts";

/** Authenticated caller. Audit entries record this name. */
export interface Caller {
  readonly name: string;
  /** User object from the authentication, for graphs and handlers; null without authentication. */
  readonly user: JsonObject | null;
  readonly permissions: readonly string[];
  /** Groups of the person, as the sign-in or the handlers name them; absent for programs without any. */
  readonly groups?: readonly string[];
  /** Absent without roles: the deployment's handlers decide then, if there are any. */
  readonly role?: Role;
  /** Limits of the role; absent for none. */
  readonly limits?: RoleLimits;
  /** Others who changed the cron whose run this is: authors of the run, too. */
  readonly editors?: readonly string[];
  /** Absent for actions of the server itself. */
  readonly origin?: Origin;
}

/** Origin of a call as far as the server can determine it; both members are bounded. */
export interface Origin {
  /** The policy by which the server acts for its author; the address is empty then. */
  readonly policyId?: string;
  readonly address: string;
  readonly userAgent: string | null;
  /** The gateway or the service between the caller and the API. */
  readonly via?: "mcp" | "a2a" | "slack" | "email";
}

/** Authorization scope: objects whose metadata meets every condition; null means unrestricted. */
export type Scope = readonly Condition[] | null;

export interface Condition {
  readonly key: string;
  /**
   * `eq`: the member equals the value. `contains`: the member is a list that includes the value. `in`: the value is a
   * list of short scalars that includes the member.
   */
  readonly op: "eq" | "contains" | "in";
  readonly value: Json;
}
