// Person claims: a person's claims → name, address and groups. Pure.
// Invariants:
//   person-claims.1. An e-mail address counts only where `email_verified` is absent, true or "true": several providers
//        send the text "false".
//   - A name that looks like an address is the verified address: nobody becomes another by a claim that people write
//     themselves.
//   person-claims.4. Groups are a text, a list of texts or of objects with a name, or a map whose members are the groups.
//        Anything else is described for the log, never guessed.
//   person-claims.2. Names and groups are bounded, and hold no control characters.
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
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

export function readPerson(identity: Identity, from: PersonClaims, now: number): Person {
  const { issuer, subject, claims } = identity;
  const name = findName(identity, from) ?? nameSubject(subject);
  return {
    name,
    issuer,
    subject,
    displayName: named(claims["name"]) ?? name,
    email: verifiedAddress(claims),
    groups: groupsIn(valueAt(claims, from.groups)),
    createdAt: now,
    seenAt: now,
  };
}

/** The name that the claims give; null if there is only the subject. */
export function findName({ claims }: Pick<Identity, "claims">, from: PersonClaims): string | null {
  const email = verifiedAddress(claims);
  const wanted =
    from.name === null ? [email, named(claims["preferred_username"])] : [named(valueAt(claims, from.name))];
  const isOwn = (name: string | null): name is string =>
    name !== null && (!name.includes("@") || name.toLowerCase() === email?.toLowerCase());
  const found = wanted.find(isOwn) ?? null;
  return found?.includes("@") === true ? found.toLowerCase() : found;
}

function verifiedAddress(claims: JsonObject): string | null {
  return hasVerifiedAddress(claims) ? named(claims["email"]) : null;
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

/** person-claims.4. */
function groupsIn(value: Json | undefined): readonly string[] {
  const groups = listGroups(value).filter((one): one is string => typeof one === "string" && isGroup(one));
  return [...new Set(groups)].slice(0, GROUPS_MAX);
}

function listGroups(value: Json | undefined): readonly (Json | undefined)[] {
  const nameIn = (one: Json | undefined): Json | undefined => (isJsonObject(one) ? one["name"] : one);
  if (Array.isArray(value)) return (value as readonly Json[]).map(nameIn);
  if (!isJsonObject(value) || typeof value["name"] === "string") return [nameIn(value)];
  return Object.keys(value).filter((name) => value[name] !== false && value[name] !== null);
}

/** True if the claim has more than was read, or lies elsewhere. */
export function hasUnreadGroups(claims: JsonObject, { groups: path }: PersonClaims): boolean {
  const value = valueAt(claims, path);
  const listed = value === undefined || value === null ? [] : listGroups(value);
  return isElsewhere(claims, path) || listed.some((one) => typeof one !== "string" || !isGroup(one));
}

/** Microsoft Entra names a long list of groups by an address only. */
function isElsewhere(claims: JsonObject, path: string): boolean {
  const names = claims["_claim_names"];
  const hint = claims["hasgroups"];
  return (isJsonObject(names) && Object.hasOwn(names, path)) || hint === true || hint === "true";
}

const SHOWN_UNITS = 300;
const SHOWN_MAX = 10;

/** What the claim of the groups holds, for the log. */
export function describeGroups(claims: JsonObject, { groups: path }: PersonClaims): string {
  if (isElsewhere(claims, path))
    return `the provider has too many groups for the token and names only their address ("${path}" in _claim_names): use app roles, or let it send fewer groups`;
  const value = valueAt(claims, path);
  if (value === undefined)
    return `no claim "${path}"; the claims are ${Object.keys(claims).slice(0, 50).join(", ")}`.slice(
      0,
      2 * SHOWN_UNITS,
    );
  const shown = Array.isArray(value) ? (value as readonly Json[]).slice(0, SHOWN_MAX) : value;
  const count = Array.isArray(value) ? ` (${value.length})` : "";
  return `"${path}"${count} is ${JSON.stringify(shown)}`.slice(0, SHOWN_UNITS);
}

function isGroup(text: string): boolean {
  return text !== "" && text.length <= GROUP_UNITS_MAX && !/\p{Cc}/u.test(text);
}

/** A path in dots; names that have dots themselves come first, at every step. */
function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return value[path];
  for (let end = path.lastIndexOf("."); end > 0; end = path.lastIndexOf(".", end - 1)) {
    const name = path.slice(0, end);
    const found = Object.hasOwn(value, name) ? valueAt(value[name], path.slice(end + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
