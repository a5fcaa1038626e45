// Sensitive: whether the answer to an interrupt is a secret, which belongs on the page of the server and not into the
// client of a model.
import type { InboxItem } from "../../api/inbox.ts";
import { isJsonObject, type Json } from "../../base/json/json.ts";

/** `sensitive: true` in the payload, or a field of the answer with the format `password` or `writeOnly`. */
export function isSensitive({ value, response_schema: schema }: Pick<InboxItem, "value" | "response_schema">): boolean {
  if (isJsonObject(value) && value["sensitive"] === true) return true;
  const declared = schema ?? (isJsonObject(value) ? value["response_schema"] : null) ?? null;
  return isSecret(declared as Json);
}

function isSecret(schema: Json): boolean {
  if (!isJsonObject(schema)) return false;
  if (schema["format"] === "password" || schema["writeOnly"] === true) return true;
  const { properties } = schema;
  return isJsonObject(properties ?? null) && Object.values(properties as object).some((one) => isSecret(one as Json));
}
