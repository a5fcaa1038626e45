// API keys: the setting's syntax, its digests, and the authentication of requests.
// Invariants:
//   api-keys.1. Memory holds only digests under a secret of this process. Comparisons take constant time.
//   - Every request compares with every key, so that timing reveals no near match.
//   api-keys.3. A key without a role is an administrator's.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { setting, ShownReason, type Setting } from "@holdpoint/base/config/config.ts";
import type { Role } from "../model/model.ts";
import { type CallerSource, readCredentials, programCaller } from "./role-access.ts";
import { NO_LIMITS } from "./role-limits.ts";
import { isRole } from "./roles.ts";

export interface ApiKey {
  /** User name for the audit trail. Several keys may share a name during a rotation. */
  readonly name: string;
  readonly digest: Buffer;
  readonly role: Role;
  /** Short enough for a brute-force attack. */
  readonly weak: boolean;
}

const KEYS_MAX = 1000;
const KEY_UNITS_MAX = 512;
const GOOD_KEY_UNITS = 20;
const NAME = /^[\w.@+-]{1,128}$/;
const KEY = /^[\x21-\x7e]+$/;
const PROCESS_SECRET = randomBytes(32);

function digestKey(key: string): Buffer {
  return createHmac("sha256", PROCESS_SECRET).update(key).digest(); // api-keys.1
}

/** `name:key`, `name:key:role` or a bare key, separated by commas, blanks or lines. */
export function apiKeysSetting(name: string, meaning: string): Setting<readonly ApiKey[] | null> {
  const limits = `1 to ${KEYS_MAX} of name:key, name:key:role or key`;
  const kind = { type: "list of keys", fallback: null, limits };
  return setting<readonly ApiKey[] | null>(name, kind, { meaning, secret: true }, parseApiKeys);
}

/** @throws {ShownReason} by position, never by value. */
export function parseApiKeys(text: string): readonly ApiKey[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length === 0) throw new ShownReason("names no key");
  if (entries.length > KEYS_MAX) throw new ShownReason(`has more than ${KEYS_MAX} keys`);
  const keys: ApiKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const parsed = parseEntry(entry);
    if (typeof parsed === "string") throw new ShownReason(`entry ${index + 1} ${parsed} (not shown)`);
    const twin = keys.findIndex((other) => other.digest.equals(parsed.digest));
    if (twin >= 0) throw new ShownReason(`entries ${twin + 1} and ${index + 1} have the same key (not shown)`);
    keys.push(parsed);
  }
  return keys;
}

/** @returns the key, or the reason for its rejection */
function parseEntry(entry: string): ApiKey | string {
  const [first = "", second, right, ...more] = entry.split(":");
  const key = second ?? first;
  if (key === "") return "has no key";
  if (key.length > KEY_UNITS_MAX) return `has a key of more than ${KEY_UNITS_MAX} characters`;
  if (!KEY.test(key)) return "has a key with other characters than those of ASCII";
  if (second !== undefined && !NAME.test(first)) return "has a name with other characters than letters, digits, _.@+-";
  const role = right ?? "admin"; // api-keys.3
  if (!isRole(role) || more.length > 0)
    return "is not of the form name:key or name:key:role, with the role viewer, reviewer, operator or admin";
  return {
    name: second === undefined ? `key-${createHash("sha256").update(key).digest("hex").slice(0, 8)}` : first,
    digest: digestKey(key),
    role,
    weak: key.length < GOOD_KEY_UNITS,
  };
}

/** Callers with a key of the setting. */
export function apiKeySource(keys: readonly ApiKey[]): CallerSource {
  return async (request) => {
    let found: ApiKey | null = null;
    for (const given of readCredentials(request)) {
      const digest = digestKey(given);
      for (const key of keys) {
        const same = timingSafeEqual(key.digest, digest); // never leaves the loop early
        if (same && found === null) found = key;
      }
    }
    return found === null ? null : programCaller(found.name, found.role, NO_LIMITS);
  };
}
