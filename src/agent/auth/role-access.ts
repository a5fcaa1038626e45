// Role access: the port `Access` for keys and signed-in people. Sources find the caller, the role decides.
// Invariants:
//   role-access.1. The first source that knows the credentials names the caller; without one the request is rejected.
//   role-access.2. A role without the right to an event is rejected before any lookup. Limits become the scope, as the
//        filters of handlers do.
import { ApiError } from "../../base/api-error.ts";
import type { Caller, Role, RoleLimits } from "../model/model.ts";
import type { Access, AccessRequest } from "../ports/ports.ts";
import { isLimited, scopeWithin } from "./role-limits.ts";
import { leastRole, permissionsOf, roleMay } from "./roles.ts";

/** @returns null if the request has no credentials of this kind, or unknown ones @throws {ApiError} */
export type CallerSource = (request: AccessRequest) => Promise<Caller | null>;

export function createRoleAccess(sources: readonly CallerSource[]): Access {
  return {
    async authenticate(request) {
      for (const source of sources) {
        const caller = await source(request);
        if (caller !== null) return caller; // role-access.1
      }
      throw unauthenticated("Send a valid key in x-api-key, or as Authorization: Bearer.");
    },
    async authorize({ role = "viewer", limits }, { event, value }) {
      if (!roleMay(role, event)) {
        const detail = `Your role is ${role}; the call needs ${event}, which the role ${leastRole(event)} has.`;
        throw new ApiError("forbidden", detail, { role, needed: leastRole(event) });
      }
      return { scope: limits === undefined ? null : scopeWithin(limits, event, value), value }; // role-access.2
    },
  };
}

export function unauthenticated(detail: string): ApiError {
  return new ApiError("unauthenticated", detail, {}, { "WWW-Authenticate": "Bearer" });
}

/** The caller that a key stands for. */
export function programCaller(name: string, role: Role, limits: RoleLimits): Caller {
  const permissions = permissionsOf(role);
  return {
    name,
    user: { identity: name, display_name: name, is_authenticated: true, permissions, role },
    permissions,
    role,
    ...(isLimited(limits) ? { limits } : {}),
  };
}

const KEY_UNITS_MAX = 512;

/** Clients may send a key of their own in x-api-key automatically, while the user's key is in the other header. */
export function credentialsOf({ headers }: AccessRequest): readonly string[] {
  const { "x-api-key": own, authorization } = headers;
  const bearer = typeof authorization === "string" ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
  return [own, bearer].filter((given): given is string => typeof given === "string" && given.length <= KEY_UNITS_MAX);
}
