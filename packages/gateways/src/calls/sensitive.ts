// Sensitive: whether the answer to an interrupt is a secret, which belongs on the page of the server and not into the
// client of a model.
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";

/** `sensitive: true` in the payload or in a part of a list, or a field of the answer with the format `password` or `writeOnly`. */
export function isSensitive({ value, response_schema: schema }: Pick<InboxItem, "value" | "response_schema">): boolean {
  const payloads = (Array.isArray(value) ? value : [value]) as readonly Json[];
  const marked = payloads.filter(isJsonObject);
  if (marked.some((one) => one["sensitive"] === true)) return true;
  return [schema, ...marked.map((one) => one["response_schema"])].some((declared) => isSecret(declared ?? null));
}

/** At any depth: in members, items and alternatives. */
function isSecret(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(isSecret);
  if (!isJsonObject(schema)) return false;
  if (schema["format"] === "password" || schema["writeOnly"] === true) return true;
  return Object.values(schema).some((one) => isSecret(one ?? null));
}
