// Callers: the person that a contact outside the console is, with the rights of that person.
// Invariants:
//   notify-callers.1. With sign-in, a contact is one person of the directory or nobody: the name and the verified
//     address resolve to the same person. The identity is that person's, so that one person has one vote on all channels.
//   notify-callers.2. The roles decide about the groups of the notification file and those at the last sign-in, but
//     never give more rights than a reviewer's. Without a role there is no caller.
//   notify-callers.3. Without sign-in, people answer as reviewers; handlers of the deployment decide about every call.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { programCaller } from "@holdpoint/server/auth/role-access.ts";
import { roleMay } from "@holdpoint/server/auth/roles.ts";
import { NO_LIMITS } from "@holdpoint/server/auth/role-limits.ts";
import type { Caller, Origin, Person } from "@holdpoint/server/model/model.ts";
import type { Access, Storage, Tx } from "@holdpoint/server/ports/ports.ts";
import type { Contact } from "../rules/directory.ts";

export interface CallerPorts {
  /** Null without authentication: the name is all there is. */
  readonly access: Access | null;
  readonly storage: Pick<Storage, "read">;
}

/** @throws {ApiError} `forbidden` if the contact is no person of the directory, fits two, or has no role */
export async function resolveCaller(
  { access, storage }: CallerPorts,
  contact: Contact,
  origin: Origin,
): Promise<Caller> {
  const { name, email, groups } = contact;
  if (access === null) return { name, user: null, permissions: [], origin };
  if (access.findGrant === undefined) return buildCaller({ name, email, groups }, REVIEWER, origin); // notify-callers.3
  const person = await storage.read((tx) => findPerson(tx, contact)); // notify-callers.1
  const all = [...new Set([...groups, ...person.groups])];
  const grant = access.findGrant(all, person.email);
  if (grant === null) throw forbidden(`${person.name} has no role here any more.`); // notify-callers.2
  return buildCaller({ ...person, groups: all }, grant, origin);
}

const REVIEWER = { role: "reviewer", limits: NO_LIMITS } as const;

function buildCaller(
  { name, email, groups }: Pick<Contact, "name" | "email" | "groups">,
  { role, limits }: Required<Pick<Caller, "role" | "limits">>,
  origin: Origin,
): Caller {
  const caller = programCaller(name, roleMay(role, "threads:answer") ? "reviewer" : role, limits);
  return { ...caller, user: { ...caller.user, email, groups }, groups, origin };
}

/** notify-callers.1. A name alone is a label: with an address on both sides, the addresses must be the same. */
async function findPerson(tx: Pick<Tx, "person" | "peopleByEmail">, { name, email }: Contact): Promise<Person> {
  const named = (await tx.person(name)) ?? (await tx.person(name.toLowerCase()));
  const found = [...(named === null ? [] : [named]), ...(email === null ? [] : await tx.peopleByEmail(email))];
  const [person, ...others] = [...new Map(found.map((one) => [one.name, one])).values()];
  if (person === undefined)
    throw forbidden(`${name} has not signed in to the console, or was removed: sign in there once.`);
  const differs = email !== null && person.email !== null && person.email.toLowerCase() !== email.toLowerCase();
  if (others.length > 0 || differs)
    throw forbidden(`${name} fits more than one person: correct the name or the address in the notification file.`);
  return person;
}

function forbidden(detail: string): ApiError {
  return new ApiError("forbidden", detail);
}
