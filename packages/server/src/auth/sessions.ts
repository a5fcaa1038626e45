// Sessions of people in browsers: a random token in a cookie, its hash in the storage.
// Invariants:
//   - Every request reads the session from the storage: one that ended on one server has ended on all.
//   sessions.2. A session ends at its expiry, after the idle time without a request, with its sign-out, and when its
//        person is removed or has no role any more.
//   - A request that changes something needs proof that a page of this server sent it. So does a WebSocket.
//   sessions.4. A rotation replaces the token. The old one works until the new one has been used, and a minute longer,
//        for requests on their way and lost replies.
//   - Credentials in headers take precedence: a request with a key is never made in the name of a cookie.
//   - The provider's ID token is sealed with the token of the session: the storage alone cannot show it.
//   - Cookies ignore ports, so the name has the server's: servers on one host do not sign each other out.
//   sealed-text.1. Without the token, the stored form tells nothing but its length; a changed form opens to nothing.
import type { Clock } from "@holdpoint/base/clock.ts";
import { isStorageFailure } from "@holdpoint/base/storage-failure.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Caller, Person, Session } from "../model/model.ts";
import type { AccessChanges, AccessRequest, PeopleTx, ProviderLogout, SessionTx, Storage } from "../ports/ports.ts";
import type { Cookies } from "./cookies.ts";
import { type CallerSource, personCaller, unauthenticated } from "./role-access.ts";
import { findGrant, type RoleRule } from "./role-rules.ts";
import { newToken, tokenHash, USE_EVERY_MS } from "./stored-keys.ts";
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const ROTATE_EVERY_MS = 60 * 60 * 1000;
const PREVIOUS_MS = 60_000;
const TOKEN = /^[\w-]{43}$/;

export interface SessionPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly cookies: Cookies;
  readonly rules: readonly RoleRule[];
  /** Time without a request after which a session ends. */
  readonly idleMs: number;
  /** Life of a session, however much it is used. */
  readonly lifeMs: number;
  /** Address of the server as people reach it; null where the port of a request tells it. */
  readonly publicUrl: string | null;
  readonly changes: AccessChanges;
}

export interface Sessions {
  readonly source: CallerSource;
  /** Stores a new session of the person, in place of the one that the browser had. @returns `Set-Cookie` */
  open(tx: PeopleTx & SessionTx, person: string, request: AccessRequest, from: SessionOrigin): Promise<string>;
  /** Replaces the token if it is old enough (sessions.4). @returns `Set-Cookie`, or null */
  rotate(request: AccessRequest): Promise<string | null>;
  /** Ends the session of the request. @returns the ended one, and `Set-Cookie` */
  end(request: AccessRequest): Promise<{ readonly session: EndedSession | null; readonly cookie: string }>;
  /** Ends the sessions that a logout at the provider means. @returns their number */
  endAtProvider(logout: ProviderLogout): Promise<number>;
  /** Deletes sessions that have ended by time. */
  sweep(): Promise<void>;
}

export interface SessionOrigin extends Pick<Session, "providerSession" | "claims"> {
  readonly idToken: string;
}

export interface EndedSession {
  readonly person: string;
  /** Null after a rotation that this browser has not seen. */
  readonly idToken: string | null;
}

export function createSessions(ports: SessionPorts): Sessions {
  const { storage, clock, cookies, idleMs, lifeMs, changes } = ports;
  const nameFor = (request: AccessRequest): string => sessionCookie(ports.publicUrl, request);
  const writeCookie = (request: AccessRequest, token: string, ms: number): string =>
    cookies.write(nameFor(request), token, Math.ceil(ms / 1000));
  const tokenIn = (request: AccessRequest): string | null => {
    const token = cookies.read(request, nameFor(request));
    return token === null || !TOKEN.test(token) ? null : token;
  };
  const hashIn = (request: AccessRequest): string | null => {
    const token = tokenIn(request);
    return token === null ? null : tokenHash(token);
  };
  return {
    source: async (request) => {
      const hash = hashIn(request);
      if (hash === null || hasCredentials(request)) return null;
      const found = await live(ports, hash, request.isRecheck !== true);
      if (found === null) throw unauthenticated("Your session has ended: sign in again.");
      requireSameOrigin(request);
      return buildCaller(ports.rules, found);
    },
    async open(tx, person, request, from) {
      const before = hashIn(request);
      const old = before === null ? null : await tx.sessionByToken(before);
      if (old !== null) await tx.deleteSession(old.sessionId);
      const token = newToken();
      const now = clock.now();
      const times = { rotatedAt: now, createdAt: now, usedAt: now, expiresAt: now + lifeMs };
      const own = { sessionId: ports.newId(), person, tokenHash: tokenHash(token), previousHash: null };
      const { idToken, ...rest } = from;
      const sealedIdToken = seal(idToken, token);
      await tx.insertSession({ ...own, ...rest, sealedIdToken, ...times, previousUntil: null });
      return writeCookie(request, token, lifeMs);
    },
    async rotate(request) {
      const before = tokenIn(request);
      if (before === null) return null;
      const hash = tokenHash(before);
      const found = await live(ports, hash, true);
      const now = clock.now();
      if (found === null || found.session.tokenHash !== hash) return null;
      const { sessionId, rotatedAt, expiresAt, sealedIdToken } = found.session;
      if (now - rotatedAt < Math.min(ROTATE_EVERY_MS, lifeMs / 4)) return null;
      const token = newToken();
      const idToken = unseal(sealedIdToken, before);
      const sealed = idToken === null ? "" : seal(idToken, token);
      const rotation = { sessionId, from: hash, to: tokenHash(token), sealedIdToken: sealed, at: now };
      const won = await storage.transaction((tx) => tx.rotateSession(rotation)).catch(notRotated);
      return won ? writeCookie(request, token, expiresAt - now) : null;
    },
    async end(request) {
      const token = tokenIn(request);
      const cookie = writeCookie(request, "", 0);
      if (token === null) return { session: null, cookie };
      requireSameOrigin(request);
      const session = await storage.transaction(async (tx) => {
        const own = await tx.sessionByToken(tokenHash(token));
        if (own !== null) await tx.deleteSession(own.sessionId);
        return own;
      });
      if (session === null) return { session: null, cookie };
      const { person, sealedIdToken } = session;
      changes.ended(person);
      return { session: { person, idToken: unseal(sealedIdToken, token) }, cookie };
    },
    async endAtProvider(logout) {
      const ended = await storage.transaction((tx) => deleteAtProvider(tx, logout));
      for (const person of new Set(ended)) changes.ended(person);
      return ended.length;
    },
    async sweep() {
      const now = clock.now();
      await storage.transaction((tx) => tx.deleteOldSessions(now, now - idleMs));
    },
  };
}

