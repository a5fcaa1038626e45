// Person claims: a person's claims → name, address and groups. Pure.
// Invariants:
//   person-claims.1. An e-mail address counts only where `email_verified` is absent, true or "true": several providers
//        send the text "false".
//   person-claims.3. A name that looks like an address is the verified address: nobody becomes another by a claim that
//        people write themselves.
//   person-claims.2. Names and groups are bounded, and hold no control characters.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Person } from "../model/model.ts";
import type { Identity } from "../ports/ports.ts";

export interface PersonClaims {
  /** Claim with the name; null: the e-mail address, else `preferred_username`, else the subject. */
  readonly name: string | null;
  /** Claim with the groups, or a path in dots to it: `realm_access.roles`. */
  readonly groups: string;
}

const NAME_UNITS_MAX = 128;
const GROUP_UNITS_MAX = 256;
const GROUPS_MAX = 1000;

export function readPerson({ issuer, subject, claims }: Identity, from: PersonClaims, now: number): Person {
  const email = hasVerifiedAddress(claims) ? named(claims["email"]) : null;
  const wanted =
    from.name === null ? [email, named(claims["preferred_username"])] : [named(valueAt(claims, from.name))];
  const isOwn = (name: string | null): name is string =>
    name !== null && (!name.includes("@") || name.toLowerCase() === email?.toLowerCase());
  const found = wanted.find(isOwn) ?? null;
  const name = found?.includes("@") === true ? found.toLowerCase() : (found ?? nameSubject(subject)); // person-claims.3
  return {
    name,
    issuer,
    subject,
    displayName: named(claims["name"]) ?? name,
    email,
    groups: groupsIn(valueAt(claims, from.groups)),
    createdAt: now,
    seenAt: now,
  };
}

/** person-claims.1. */
export function hasVerifiedAddress({ email_verified: verified }: JsonObject): boolean {
  return verified === undefined || verified === true || verified === "true";
}

/** A subject with the look of an address must not be one. */
function nameSubject(subject: string): string {
  return subject.includes("@") ? `sub:${subject}` : subject;
}

/** person-claims.2. */
function named(value: Json | undefined): string | null {
  if (typeof value !== "string" || value.trim() === "" || value.length > NAME_UNITS_MAX) return null;
  return /[\p{Cc}\p{Cf}]/u.test(value) ? null : value.trim();
}

function groupsIn(value: Json | undefined): readonly string[] {
  const listed = Array.isArray(value) ? (value as readonly Json[]) : [value];
  const groups = listed.filter((one): one is string => typeof one === "string" && isGroup(one));
  return [...new Set(groups)].slice(0, GROUPS_MAX);
}

function isGroup(text: string): boolean {
  return text !== "" && text.length <= GROUP_UNITS_MAX && !/\p{Cc}/u.test(text);
}

/** A member of exactly this name, or a path in dots. */
function valueAt(claims: JsonObject, path: string): Json | undefined {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: Json | undefined = claims;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined;
    value = (value as JsonObject)[part];
  }
  return value;
}
