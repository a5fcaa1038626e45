// Elicitation: open interrupts as elicitation requests to the person who uses the client.
// Invariants:
//   - A form holds only flat fields; anything else, and an interrupt for people only, is a link where the client opens
//     links.
//   - A secret is never typed into a form: clients show forms to models, and store them.
import type { ElicitRequestFormParams, ElicitRequestURLParams } from "@modelcontextprotocol/server";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { buildForm } from "../calls/flat-form.ts";

/** Forms of elicitation that the client supports. */
export interface Elicits {
  readonly form: boolean;
  readonly url: boolean;
}

export const ELICITS_NOTHING: Elicits = { form: false, url: false };

/** @param capability `capabilities.elicitation` of the client; `{}` stands for forms, as in the first revisions */
export function readElicits(capability: unknown): Elicits {
  if (!isJsonObject(capability)) return ELICITS_NOTHING;
  const url = isJsonObject(capability["url"]);
  return { url, form: isJsonObject(capability["form"]) || !url };
}

export type ElicitParams =
  | (Omit<ElicitRequestFormParams, "mode"> & { readonly mode: "form" })
  | Omit<ElicitRequestURLParams, "elicitationId">;

export interface ElicitContext {
  readonly elicits: Elicits;
  readonly linkTo: (item: InboxItem) => string;
  readonly isForPeopleOnly: (item: InboxItem) => boolean;
  /** Reason why the last answer was refused. */
  readonly refused: string | null;
}

/** Null if this client cannot ask its user. */
export function elicitParams(item: InboxItem, context: ElicitContext): ElicitParams | null {
  const { elicits, linkTo, isForPeopleOnly, refused } = context;
  const form = isSensitive(item) ? null : buildForm(item);
  if (elicits.url && (form === null || isForPeopleOnly(item) || !elicits.form)) {
    return { mode: "url", message: item.title, url: linkTo(item) };
  }
  if (form === null || !elicits.form) return null;
  const message = refused === null ? form.message : `The last answer was refused: ${refused}\n\n${form.message}`;
  return { mode: "form", message, requestedSchema: form.schema as never };
}

export interface Elicited {
  readonly action: "accept" | "decline" | "cancel";
  readonly content: JsonObject;
}

/** Null for a value that is no result of an elicitation. */
export function parseElicited(value: unknown): Elicited | null {
  if (!isJsonObject(value)) return null;
  const { action, content } = value as { readonly action?: Json; readonly content?: Json };
  if (action !== "accept" && action !== "decline" && action !== "cancel") return null;
  return { action, content: isJsonObject(content) ? content : {} };
}

// Whether the answer to an interrupt is a secret, which belongs on the page of the server and not into the client of a
// model.

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
