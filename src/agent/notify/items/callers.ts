// Callers: the caller that a person outside the console is, with the rights of that person.
import { NO_LIMITS } from "../../auth/role-limits.ts";
import { programCaller } from "../../auth/role-access.ts";
import type { Caller, Origin } from "../../model/model.ts";
import type { Access } from "../../ports/ports.ts";
import type { Contact } from "../rules/directory.ts";

/**
 * With sign-in, the rules of its roles decide about the person, as in the console; but nobody decides here with more
 * rights than a reviewer's.
 * @param access null without authentication: the name is all there is
 */
export function callerOf(access: Access | null, { name, email, groups }: Contact, origin: Origin): Caller {
  if (access === null) return { name, user: null, permissions: [], origin };
  const grant = access.grantOf === undefined ? REVIEWER : access.grantOf(groups, email);
  const isReader = grant === null || grant.role === "viewer";
  const caller = programCaller(name, isReader ? "viewer" : "reviewer", grant?.limits ?? NO_LIMITS);
  return { ...caller, user: { ...caller.user, email, groups }, groups, origin };
}

const REVIEWER = { role: "reviewer", limits: NO_LIMITS } as const;
