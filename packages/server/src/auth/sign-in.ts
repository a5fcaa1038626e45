// Sign-in: from the address of the provider to a session. States of one attempt:
//   begun      its secrets are in a cookie of the browser; ten minutes
//   returned   the provider sent the browser back with a code and the state
//   identified the code is redeemed, and state, nonce and PKCE verifier have been checked
//   signed in  the person is in the directory, the browser has a new session
// Invariants:
//   - An attempt ends in the browser that began it: without its cookie, a code is worth nothing here.
//   - Every end removes the cookie, so an attempt has one end. A success removes those of all attempts.
//   - The page afterwards is one of this server.
//   - A name belongs to the subject that signed in with it first. Another subject with the same name is refused: it
//     would act in the audit trail as the first one.
//   - A sign-in without any role takes the rights of earlier ones: sessions end, and votes do not count.
//   - A person never has the name of a key: a program and a person would be one in votes and in the audit trail.
//   sign-in.8. Attempts share five cookie names, whatever number of pages begins one: more would make every request too
//        large. A sixth takes the place of the oldest.
//   sign-in.9. The state carries the wanted page, so that an attempt that is over (the back button, a page left open)
//        still leads there. The provider's word that its own page has expired begins one more attempt, once.
//   sign-in.10. Without the user info, the ID token has to give a name and a role; a sign-in that fails for want of it
//        takes no rights.
//   - A person without a role does not enter the directory, and no session begins.
import type { Clock } from "@holdpoint/base/clock.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { buildAct } from "../model/audit/build-act.ts";
import type { AuditEntry, Person, Role } from "../model/model.ts";
import type { AccessRequest, Identity, IdentityProvider, SignInAttempt, SignInStep, Storage } from "../ports/ports.ts";
import type { Cookies } from "./cookies.ts";
import { describeGroups, findName, hasUnreadGroups, readPerson, type PersonClaims } from "./person-claims.ts";
import { claimsNamedBy, findGrant, type RoleRule } from "./role-rules.ts";
import type { Refusals } from "./refusals.ts";
import { readOrigin } from "./request-origin.ts";
import type { Sessions } from "./sessions.ts";

/** Reason for a failed sign-in, for its page. */
export type SignInFailure = "expired" | "denied" | "failed" | "unreachable" | "no_role" | "name_taken";

/** `returnTo` is the wanted page, unchecked; null if nobody knows it any more. */
export interface SignInEnd {
  readonly returnTo: string | null;
  /** Null for a person who is signed in now. */
  readonly failure: SignInFailure | null;
  /** The provider's page had expired: begin again, unless that was done before (sign-in.9). */
  readonly again: boolean;
  readonly cookies: readonly string[];
}

export interface SignInPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
  readonly provider: IdentityProvider;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly rules: readonly RoleRule[];
  readonly claims: PersonClaims;
  /** Names of the keys in the settings. */
  readonly keyNames: ReadonlySet<string>;
  readonly refusals: Pick<Refusals, "note">;
}

const ATTEMPT_MS = 10 * 60 * 1000;
const STATE = /^[\w-]{16,128}(\.[\w-]{1,1000})?$/;
const RETURN_UNITS_MAX = 700;

interface Attempt extends SignInAttempt {
  readonly at: number;
}

/** sign-in.8. */
const COOKIE_NAMES = [1, 2, 3, 4, 5].map((place) => `holdpoint-sign-in-${place}`);

/**
 * @param returnTo path of the page to show afterwards
 * @param isSecond whether the provider ended the attempt before this one (sign-in.9)
 * @throws {Error} if the provider cannot be reached
 */
export async function beginSignIn(
  ports: SignInPorts,
  request: AccessRequest,
  { redirectUri, returnTo, isSecond }: Readonly<{ redirectUri: string; returnTo: string; isSecond: boolean }>,
): Promise<{ readonly url: string; readonly cookie: string }> {
  const { provider, cookies, clock } = ports;
  const fresh = provider.newAttempt();
  const page = Buffer.from(`${isSecond ? "2" : "1"}${returnTo}`).toString("base64url");
  const attempt: Attempt = { ...fresh, state: `${fresh.state}.${page}`, at: clock.now() };
  const value = Buffer.from(JSON.stringify(attempt)).toString("base64url");
  return {
    url: await provider.authorizationUrl(attempt, redirectUri),
    cookie: cookies.write(choosePlace(ports, request, attempt.state), value, ATTEMPT_MS / 1000),
  };
}

