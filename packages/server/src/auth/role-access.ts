// Role access: the port `Access` for keys and signed-in people. Sources find the caller, the role decides.
// Invariants:
//   - The first source that knows the credentials names the caller; without one the request is rejected.
//   role-access.2. A role without the right to an event is rejected before any lookup. Limits become the scope, as the
//        filters of handlers do.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { systemClock, type Clock } from "@holdpoint/base/clock.ts";
import type { Caller, Condition, Person, Role, RoleLimits } from "../model/model.ts";
import type { Access, AccessChanges, AccessRequest, CredentialTx, EarlierAct } from "../ports/ports.ts";
import { createAccessChanges } from "./access-changes.ts";
import { isLimited, NO_LIMITS, reachesAsFar, scopeWithin } from "./role-limits.ts";
import { inScope } from "./scope.ts";
import { findGrant, readsClaims, type RoleRule } from "./role-rules.ts";
import { leastRole, listPermissions, roleMay } from "./roles.ts";

/** @returns null if the request has no credentials of this kind, or unknown ones @throws {ApiError} */
export type CallerSource = (request: AccessRequest) => Promise<Caller | null>;

/** How people sign in. */
interface PeopleAccess {
  readonly path: string;
  readonly rules: readonly RoleRule[];
}

/** The keys of the settings, and the time at which stored ones expire. */
export interface KeyHolders {
  readonly keys: readonly { readonly name: string; readonly role: Role }[];
  readonly clock: Pick<Clock, "now">;
}

/** @param people null without sign-in */
export function createRoleAccess(
  sources: readonly CallerSource[],
  people: PeopleAccess | null = null,
  holders: KeyHolders = { keys: [], clock: systemClock },
  changes: AccessChanges = createAccessChanges(),
): Access {
  return {
    changes,
    ...(people === null
      ? {}
      : {
          findGrant: (groups, email) => findGrant(people.rules, groups, email === null ? {} : { email }),
        }),
    isCurrent: (tx, vote, event = "threads:answer") => isCurrent({ people, holders, event }, tx, vote),
    async authenticate(request) {
      try {
        for (const source of sources) {
          const caller = await source(request);
          if (caller !== null) return caller;
        }
        throw unauthenticated("Send a valid key in x-api-key, or as Authorization: Bearer.");
      } catch (error) {
        if (people === null || !(error instanceof ApiError) || error.code !== "unauthenticated") throw error;
        throw new ApiError(error.code, error.message, { ...error.extra, sign_in: people.path }, error.headers);
      }
    },
    async authorize({ name, role = "viewer", limits }, { event, value }) {
      if (!roleMay(role, event)) {
        const detail = `Your role is ${role}; the call needs ${event}, which the role ${leastRole(event)} has.`;
        throw new ApiError("forbidden", detail, { role, needed: leastRole(event) });
      }
      const within = limits === undefined ? null : scopeWithin(limits, event, value); // role-access.2
      return { scope: role === "requester" ? [...(within ?? []), ownRequests(name)] : within, value };
    },
  };
}

/** A requester reaches the requests that it made: creation stamps them with its name. */
function ownRequests(name: string): Condition {
  return { key: "requested_by", op: "eq", value: name };
}

/** The claims of a role that only a sign-in shows are unknown here: such a person counts while the directory has them. */
async function isCurrent(
  {
    people,
    holders: { keys, clock },
    event,
  }: { readonly people: PeopleAccess | null; readonly holders: KeyHolders; readonly event: AccessEvent },
  tx: CredentialTx,
  { by: name, via, limits, metadata }: EarlierAct,
): Promise<boolean> {
  if (people === null && via !== undefined) return true; // a contact: the notification file is its only directory
  const now = clock.now();
  const stored = (await tx.keysNamed(name)).filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  const mayAnswer = (own: { readonly role: Role; readonly limits?: RoleLimits }): boolean =>
    roleMay(own.role, event) &&
    (limits === undefined || reachesAsFar(own.limits ?? NO_LIMITS, limits)) &&
    (metadata === undefined || inScope(metadata, scopeWithin(own.limits ?? NO_LIMITS, event, {})));
  if ([...keys.filter((key) => key.name === name), ...stored].some(mayAnswer)) return true;
  const person = people === null ? null : await tx.person(name);
  if (people === null || person === null) return false;
  const { rules } = people;
  if (readsClaims(rules)) return (limits ?? metadata) === undefined || rules.some(mayAnswer);
  const grant = findGrant(rules, person.groups, person.email === null ? {} : { email: person.email });
  return grant !== null && mayAnswer(grant);
}

export function unauthenticated(detail: string): ApiError {
  return new ApiError("unauthenticated", detail, {}, { "WWW-Authenticate": "Bearer" });
}

/** The caller that a key stands for. */
export function programCaller(name: string, role: Role, limits: RoleLimits): Caller {
  const permissions = listPermissions(role);
  return {
    name,
    user: { identity: name, display_name: name, is_authenticated: true, permissions, role },
    permissions,
    role,
    ...(isLimited(limits) ? { limits } : {}),
  };
}

/** A signed-in person. */
export function personCaller(person: Person, role: Role, limits: RoleLimits): Caller {
  const { name, displayName, email, groups } = person;
  const caller = programCaller(name, role, limits);
  return { ...caller, user: { ...caller.user, display_name: displayName, email, groups }, groups };
}

const KEY_UNITS_MAX = 512;

/** Clients may send a key of their own in x-api-key automatically, while the user's key is in the other header. */
export function readCredentials({ headers }: AccessRequest): readonly string[] {
  const { "x-api-key": own, authorization } = headers;
  const bearer = typeof authorization === "string" ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
  return [own, bearer].filter((given): given is string => typeof given === "string" && given.length <= KEY_UNITS_MAX);
}
