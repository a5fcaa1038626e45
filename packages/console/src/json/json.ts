// JSON: the value type and common helpers. Pure.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member, or null if absent or if `value` has no members. */
export function readMember(value: unknown, name: string): Json {
  return isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

export function readJsonText(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

export function sameJson(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => sameJson(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}
