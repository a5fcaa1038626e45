// Elicitation: open interrupts as elicitation requests to the person who uses the client.
// Invariants:
//   - A form holds only flat fields; anything else, and an interrupt for people only, is a link where the client opens
//     links.
//   - A secret is never typed into a form: clients show forms to models, and store them.
import type { ElicitRequestFormParams, ElicitRequestURLParams } from "@modelcontextprotocol/server";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";
import { buildForm } from "../calls/flat-form.ts";
import { isSensitive } from "../calls/sensitive.ts";

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
