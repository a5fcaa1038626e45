// Callers: the caller that a person outside the console is, with the rights of that person.
// Invariants:
//   notify-callers.1. With sign-in, the rules of its roles decide about the groups of the notification file and those
//     at the person's last sign-in, as in the console; but never more rights than a reviewer's.
//   notify-callers.2. Without sign-in, people answer as reviewers; handlers of the deployment decide about every call.
import { programCaller } from "../../auth/role-access.ts";
import { NO_LIMITS } from "../../auth/role-limits.ts";
import type { Caller, Origin } from "../../model/model.ts";
import type { Access, Storage } from "../../ports/ports.ts";
import type { Contact } from "../rules/directory.ts";

export interface CallerPorts {
  /** Null without authentication: the name is all there is. */
  readonly access: Access | null;
  readonly storage: Pick<Storage, "read">;
}

export async function callerOf({ access, storage }: CallerPorts, contact: Contact, origin: Origin): Promise<Caller> {
  if (access === null) return { name: contact.name, user: null, permissions: [], origin };
  const person = await storage.read(
    async (tx) => (await tx.person(contact.name)) ?? tx.person(contact.name.toLowerCase()),
  );
  const { name, email } = person ?? contact;
  const groups = [...new Set([...contact.groups, ...(person?.groups ?? [])])];
  const grant = access.grantOf === undefined ? REVIEWER : access.grantOf(groups, email); // notify-callers.2
  const isReader = grant === null || grant.role === "viewer";
  const caller = programCaller(name, isReader ? "viewer" : "reviewer", grant?.limits ?? NO_LIMITS); // notify-callers.1
  return { ...caller, user: { ...caller.user, email, groups }, groups, origin };
}

const REVIEWER = { role: "reviewer", limits: NO_LIMITS } as const;
