// Calls of people and of the keys of programs.
import * as z from "zod";
import { jsonObject, list, LIST_MAX } from "./schemas.ts";
import { operation } from "./operation.ts";

const TAG = "Access";
const NAME = /^[\w.@+-]{1,128}$/;
const EXPIRES_DAYS_MAX = 3660;

const role = z.enum(["requester", "viewer", "reviewer", "operator", "admin"]);
const time = z.iso.datetime();

const key = z.object({
  key_id: z.uuid(),
  name: z.string(),
  role,
  assistants: z.array(z.string()).nullable().describe("ids of the assistants that the key is limited to"),
  metadata: jsonObject.describe("members of the metadata that the key is limited to"),
  created_by: z.string(),
  created_at: time,
  expires_at: time.nullable(),
  last_used_at: time.nullable().describe("within a minute"),
});

export type Key = z.infer<typeof key>;

const KEYS_UNUSED = "A server without keys or sign-in, or with handlers, refuses this.";

export const createKey = operation("createKey", "post", "/keys", {
  tag: TAG,
  access: "keys:create",
  summary: "Create a key for a program",
  body: z.strictObject({
    name: z.string().regex(NAME, "1 to 128 letters, digits, _.@+-").describe("name of the caller in the audit trail"),
    role,
    expires_in_days: z.number().positive().max(EXPIRES_DAYS_MAX).nullish().describe("omit it for a key without an end"),
    assistants: list(z.string(), LIST_MAX).nullish().describe("limit: ids of assistants, or names of graphs"),
    metadata: jsonObject.nullish().describe("limit: members that the metadata has; a list means one of its values"),
  }),
  reply: key.extend({ key: z.string().describe("the key; no other call shows it") }),
  description: `The only reply with the key itself. ${KEYS_UNUSED}`,
  refusals: ["keys_unused", "key_limit"],
});

export const listKeys = operation("listKeys", "get", "/keys", {
  tag: TAG,
  access: "keys:search",
  summary: "List the keys of programs, without the keys themselves",
  reply: z.object({ keys: z.array(key) }),
  description: "The oldest first. Keys of HOLDPOINT_API_KEYS are not among them.",
});

export const revokeKey = operation("revokeKey", "delete", "/keys/{key_id}", {
  tag: TAG,
  access: "keys:delete",
  summary: "Revoke a key at once, on every server",
  reply: null,
  status: 204,
  refusals: ["key_not_found"],
});

const person = z.object({
  name: z.string(),
  display_name: z.string(),
  email: z.string().nullable(),
  groups: z.array(z.string()),
  created_at: time.describe("first sign-in"),
  last_seen_at: time,
});

export type Person = z.infer<typeof person>;

export const listPeople = operation("listPeople", "get", "/people", {
  tag: TAG,
  access: "people:search",
  summary: "List everybody who has signed in",
  query: z.object({
    group: z.string().max(256).optional().describe("only people of this group"),
    after: z.string().max(256).optional().describe("next_after of the page before"),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  }),
  reply: z.object({ people: z.array(person), next_after: z.string().nullable() }),
  description: "In order of the names. next_after is null on the last page.",
});

/** Limit for what the console keeps of a person, as JSON. */
const CONSOLE_UNITS_MAX = 200_000;

const text = (max: number) => z.string().max(max);

/** What the console keeps of one person. */
const ownConsole = {
  views: list(z.strictObject({ name: text(60), path: text(64), search: z.record(text(64), text(1024)) }), 50).describe(
    "saved views: a name, a page, and its filters",
  ),
  seen: list(text(128), 1000).describe("read marks: <thread>/<item>, the latest last"),
  tab: text(16).describe("the chosen tab of the inbox; empty for all"),
};

const storedConsole = z.object({
  person: z.string().describe("name of the caller"),
  revision: z.string().describe("another one after each change, and for each person"),
  ...ownConsole,
});

export type OwnConsole = z.infer<typeof storedConsole>;

export const readOwnConsole = operation("readOwnConsole", "get", "/people/me/console", {
  tag: TAG,
  access: "authenticated",
  summary: "Read what the console keeps of the caller: saved views, read marks, the tab",
  reply: storedConsole,
  description: "Only people who have signed in have it; for others the browser keeps it.",
  refusals: ["person_not_found"],
});

export const writeOwnConsole = operation("writeOwnConsole", "put", "/people/me/console", {
  tag: TAG,
  access: "authenticated",
  summary: "Replace what the console keeps of the caller",
  body: z
    .strictObject({ revision: text(64).describe("as read; a later change refuses the write"), ...ownConsole })
    .refine((value) => JSON.stringify(value).length <= CONSOLE_UNITS_MAX, {
      message: `has more than ${CONSOLE_UNITS_MAX} characters`,
    }),
  reply: storedConsole,
  refusals: ["person_not_found", "console_changed"],
});

export const deletePerson = operation("deletePerson", "delete", "/people/{person}", {
  tag: TAG,
  access: "people:delete",
  summary: "Remove a person from the directory, and end all sessions of the person at once",
  reply: null,
  status: 204,
  description: "Whoever the provider still lets in can sign in again, and is in the directory again then.",
  refusals: ["person_not_found"],
});

const erasure = z.object({
  pseudonym: z.string().nullable().describe("null for a dry run"),
  dry_run: z.boolean(),
  places: z.record(z.string(), z.number().int()).describe("table → rows of this call that named the person; traces"),
  complete: z.boolean().describe("at the end: the last pass over all rows and traces found nothing"),
  next_cursor: z.string().nullable().describe("null at the end"),
});

export type Erasure = z.infer<typeof erasure>;

export const erasePerson = operation("erasePerson", "post", "/people/{person}/erase", {
  tag: TAG,
  access: "people:delete",
  summary: "Replace a person by a pseudonym everywhere, and delete what only that person has",
  body: z.strictObject({
    dry_run: z.boolean().default(false).describe("count only, and change nothing"),
    cursor: text(8000).nullish().describe("next_cursor of the reply before"),
  }),
  reply: erasure,
  description:
    "A call works for a few seconds: call again with next_cursor until it is null. After a crash, begin again without a cursor: the server knows where it was.",
  refusals: ["person_not_found"],
});
