// Person claims: a person's claims → name, address and groups. Pure.
// Invariants:
//   person-claims.1. An e-mail address that the provider calls unverified is no name and no address.
//   person-claims.2. Names and groups are bounded, and hold no control characters.
import type { Json, JsonObject } from "../../base/json/json.ts";
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

export function personOf({ issuer, subject, claims }: Identity, from: PersonClaims, now: number): Person {
  const email = claims["email_verified"] === false ? null : named(claims["email"]); // person-claims.1
  const usual = [email?.toLowerCase() ?? null, named(claims["preferred_username"])];
  const wanted = from.name === null ? usual : [from.name === "email" ? email : named(valueAt(claims, from.name))];
  const name = wanted.find((one) => one !== null) ?? subject;
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
