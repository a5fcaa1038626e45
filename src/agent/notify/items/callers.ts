// Callers: the caller that a person outside the console is, with the rights of that person.
import { NO_LIMITS } from "../../auth/role-limits.ts";
import { programCaller } from "../../auth/role-access.ts";
import type { Caller, Origin } from "../../model/model.ts";
import type { Access } from "../../ports/ports.ts";
import type { Contact } from "../rules/directory.ts";

/** @param access null without authentication: the name is all there is */
export function callerOf(access: Access | null, { name, email, groups }: Contact, origin: Origin): Caller {
  if (access === null) return { name, user: null, permissions: [], origin };
  const caller = programCaller(name, "reviewer", NO_LIMITS);
  return { ...caller, user: { ...caller.user, email, groups }, groups, origin };
}