/** The old token goes on while the storage takes no writes (sessions.4). */
function notRotated(error: unknown): false {
  if (isStorageFailure(error)) return false;
  throw error;
}

/** @returns the person of each session that a logout at the provider means */
async function deleteAtProvider(
  tx: PeopleTx & SessionTx,
  { issuer, subject, providerSession }: ProviderLogout,
): Promise<readonly string[]> {
  if (subject === null) return providerSession === null ? [] : tx.deleteSessionsAt(providerSession);
  const person = await tx.readPerson(issuer, subject);
  if (person === null) return [];
  const count = await tx.deletePersonSessions(person.name, providerSession);
  return Array.from({ length: count }, () => person.name);
}

interface Live {
  readonly session: Session;
  readonly person: Person;
}

function sessionCookie(publicUrl: string | null, { headers: { host } }: AccessRequest): string {
  const port = typeof host === "string" ? (/:(\d+)$/.exec(host)?.[1] ?? "80") : "80";
  return `holdpoint-session-${publicUrl === null ? port : tokenHash(publicUrl).slice(0, 10)}`;
}

/** sessions.2. @param isUse whether it counts as a request of the person */
async function live({ storage, clock, idleMs }: SessionPorts, hash: string, isUse: boolean): Promise<Live | null> {
  const found = await storage.read(async (tx) => {
    const session = await tx.sessionByToken(hash);
    return session === null ? null : { session, person: await tx.person(session.person) };
  });
  if (found?.person === undefined || found.person === null) return null;
  const { session, person } = found;
  const now = clock.now();
  if (session.expiresAt <= now || session.usedAt + idleMs <= now) return null;
  const isPrevious = session.tokenHash !== hash;
  if (isPrevious && session.previousUntil !== null && session.previousUntil <= now) return null; // sessions.4
  const isFirstUse = !isPrevious && session.previousHash !== null && session.previousUntil === null;
  if (isUse && (isFirstUse || session.usedAt <= now - USE_EVERY_MS)) void noteUse(storage, session, now, isFirstUse);
  return { session, person };
}

/** A use that is not stored is no reason to reject the request. */
async function noteUse(storage: Storage, session: Session, at: number, ofNewToken: boolean): Promise<void> {
  const { sessionId, person } = session;
  const write = async (tx: PeopleTx & SessionTx): Promise<void> => {
    await tx.markSessionUsed(sessionId, at);
    await tx.markSeen(person, at);
    if (ofNewToken) await tx.limitPrevious(sessionId, at + PREVIOUS_MS);
  };
  await storage.transactionDeferred(write).catch(() => undefined);
}

/** @throws {ApiError} `forbidden` */
function buildCaller(rules: readonly RoleRule[], { session, person }: Live): Caller {
  const grant = findGrant(rules, person.groups, session.claims);
  if (grant !== null) return personCaller(person, grant.role, grant.limits);
  throw new ApiError("forbidden", "None of your groups has access any more: ask an administrator, then sign in again.");
}

function hasCredentials({ headers }: AccessRequest): boolean {
  return headers["x-api-key"] !== undefined || headers["authorization"] !== undefined;
}

/** Browsers that do not send Sec-Fetch-Site send Origin. @throws {ApiError} `forbidden_origin` */
function requireSameOrigin({ method, headers }: AccessRequest): void {
  const reads = method === "GET" || method === "HEAD";
  if (reads && headers["upgrade"] === undefined) return;
  const { "sec-fetch-site": site, origin, host } = headers;
  if (site === "same-origin") return;
  if (site === undefined && typeof origin === "string" && origin.replace(/^https?:\/\//, "") === host) return;
  const detail = "A signed-in browser changes something only from a page of this server. Programs send a key.";
  throw new ApiError("forbidden_origin", detail);
}

// A secret of a session in the storage, readable only with the session's token, which the browser has.

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyFrom = (token: string): Buffer => Buffer.from(hkdfSync("sha256", token, "", "holdpoint sealed text", 32));

/** @param token 256 random bits as text @returns base64url */
export function seal(text: string, token: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyFrom(token), iv);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
}

/** @returns null for another token, or for a text that seal() did not return */
export function unseal(sealed: string, token: string): string | null {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, keyFrom(token), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return null; // sealed-text.1
  }
}
