// Keyring: values sealed with AES-256-GCM under named keys, the newest first, each bound to one place.
// Invariants:
//   keyring.1. A sealed text is `~1.<key id>.<base64 of nonce, tag and content>`; no JSON text begins so. Sealed bytes
//        have the same parts, padded to 4n+1 bytes, so that they never look like vectors of float32 (4n bytes).
//   keyring.2. The place of a value (a cell: table, column, row; a record of the spool: file and offset) is associated
//        data: a value in another place does not open, and neither does a changed one.
//   keyring.3. New values get the newest key. Every key of the ring opens.
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomFillSync,
  type KeyObject,
} from "node:crypto";
import { ApiError } from "./api-error.ts";

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

export interface Keyring {
  /** The newest first. */
  readonly ids: readonly string[];
  seal(text: string, place: string): string;
  /** @throws {SealedValueError} */
  open(sealed: string, place: string): string;
  /** @param content whole, or in parts */
  sealBytes(content: string | Uint8Array | readonly Uint8Array[], place: string): Buffer;
  /** @throws {SealedValueError} */
  openBytes(sealed: Uint8Array, place: string): Buffer;
  /** By how many bytes sealed bytes are longer than their content. */
  readonly addedBytes: number;
}

/** A value that its place, its key or its content does not fit. */
export class SealedValueError extends ApiError {
  constructor(detail: string) {
    super("sealed_value_unreadable", detail);
  }
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MARK = "~1.";
const NO_BYTES = Buffer.alloc(0);
const ID = /^[\w-]{1,32}$/;
/** Random bytes are drawn for many values at once. */
const POOL_BYTES = NONCE_BYTES * 512;

/** The lengths of a key as other servers take it: any text, from which a key is derived. */
const TEXT_BYTES: ReadonlySet<number> = new Set([16, 24, 32]);
const TEXT_ID = "langgraph";
/** With or without all of its key: a shortened entry is a mistake, and never a text of that length. */
const ENTRY = /^[\w-]{1,32}:[A-Za-z0-9+/]*={0,2}$/;

/**
 * `id:base64` with commas or lines between them, newest first; or texts of 16, 24 or 32 bytes.
 * @throws {Error} in words that reveal nothing of a key
 */
export function parseKeys(text: string): readonly EncryptionKey[] {
  const isText = (one: string): boolean => TEXT_BYTES.has(Buffer.byteLength(one)) && !ENTRY.test(one);
  const keys = (isText(text) ? [text] : text.split(/[\s,]+/))
    .filter((one) => one !== "")
    .map((one, at): EncryptionKey => {
      if (isText(one)) return deriveKey(TEXT_ID, one);
      const [id = "", encoded = ""] = one.split(/:(.*)/s);
      const key = Buffer.from(encoded, "base64");
      if (!one.includes(":") || !ID.test(id))
        // without a colon it may be the key
        throw new Error(`key ${at + 1} has no id: write id:base64key, or 16, 24 or 32 bytes of text (not shown)`);
      if (key.length !== KEY_BYTES)
        throw new Error(`the key "${id}" is not ${KEY_BYTES} bytes in base64: openssl rand -base64 32 makes one`);
      return { id, key };
    });
  const twice = keys.find(({ id }, at) => keys.findIndex((other) => other.id === id) !== at);
  if (twice !== undefined) throw new Error(`the id "${twice.id}" stands for two keys`);
  if (keys.length === 0) throw new Error("has no key");
  return keys;
}

function deriveKey(id: string, text: string): EncryptionKey {
  return { id, key: new Uint8Array(hkdfSync("sha256", text, "", "holdpoint encryption at rest", KEY_BYTES)) };
}

/** The id of the key of a sealed text or of sealed bytes; null for any other value. */
export function readKeyId(value: unknown): string | null {
  if (typeof value === "string") return value.startsWith(MARK) ? value.slice(MARK.length, value.indexOf(".", 3)) : null;
  return value instanceof Uint8Array && value.length % 4 === 1 ? readBytesKeyId(value) : null;
}

/** The id of the key of sealed bytes of any length; null for bytes that do not begin as they do. */
export function readBytesKeyId(value: Uint8Array): string | null {
  const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, 48)).toString("latin1");
  return head.startsWith(MARK) ? head.slice(MARK.length, head.indexOf(".", 3)).replace(/=+$/, "") : null;
}

/** By how many bytes bytes that were sealed with the key are longer than their content. */
export function countAddedBytes(id: string): number {
  return padHead(id).length + NONCE_BYTES + TAG_BYTES;
}

/** @param keys at least one */
export function createKeyring(keys: readonly EncryptionKey[]): Keyring {
  const ring = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const newest = keys[0]?.id ?? "";
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  const sealParts = (contents: readonly (string | Uint8Array)[], place: string, head: Uint8Array): Buffer => {
    if (used === POOL_BYTES) used = (randomFillSync(pool), 0);
    const nonce = pool.subarray(used, (used += NONCE_BYTES));
    const cipher = createCipheriv(CIPHER, ring.get(newest) as KeyObject, nonce); // keyring.3
    cipher.setAAD(Buffer.from(place)); // keyring.2
    const body = contents.map((one) => (typeof one === "string" ? cipher.update(one, "utf8") : cipher.update(one)));
    cipher.final();
    return Buffer.concat([head, nonce, cipher.getAuthTag(), ...body]);
  };
  const openParts = (id: string | null, parts: Uint8Array, place: string): Buffer => {
    const key = ring.get(id ?? "");
    if (key === undefined) throw new SealedValueError(`${place} is sealed with the key "${id}", which is not given`);
    try {
      const decipher = createDecipheriv(CIPHER, key, parts.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(parts.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      decipher.setAAD(Buffer.from(place));
      const content = decipher.update(parts.subarray(NONCE_BYTES + TAG_BYTES));
      decipher.final();
      return content;
    } catch {
      throw new SealedValueError(
        `${place} does not open with the key "${id}": it was changed, or moved from elsewhere`,
      );
    }
  };
  const text = `${MARK}${newest}.`;
  const bytes = Buffer.from(padHead(newest), "latin1");
  return {
    ids: keys.map(({ id }) => id),
    seal: (content, place) => text + sealParts([content], place, NO_BYTES).toString("base64"),
    open(sealed, place) {
      const id = readKeyId(sealed);
      const parts = Buffer.from(sealed.slice(MARK.length + (id?.length ?? 0) + 1), "base64");
      return openParts(id, parts, place).toString("utf8");
    },
    sealBytes: (content, place) =>
      sealParts(typeof content === "string" || content instanceof Uint8Array ? [content] : content, place, bytes),
    addedBytes: countAddedBytes(newest),
    openBytes(sealed, place) {
      const id = readBytesKeyId(sealed);
      return openParts(id, sealed.subarray(padHead(id ?? "").length), place);
    },
  };
}

/** keyring.1. */
function padHead(id: string): string {
  const bytes = MARK.length + id.length + 1 + NONCE_BYTES + TAG_BYTES;
  return `${MARK}${id}${"=".repeat((5 - (bytes % 4)) % 4)}.`;
}
