// Role rules: which groups and claims of people have which role, and its limits. Pure.
// Invariants:
//   role-rules.1. Of the rules that fit, the one with the highest role decides; of several, the first. Without one, a
//        person has no access.
//   role-rules.2. An unverified e-mail address fits no rule.
//   role-rules.3. `/platform` is the group `platform`: Keycloak sends paths. `/a/platform` is another one.
import { setting, type Setting } from "@holdpoint/base/config/config.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { ROLES } from "../model/identity.ts";
import type { Role, RoleLimits } from "../model/model.ts";
import { hasVerifiedAddress } from "./person-claims.ts";
import { parseRoleLimits, NO_LIMITS } from "./role-limits.ts";
import { isRole } from "./roles.ts";

export interface RoleRule {
  /** Null fits all people who sign in, unless there is a claim. */
  readonly group: string | null;
  readonly claim: { readonly name: string; readonly value: Json } | null;
  readonly role: Role;
  readonly limits: RoleLimits;
}

export type Grant = Pick<RoleRule, "role" | "limits">;

const RULES_MAX = 1000;

/** `group=role` with commas or lines between, `*=role` for all; or a JSON list of rules. */
export function roleRulesSetting(name: string, meaning: string): Setting<readonly RoleRule[] | null> {
  const kind = { type: "roles", fallback: null, limits: `group=role, …, or JSON; at most ${RULES_MAX}` };
  return setting<readonly RoleRule[] | null>(name, kind, { meaning }, parseRoleRules);
}

/** @throws {Error} with the reason */
export function parseRoleRules(text: string): readonly RoleRule[] {
  const listed = text.trim().startsWith("[") ? fromJson(text) : fromPairs(text);
  if (listed.length === 0) throw new Error("has no rule");
  if (listed.length > RULES_MAX) throw new Error(`has more than ${RULES_MAX} rules`);
  return listed;
}

function fromPairs(text: string): readonly RoleRule[] {
  const pairs = text.split(/[,\n]/).map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.lastIndexOf("=");
      const [group, role] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      if (at < 1 || group === "" || !isRole(role))
        throw new Error(`"${pair}" is not of the form group=role, with one of the roles ${ROLES.join(", ")}`);
      return { group: group === "*" ? null : group, claim: null, role, limits: NO_LIMITS };
    });
}

const MEMBERS = new Set(["group", "claim", "value", "role", "assistants", "metadata"]);

function fromJson(text: string): readonly RoleRule[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error("is not JSON");
  }
  return (parsed as readonly unknown[]).map((one, index) => {
    const rule = isJsonObject(one) ? parseRule(one) : "is not an object";
    if (typeof rule === "string") throw new Error(`rule ${index + 1} ${rule}`);
    return rule;
  });
}

/** @returns the rule, or the reason why it is none */
function parseRule(given: JsonObject): RoleRule | string {
  const { group = null, claim = null, value = null, role, assistants, metadata } = given;
  const unknown = Object.keys(given).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return `has the unknown member "${unknown}"`;
  if (typeof role !== "string" || !isRole(role)) return `needs "role", one of ${ROLES.join(", ")}`;
  if (group !== null && (typeof group !== "string" || group === "")) return 'has a "group" that is no text';
  if (claim !== null && (typeof claim !== "string" || claim === "")) return 'has a "claim" that is no text';
  if ((claim === null) !== (value === null)) return 'needs both "claim" and "value", or neither';
  if (group !== null && claim !== null) return 'has both "group" and "claim": write two rules';
  const limits = parseRoleLimits(assistants, metadata);
  if (typeof limits === "string") return `has wrong limits: ${limits}`;
  return { group, claim: claim === null ? null : { name: claim, value }, role, limits };
}

/** role-rules.1. */
export function findGrant(rules: readonly RoleRule[], groups: readonly string[], claims: JsonObject): Grant | null {
  const fits = ({ group, claim }: RoleRule): boolean => {
    if (group !== null) return groups.some((own) => own === group || trimRoot(own) === trimRoot(group));
    if (claim === null) return true;
    const own = Object.hasOwn(claims, claim.name) ? claims[claim.name] : undefined;
    return own === claim.value || (Array.isArray(own) && own.includes(claim.value));
  };
  let best: RoleRule | null = null;
  for (const rule of rules) {
    if (fits(rule) && (best === null || ROLES.indexOf(rule.role) > ROLES.indexOf(best.role))) best = rule;
  }
  return best === null ? null : { role: best.role, limits: best.limits };
}

/** role-rules.3. */
function trimRoot(group: string): string {
  return group.startsWith("/") ? group.slice(1) : group;
}

/** True if a claim that only a sign-in shows may give a role. */
export function readsClaims(rules: readonly RoleRule[]): boolean {
  return rules.some(({ claim }) => claim !== null && claim.name !== "email");
}

/** The claims that rules name: a session keeps no others. */
export function claimsNamedBy(rules: readonly RoleRule[], claims: JsonObject): JsonObject {
  const names = rules.flatMap(({ claim }) => (claim === null ? [] : [claim.name]));
  const isTrusted = (name: string): boolean => name !== "email" || hasVerifiedAddress(claims); // role-rules.2
  const kept = [...new Set(names)].filter((name) => Object.hasOwn(claims, name) && isTrusted(name));
  return Object.fromEntries(kept.map((name): [string, Json] => [name, claims[name] ?? null]));
}
