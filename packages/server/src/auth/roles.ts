// Roles: the least role for each event, and the rights that a role has. Pure.
// Invariants:
//   roles.1. Each role includes the rights of those before it: viewer, reviewer, operator, admin. A requester has rights
//        of its own only.
//   roles.2. An event that this table does not list is for administrators.
import type { AccessEvent } from "@holdpoint/api/operation.ts";
import type { Role } from "../model/model.ts";
import { ROLES } from "../model/identity.ts";

const EVENTS: Readonly<Record<Role, readonly AccessEvent[]>> = {
  requester: [],
  viewer: [
    "requests:read",
    "requests:search",
    "policies:search",
    "threads:read",
    "threads:search",
    "assistants:read",
    "assistants:search",
    "crons:read",
    "crons:search",
    "store:get",
    "store:search",
    "store:list_namespaces",
  ],
  reviewer: ["threads:answer", "threads:claim", "people:search"],
  operator: [
    "requests:create",
    "requests:cancel",
    "policies:create",
    "policies:delete",
    "threads:create",
    "threads:update",
    "threads:delete",
    "threads:create_run",
    "assistants:create",
    "assistants:update",
    "assistants:delete",
    "crons:create",
    "crons:update",
    "crons:delete",
    "store:put",
    "store:delete",
  ],
  admin: [
    "threads:bypass",
    "assistants:administrate",
    "policies:administrate",
    "acts:search",
    "keys:create",
    "keys:search",
    "keys:delete",
    "people:delete",
  ],
};

const REQUESTER: ReadonlySet<string> = new Set<AccessEvent>([
  "requests:create",
  "requests:read",
  "requests:search",
  "requests:cancel",
]);

const LEAST: ReadonlyMap<string, Role> = new Map(
  ROLES.flatMap((role) => EVENTS[role].map((event): [string, Role] => [event, role])),
);

export function leastRole(event: string): Role {
  return LEAST.get(event) ?? "admin"; // roles.2
}

export function roleMay(role: Role, event: string): boolean {
  if (role === "requester") return REQUESTER.has(event);
  return ROLES.indexOf(role) >= ROLES.indexOf(leastRole(event)); // roles.1
}

/** Events that the role may cause, for clients that only offer what the server allows. */
export function listEvents(role: Role): readonly string[] {
  return [...LEAST.keys()].filter((event) => roleMay(role, event));
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Permissions as graphs and custom routes see them: `read`, `write`, and the role. */
export function listPermissions(role: Role): readonly string[] {
  return role === "viewer" ? ["read", role] : ["read", "write", role];
}
