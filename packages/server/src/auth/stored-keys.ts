// Stored keys: keys of programs that administrators make, with a role, limits and an expiry.
// Invariants:
//   stored-keys.1. The database holds hashes only. A key is 256 random bits, so a plain hash is enough, and the reply of
//        its creation is the only place that shows it.
//   - The audit trail has the use of an expired key once a day and process.
//   stored-keys.2. Every request reads the key from the storage: one that is revoked on one server is invalid on all.
import { hash, randomBytes } from "node:crypto";
import { isoTime, type Clock } from "@holdpoint/base/clock.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { NewId } from "@holdpoint/base/ids.ts";
import type { Caller, StoredKey } from "../model/model.ts";
import { type Act, buildAct } from "../model/audit/build-act.ts";
import type { AccessRequest, Storage } from "../ports/ports.ts";
import { readOrigin } from "./request-origin.ts";
import { type CallerSource, readCredentials, programCaller, unauthenticated } from "./role-access.ts";

const PREFIX = "hp_";
const KEY = /^hp_[\w-]{43}$/;
const KEYS_MAX = 10_000;
/** The last use of a key and of a session is stored this often. */
export const USE_EVERY_MS = 60_000;
const EXPIRED_EVERY_MS = 24 * 60 * 60 * 1000;

export interface KeyPorts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly newId: NewId;
}

export type NewKey = Pick<StoredKey, "name" | "role" | "limits" | "expiresAt">;

/** SHA-256, as the storage holds keys and tokens of sessions. */
export function tokenHash(token: string): string {
  return hash("sha256", token, "base64url");
}

export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** @returns the key itself, which nothing can show again @throws {ApiError} `key_limit`, `key_name_taken` */
export async function createKey(
  { storage, clock, newId }: KeyPorts,
  caller: Caller,
  given: NewKey,
): Promise<{ readonly stored: StoredKey; readonly key: string }> {
  const key = PREFIX + newToken();
  const createdAt = clock.now();
  const own = { keyId: newId(), hash: tokenHash(key), createdBy: caller.name, createdAt, usedAt: null };
  const stored: StoredKey = { ...given, ...own };
  await storage.transaction(async (tx) => {
    if ((await tx.countKeys()) >= KEYS_MAX)
      throw new ApiError("key_limit", `The server has ${KEYS_MAX} keys: revoke those that nothing uses.`);
    if ((await tx.person(given.name)) !== null)
      throw new ApiError("key_name_taken", `${given.name} is a person here: give the key another name.`);
    await tx.insertKey(stored); // stored-keys.1
    await tx.audit([buildAct(caller, { action: "key_created", at: createdAt, ...describeKey(stored) })]);
  });
  return { stored, key };
}

/** @throws {ApiError} `key_not_found` */
export async function revokeKey(
  { storage, clock }: Pick<KeyPorts, "storage" | "clock">,
  caller: Caller,
  keyId: string,
): Promise<StoredKey> {
  return storage.transaction(async (tx) => {
    const deleted = await tx.deleteKey(keyId);
    if (deleted === null) throw new ApiError("key_not_found", `There is no key ${keyId}.`);
    await tx.audit([buildAct(caller, { action: "key_revoked", at: clock.now(), ...describeKey(deleted) })]);
    return deleted;
  });
}

function describeKey({ keyId, name, role, limits, expiresAt }: StoredKey): Pick<Act, "subject" | "fields"> {
  const { assistants, metadata } = limits;
  const expires = expiresAt === null ? null : isoTime(expiresAt);
  return { subject: name, fields: { key_id: keyId, role, assistants, metadata, expires_at: expires } };
}

/** Callers with a stored key. */
export function storedKeySource({ storage, clock }: Pick<KeyPorts, "storage" | "clock">): CallerSource {
  const noted = new Map<string, number>();
  const noteExpired = async (key: StoredKey, at: number, request: AccessRequest): Promise<void> => {
    if (at - (noted.get(key.keyId) ?? Number.NEGATIVE_INFINITY) < EXPIRED_EVERY_MS) return;
    noted.set(key.keyId, at);
    const act = buildAct(
      { name: key.name, origin: readOrigin(request) },
      { action: "expired_key_used", at, ...describeKey(key) },
    );
    await storage.transaction((tx) => tx.audit([act])).catch(() => noted.delete(key.keyId));
  };
  return async (request) => {
    for (const given of readCredentials(request)) {
      if (!KEY.test(given)) continue;
      const hashed = tokenHash(given);
      const key = await storage.read((tx) => tx.keyByHash(hashed)); // stored-keys.2
      if (key === null) continue;
      const now = clock.now();
      if (key.expiresAt !== null && key.expiresAt <= now) {
        if (request.isRecheck !== true) await noteExpired(key, now, request);
        throw unauthenticated(`The key ${key.name} has expired: ask an administrator for a new one.`);
      }
      if ((key.usedAt ?? 0) <= now - USE_EVERY_MS) void noteUse(storage, key.keyId, now);
      return programCaller(key.name, key.role, key.limits);
    }
    return null;
  };
}

/** A use that is not stored is no reason to reject the request. */
async function noteUse(storage: Storage, keyId: string, at: number): Promise<void> {
  await storage.transactionDeferred((tx) => tx.markKeyUsed(keyId, at)).catch(() => undefined);
}
