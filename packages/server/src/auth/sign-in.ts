// Sign-in: from the address of the provider to a session. States of one attempt:
//   begun      its secrets are in a cookie of the browser, named after its state; ten minutes
//   returned   the provider sent the browser back with a code and the state
//   identified the code is redeemed, and state, nonce and PKCE verifier have been checked
//   signed in  the person is in the directory, the browser has a new session
// Invariants:
//   sign-in.1. An attempt ends in the browser that began it: without its cookie, a code is worth nothing here.
//   sign-in.2. Every end removes the cookie, so an attempt has one end.
//   sign-in.3. The page afterwards is one of this server.
//   sign-in.4. A name belongs to the subject that signed in with it first. Another subject with the same name is
//        refused: it would act in the audit trail as the first one.
//   sign-in.7. A sign-in without any role takes the rights of earlier ones: sessions end, and votes do not count.
//   sign-in.6. A person never has the name of a key: a program and a person would be one in votes and in the audit trail.
//   sign-in.5. A person without a role does not enter the directory, and no session begins.
import type { Clock } from "@holdpoint/base/clock.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Person } from "../model/model.ts";
import type { AccessRequest, Identity, IdentityProvider, SignInAttempt, Storage } from "../ports/ports.ts";
import type { Cookies } from "./cookies.ts";
import { readPerson, type PersonClaims } from "./person-claims.ts";
import { claimsNamedBy, findGrant, type RoleRule } from "./role-rules.ts";
import type { Sessions } from "./sessions.ts";

/** Reason for a failed sign-in, for its page. */
export type SignInFailure = "expired" | "denied" | "failed" | "unreachable" | "no_role" | "name_taken";

export type SignInEnd =
  | { readonly returnTo: string; readonly cookies: readonly string[] }
  | { readonly failure: SignInFailure; readonly cookies: readonly string[] };

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
}

const ATTEMPT_MS = 10 * 60 * 1000;
const STATE = /^[\w-]{16,128}$/;
const RETURN_UNITS_MAX = 2000;

interface Attempt extends SignInAttempt {
  readonly returnTo: string;
  readonly at: number;
}

const cookieName = (state: string): string => `holdpoint-sign-in-${state.slice(0, 16)}`;

/** @param returnTo path of the page to show afterwards @throws {Error} if the provider cannot be reached */
export async function beginSignIn(
  { provider, cookies, clock }: SignInPorts,
  redirectUri: string,
  returnTo: string,
): Promise<{ readonly url: string; readonly cookie: string }> {
  const secrets = provider.newAttempt();
  const attempt: Attempt = { ...secrets, returnTo, at: clock.now() };
  const value = Buffer.from(JSON.stringify(attempt)).toString("base64url");
  return {
    url: await provider.authorizationUrl(secrets, redirectUri),
    cookie: cookies.write(cookieName(secrets.state), value, ATTEMPT_MS / 1000),
  };
}

/** @param callback the address of the callback, with its query */
export async function endSignIn(ports: SignInPorts, request: AccessRequest, callback: URL): Promise<SignInEnd> {
  const state = callback.searchParams.get("state") ?? "";
  const attempt = STATE.test(state) ? attemptIn(ports, request, state) : null;
  if (attempt === null) return { failure: "expired", cookies: [] }; // sign-in.1
  const removed = ports.cookies.write(cookieName(state), "", 0); // sign-in.2
  const failed = (failure: SignInFailure, reason: string): SignInEnd => {
    ports.log.warning("sign_in_failed", { failure, reason });
    return { failure, cookies: [removed] };
  };
  const refusal = callback.searchParams.get("error");
  if (refusal !== null) return failed(refusal === "access_denied" ? "denied" : "failed", refusal.slice(0, 200));
  let identity: Identity;
  try {
    identity = await ports.provider.identify(callback, attempt);
  } catch (error) {
    return failed("failed", formatReason(error));
  }
  const person = readPerson(identity, ports.claims, ports.clock.now());
  if (findGrant(ports.rules, person.groups, claimsNamedBy(ports.rules, identity.claims)) === null) {
    await loseRole(ports, person); // sign-in.7
    return failed("no_role", `${person.name} has no group or claim of HOLDPOINT_ROLES`); // sign-in.5
  }
  const cookie = await enter(ports, request, person, identity);
  if (cookie === null) return failed("name_taken", `${person.name} belongs to another subject or to a key`);
  ports.log.info("signed_in", { name: person.name });
  return { returnTo: attempt.returnTo, cookies: [removed, cookie] };
}

function attemptIn({ cookies, clock }: SignInPorts, request: AccessRequest, state: string): Attempt | null {
  const value = cookies.read(request, cookieName(state));
  if (value === null) return null;
  let parsed: Json;
  try {
    parsed = JSON.parse(Buffer.from(value, "base64url").toString()) as Json;
  } catch {
    return null;
  }
  if (!isJsonObject(parsed) || parsed["state"] !== state) return null;
  const { nonce, verifier, returnTo, at } = parsed as JsonObject & Attempt;
  if (![nonce, verifier, returnTo].every((one) => typeof one === "string") || typeof at !== "number") return null;
  return clock.now() - at < ATTEMPT_MS ? { state, nonce, verifier, returnTo, at } : null;
}

/** sign-in.7. Somebody who never had a role stays unknown. */
async function loseRole({ storage, sessions, clock }: SignInPorts, person: Person): Promise<void> {
  const name = await storage.transaction(async (tx) => {
    const known = await tx.readPerson(person.issuer, person.subject);
    if (known === null) return null;
    await tx.putPerson({ ...person, name: known.name, createdAt: known.createdAt, seenAt: clock.now() });
    return known.name;
  });
  if (name !== null)
    await sessions.endAtProvider({ issuer: person.issuer, subject: person.subject, providerSession: null });
}

/** Into the directory, with a session. @returns `Set-Cookie`, or null if the name is taken (sign-in.4) */
async function enter(
  { storage, sessions, rules, clock, keyNames }: SignInPorts,
  request: AccessRequest,
  person: Person,
  { claims, idToken }: Identity,
): Promise<string | null> {
  const sid = claims["sid"];
  const origin = {
    providerSession: typeof sid === "string" ? sid : null,
    idToken,
    claims: claimsNamedBy(rules, claims),
  };
  return storage.transaction(async (tx) => {
    const known = await tx.readPerson(person.issuer, person.subject);
    const own = known === null ? person : { ...person, name: known.name, createdAt: known.createdAt };
    if (keyNames.has(own.name) || (await tx.keysNamed(own.name)).length > 0) return null; // sign-in.6
    if (!(await tx.putPerson({ ...own, seenAt: clock.now() }))) return null;
    return sessions.open(tx, own.name, request, origin);
  });
}

/** The path as a page of this server; anything else leads to `fallback` (sign-in.3). */
export function safeReturn(given: string | undefined, base: string, fallback: string): string {
  if (given === undefined || given.length > RETURN_UNITS_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given))
    return fallback;
  const { origin } = new URL(base);
  return URL.canParse(given, base) && new URL(given, base).origin === origin ? given : fallback;
}

/** Errors of the library carry the provider's own code as their cause. */
function formatReason(error: unknown): string {
  const { message } = describeError(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${message}${cause}`.slice(0, 500);
}
