// Said: what the content of a run has already, whatever its form there.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";

/** True when the content has every text and number of a value. @param said JSON text of the content */
export function isWithin(value: Json, said: string, name = ""): boolean {
  if (value === null) return true;
  if (typeof value === "string") {
    if (NAMED.has(name)) return true;
    const written = JSON.stringify(value).slice(1, -1);
    return said.includes(written) || said.includes(JSON.stringify(written).slice(1, -1));
  }
  if (typeof value !== "object") return said.includes(`"${name}":${String(value)}`);
  return Object.entries(value as JsonObject).every(([key, one]) =>
    isWithin(one, said, Array.isArray(value) ? name : key),
  );
}

/** Names of forms: the content has the target's. */
const NAMED: ReadonlySet<string> = new Set(["type", "role", "object"]);
