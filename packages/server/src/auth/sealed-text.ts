// Sealed text: a secret of a session in the storage, readable only with the session's token, which the browser has.
//   sealed-text.1. Without the token, the stored form tells nothing but its length; a changed form opens to nothing.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

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
