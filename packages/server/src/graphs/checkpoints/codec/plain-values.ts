// Plain values: the checks and conversions that encoding, decoding and the form for clients share.
import { TAG } from "../../../model/model.ts";

/** Below this depth the check looks for cycles; above it the plain check suffices. */
const PLAIN_LEVELS_MAX = 200;

/** True if JSON.stringify alone is exact: most state is, and the check costs far less than a copy. */
export function isPlain(value: unknown, levels = PLAIN_LEVELS_MAX): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || levels === 0) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isPlain(value[at], levels - 1)) return false;
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key in value) {
    if (key === TAG || !isPlain((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}

export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function hasJsonForm(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** As Object.fromEntries, where `__proto__` is an ordinary member. */
export function fromEntries<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

export function base64(view: ArrayBufferView): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
}