/** A free name, else the one of the oldest attempt. Pages that begin at the same time seldom meet on one. */
function choosePlace(ports: SignInPorts, request: AccessRequest, state: string): string {
  const begunAt = (name: string): number => readAttempt(ports, request, name)?.at ?? 0;
  const start = Buffer.from(state)[0] ?? 0;
  const names = COOKIE_NAMES.map((_, index) => COOKIE_NAMES[(start + index) % COOKIE_NAMES.length] ?? "");
  return names.reduce((oldest, name) => (begunAt(name) < begunAt(oldest) ? name : oldest));
}

/** sign-in.9. */
function readPage(state: string): { readonly returnTo: string | null; readonly isSecond: boolean } {
  const page = Buffer.from(state.split(".")[1] ?? "", "base64url").toString();
  return { returnTo: page === "" ? null : page.slice(1), isSecond: page.startsWith("2") };
}

/** @param callback the address of the callback, with its query */
export async function endSignIn(ports: SignInPorts, request: AccessRequest, callback: URL): Promise<SignInEnd> {
  const given = callback.searchParams.get("state") ?? "";
  const state = STATE.test(given) ? given : "";
  const { returnTo, isSecond } = readPage(state);
  const place = state === "" ? null : findPlace(ports, request, state);
  const attempt = place === null ? null : readAttempt(ports, request, place);
  const cookies = place === null ? [] : [ports.cookies.write(place, "", 0)];
  const refusal = callback.searchParams.get("error");
  const description = callback.searchParams.get("error_description") ?? "";
  const again = !isSecond && [refusal, description].includes("authentication_expired"); // sign-in.9
  let who: string | null = null;
  const failed = (failure: SignInFailure, reason: string, step: SignInStep | null = null): SignInEnd => {
    ports.log.warning("sign_in_failed", { failure, ...(step === null ? {} : { step }), reason });
    ports.refusals.note(failure, request, who);
    return { returnTo, failure, again: false, cookies };
  };
  if (attempt === null) return { returnTo, failure: "expired", again, cookies };
  if (again) return { returnTo, failure: "expired", again, cookies };
  if (refusal !== null) {
    const reason = `${refusal} ${description}`.trim().slice(0, 300);
    return failed(refusal === "access_denied" ? "denied" : "failed", reason);
  }
  const identity = await ports.provider.identify(callback, attempt);
  if ("step" in identity) return failed("failed", identity.reason, identity.step);
  const fault = identity.userInfoFault;
  if (fault !== null) ports.log.warning("sign_in_user_info_unread", { step: "userinfo", reason: fault });
  const person = readPerson(identity, ports.claims, ports.clock.now());
  who = person.name;
  const seen = describeGroups(identity.claims, ports.claims);
  if (hasUnreadGroups(identity.claims, ports.claims))
    ports.log.warning("sign_in_groups_unread", { name: person.name, seen });
  const grant = findGrant(ports.rules, person.groups, claimsNamedBy(ports.rules, identity.claims));
  if (fault !== null && (grant === null || findName(identity, ports.claims) === null))
    return failed("failed", `the ID token alone has no name or no role: ${fault}; ${seen}`, "userinfo"); // sign-in.10
  if (grant === null) {
    await loseRole(ports, request, person);
    return failed("no_role", `${person.name} has no group or claim of HOLDPOINT_ROLES: ${seen}`);
  }
  const cookie = await enter(ports, request, { person, role: grant.role, identity });
  if (cookie === null) return failed("name_taken", `${person.name} belongs to another subject or to a key`);
  ports.log.info("signed_in", { name: person.name });
  const open = COOKIE_NAMES.filter((name) => name === place || ports.cookies.read(request, name) !== null);
  return {
    returnTo,
    failure: null,
    again: false,
    cookies: [...open.map((name) => ports.cookies.write(name, "", 0)), cookie],
  };
}

