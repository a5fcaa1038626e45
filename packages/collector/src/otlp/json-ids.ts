// Ids in JSON: the protocol says hex, plain protobuf JSON says base64, and some senders put hex text into base64.
// Invariants:
//   - The length of a text decides its encoding, never its alphabet: hex text is valid base64 too.
//   - Anything else, and all zero, is no id.
import { isZeroId } from "./decoded.ts";

/** → 32 hex digits, or "". */
export function readTraceId(value: unknown): string {
  const id = typeof value === "string" ? idOfText(value.trim(), 16) : idOfBytes(value, 16);
  return isZeroId(id) ? "" : id;
}

/** → 16 hex digits, or "". */
export function readSpanId(value: unknown): string {
  const id = typeof value === "string" ? idOfText(value.trim(), 8) : idOfBytes(value, 8);
  return isZeroId(id) ? "" : id;
}

/** True for an absent parent, false for an unreadable one. */
export function isNoParent(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.every((byte) => byte === 0);
  return typeof value === "string" && (isZeroId(value.trim()) || /^A+=*$/.test(value.trim()));
}

function idOfText(text: string, bytes: 8 | 16): string {
  if (text.length === 2 * bytes) return parseHex(text);
  if (bytes === 16 && text.length === 36) return parseHex(text.replaceAll("-", ""), 32);
  if (bytes === 16 && text.length === 16) return parseHex(text).padStart(32, "0"); // 64-bit trace ids of older tracers
  const bare = text.replace(/=+$/, "");
  const plainLength = bytes === 16 ? 22 : 11;
  const nestedLength = bytes === 16 ? 43 : 22;
  if (bare.length !== plainLength && bare.length !== nestedLength) return "";
  if (!/^[A-Za-z0-9+/_-]+$/.test(bare)) return "";
  const decoded = Buffer.from(bare, "base64");
  if (decoded.length === bytes) return decoded.toString("hex");
  return decoded.length === 2 * bytes ? parseHex(decoded.toString("latin1")) : "";
}

function parseHex(text: string, length = text.length): string {
  return text.length === length && /^[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : "";
}

/** `[171, …]`, `{type: "Buffer", data: […]}` and `{"0": 171, …}`: byte arrays as some serialisers write them. */
function idOfBytes(value: unknown, bytes: number): string {
  if (typeof value !== "object" || value === null) return "";
  const held: unknown = "data" in value ? value.data : value;
  if (typeof held !== "object" || held === null) return "";
  const list: unknown[] = Array.isArray(held) ? held : Object.values(held).slice(0, bytes + 1);
  if (list.length !== bytes) return "";
  if (!list.every((byte) => typeof byte === "number" && Number.isInteger(byte) && byte >= 0 && byte <= 255)) return "";
  return Buffer.from(list as number[]).toString("hex");
}
