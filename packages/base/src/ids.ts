// Ids. Keys of stored rows are UUIDv7: neighbours in time are neighbours on disk.
import { createHash, hash, randomFillSync } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export type NewId = () => string;

const RANDOM_POOL_BYTES = 4096;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A source of UUIDv7 that never goes backwards, also when the wall clock does
 * (RFC 9562, 6.2 method 1: a 12-bit counter after the millisecond).
 * @param after an id from before a restart: all new ids follow it.
 */
export function createIdSource(now: () => number, after: string | null = null): NewId {
  const pool = Buffer.allocUnsafe(RANDOM_POOL_BYTES);
  let poolAt = RANDOM_POOL_BYTES;
  let lastMs = after === null ? 0 : Number.parseInt(after.replaceAll("-", "").slice(0, 12), 16) + 1;
  let counter = 0;
  return () => {
    if (poolAt + 8 > RANDOM_POOL_BYTES) {
      randomFillSync(pool);
      poolAt = 0;
    }
    const ms = Math.floor(now());
    if (ms > lastMs) {
      lastMs = ms;
      counter = ((pool[poolAt] ?? 0) << 2) | 1; // a random start leaves room to count up within the millisecond
    } else if (++counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, "0");
    const tail = byteHex(0x80 | ((pool[poolAt] ?? 0) & 0x3f)) + hexRange(pool, poolAt + 1, 7);
    poolAt += 8;
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

/** The lowest id of a millisecond: ids that createIdSource creates then or later sort after it. */
export function firstIdAt(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

function byteHex(byte: number): string {
  return HEX[byte] ?? "00";
}

function hexRange(bytes: Buffer, from: number, count: number): string {
  let hex = "";
  for (let at = from; at < from + count; at++) hex += byteHex(bytes[at] ?? 0);
  return hex;
}

/** Name-based UUID (RFC 9562, version 5): the same name in the same namespace always yields the same id. */
export function uuidV5(name: string, namespace: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Equal texts have equal hashes; different texts collide with probability 2^-128. 43 characters of SHA-256. */
export function contentHash(text: string): string {
  return hash("sha256", text, "base64url");
}
