// Act: what somebody, or the server itself, did, as an entry of the audit trail.
// Invariant: the subject is cut to SUBJECT_UNITS_MAX; callers bound the fields and keep secrets out of them.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { nameAuthor } from "../audit-author.ts";
import type { Caller } from "../caller.ts";
import type { AuditEntry, AuditVia } from "../interrupt.ts";
import { type ActAction, chooseActTrail } from "../audit-actions.ts";

const SUBJECT_UNITS_MAX = 1000;

/** Whoever did it: a caller, the server itself, or a user of its machine. */
export type ActAuthor = Pick<Caller, "name" | "origin"> & {
  /** Where no call is the channel. */
  readonly via?: AuditVia;
};

export const SERVER: ActAuthor = { name: "server", via: "server" };

export interface Act {
  readonly action: ActAction;
  readonly at: number;
  /** What it is about, in one line: a name or an id. */
  readonly subject: string;
  /** Further members of the value. */
  readonly fields?: JsonObject;
}

export function buildAct(author: ActAuthor, { action, at, subject, fields }: Act): AuditEntry {
  const value = { subject: subject.slice(0, SUBJECT_UNITS_MAX), ...fields };
  const threadId = chooseActTrail(subject);
  return { ...nameAuthor(author, author.via ?? "api"), threadId, at, action, interruptId: null, runId: null, value };
}

/**
 * Fields of a change: the members that the call names, and what those of the description were that have other values now.
 * @param before description of the object before the change
 */
export function describeChange(members: readonly string[], before: JsonObject, after: JsonObject): JsonObject {
  const replaced = Object.entries(before).filter(([name, value]) => !isDeepStrictEqual(value, after[name]));
  return { ...after, changed: members.map(nameMember), before: Object.fromEntries(replaced) };
}

/** Its name in the API. */
const nameMember = (member: string): string => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