function findPlace(ports: SignInPorts, request: AccessRequest, state: string): string | null {
  return COOKIE_NAMES.find((name) => readAttempt(ports, request, name)?.state === state) ?? null;
}

function readAttempt({ cookies, clock }: SignInPorts, request: AccessRequest, name: string): Attempt | null {
  const value = cookies.read(request, name);
  if (value === null) return null;
  let parsed: Json;
  try {
    parsed = JSON.parse(Buffer.from(value, "base64url").toString()) as Json;
  } catch {
    return null;
  }
  if (!isJsonObject(parsed)) return null;
  const { state, nonce, verifier, at } = parsed as JsonObject & Attempt;
  if (![state, nonce, verifier].every((one) => typeof one === "string") || typeof at !== "number") return null;
  return clock.now() - at < ATTEMPT_MS ? { state, nonce, verifier, at } : null;
}

/** Somebody who never had a role stays unknown. */
async function loseRole(ports: SignInPorts, request: AccessRequest, person: Person): Promise<void> {
  const { storage, sessions, clock } = ports;
  const name = await storage.transaction(async (tx) => {
    const known = await tx.readPerson(person.issuer, person.subject);
    if (known === null) return null;
    await tx.putPerson({ ...person, name: known.name, createdAt: known.createdAt, seenAt: clock.now() });
    await tx.audit(describeRole(ports, request, { known, role: null, claims: {} }));
    return known.name;
  });
  if (name !== null)
    await sessions.endAtProvider({ issuer: person.issuer, subject: person.subject, providerSession: null });
}

/** Into the directory, with a session. @returns `Set-Cookie`, or null if the name is taken */
async function enter(
  ports: SignInPorts,
  request: AccessRequest,
  { person, role, identity }: { readonly person: Person; readonly role: Role; readonly identity: Identity },
): Promise<string | null> {
  const { storage, sessions, rules, clock, keyNames } = ports;
  const { claims, idToken } = identity;
  const sid = claims["sid"];
  const origin = {
    providerSession: typeof sid === "string" ? sid : null,
    idToken,
    claims: claimsNamedBy(rules, claims),
  };
  return storage.transaction(async (tx) => {
    const known = await tx.readPerson(person.issuer, person.subject);
    const own = known === null ? person : { ...person, name: known.name, createdAt: known.createdAt };
    if (keyNames.has(own.name) || (await tx.keysNamed(own.name)).length > 0) return null;
    const at = clock.now();
    if (!(await tx.putPerson({ ...own, seenAt: at }))) return null;
    const cookie = await sessions.open(tx, own.name, request, origin);
    const author = { name: own.name, origin: readOrigin(request) };
    const changed = known === null ? [] : describeRole(ports, request, { known, role, claims: origin.claims });
    await tx.audit([buildAct(author, { action: "signed_in", at, subject: own.name, fields: { role } }), ...changed]);
    return cookie;
  });
}

/** The act of a sign-in with another role than the directory gave. The claims of the earlier sign-in are not stored. */
function describeRole(
  { rules, clock }: SignInPorts,
  request: AccessRequest,
  { known, role, claims }: { readonly known: Person; readonly role: Role | null; readonly claims: JsonObject },
): readonly AuditEntry[] {
  const before = { ...claims, ...(known.email === null ? {} : { email: known.email }) };
  const from = findGrant(rules, known.groups, before)?.role ?? null;
  if (from === role) return [];
  const author = { name: known.name, origin: readOrigin(request) };
  return [
    buildAct(author, { action: "role_changed", at: clock.now(), subject: known.name, fields: { from, to: role } }),
  ];
}

/** The path as a page of this server; anything else leads to `fallback`. */
export function safeReturn(given: string | null | undefined, base: string, fallback: string): string {
  if (typeof given !== "string" || given.length > RETURN_UNITS_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given))
    return fallback;
  const { origin } = new URL(base);
  return URL.canParse(given, base) && new URL(given, base).origin === origin ? given : fallback;
}
