// JSON: the value type, a depth check that cannot overflow, containment.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** undefined: the text is no JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** True when `value` nests at most `levels` arrays or objects. Stops at the limit, so hostile depth costs nothing. */
export function fitsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((item) => fitsDepth(item, levels - 1));
  for (const key in value) {
    if (!fitsDepth((value as JsonObject)[key], levels - 1)) return false;
  }
  return true;
}

/**
 * JSON containment with the semantics of PostgreSQL's `@>`: `whole` has every member of `part`, and arrays compare as
 * sets. One exception: an array never contains a bare scalar here.
 */
export function contains(whole: Json | undefined, part: Json): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((wanted) => whole.some((item) => contains(item as Json, wanted as Json)));
  if (isJsonObject(part))
    return (
      isJsonObject(whole) &&
      Object.entries(part).every(([key, wanted]) => Object.hasOwn(whole, key) && contains(whole[key], wanted))
    );
  return whole === part;
}
