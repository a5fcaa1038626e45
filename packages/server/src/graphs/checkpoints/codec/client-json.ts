// Client JSON: a live value → the JSON that clients see. A value without a JSON form is left out of an object and null
// in a list; so is a cycle.
import type { Json } from "@holdpoint/base/json/json.ts";
import type { MessageCodec } from "./message-codec.ts";
import { base64, fromEntries, hasJsonForm } from "./plain-values.ts";

export function clientJson(messages: MessageCodec, value: unknown, ancestors: Set<object>): Json | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return undefined;
  if (ancestors.has(value)) return null;
  ancestors.add(value);
  const result = clientObject(messages, value, ancestors);
  ancestors.delete(value);
  return result;
}

function clientObject(messages: MessageCodec, value: object, ancestors: Set<object>): Json | undefined {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) {
    return Array.from(value as Iterable<unknown>, (item) => clientJson(messages, item, ancestors) ?? null);
  }
  if (messages.isMessage(value)) return clientMembers(messages, messages.toClientJson(value), ancestors);
  if (ArrayBuffer.isView(value)) return base64(value);
  if (value instanceof Error) return clientMembers(messages, errorMembers(value), ancestors);
  if (value instanceof RegExp) return String(value);
  if (hasJsonForm(value)) return clientJson(messages, value.toJSON(), ancestors);
  return clientMembers(messages, value, ancestors);
}

function errorMembers({ name, message, code }: Error & { readonly code?: unknown }): object {
  return { name, message, code: typeof code === "string" || typeof code === "number" ? code : undefined };
}

function clientMembers(messages: MessageCodec, object: object, ancestors: Set<object>): Json {
  const entries: (readonly [string, Json])[] = [];
  for (const [key, member] of Object.entries(object)) {
    const shown = clientJson(messages, member, ancestors);
    if (shown !== undefined) entries.push([key, shown]);
  }
  return fromEntries(entries);
}
