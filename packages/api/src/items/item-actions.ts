// API contract of the work on inbox items: assignment to another person, follow-up dates, comments.
import * as z from "zod";
import { auditEntry, author, CHANGE_REFUSALS, inboxItem } from "../inbox.ts";
import { personName, SECONDS_MAX } from "../inbox-filter.ts";
import { operation } from "../operation.ts";
import { limit } from "../schemas.ts";

const TAG = "Inbox";
const COMMENT_UNITS_MAX = 10_000;

export const assignInboxItem = operation("assignInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/assign", {
  tag: TAG,
  access: "threads:claim",
  summary: "Assign an item to a person: others cannot answer it through the inbox",
  body: z.strictObject({
    ...author,
    to: personName.describe("name of the person, as in audit trails"),
    expires_in_seconds: z.number().positive().max(SECONDS_MAX).nullish().describe("lifetime of the assignment"),
    force: z.boolean().default(false).describe("replace the claim of another person"),
  }),
  reply: inboxItem,
  refusals: [...CHANGE_REFUSALS, "interrupt_claimed", "reviewer_not_assigned", "reviewer_excluded"],
});

export const askAgain = operation("askAgain", "post", "/inbox/{thread_id}/{interrupt_id}/ask-again", {
  tag: TAG,
  access: "threads:answer",
  summary: "Ask a question again whose answer failed more often than the server asks again by itself",
  body: z.object(author),
  reply: inboxItem,
  refusals: [...CHANGE_REFUSALS, "graph_incompatible", "overloaded", "shutting_down"],
});

export const snoozeInboxItem = operation("snoozeInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/snooze", {
  tag: TAG,
  access: "threads:claim",
  summary: "Set or clear the follow-up date of an item",
  body: z
    .strictObject({
      ...author,
      until: z.iso.datetime({ offset: true }).nullish().describe("a time with its zone; null clears the date"),
      for_seconds: z.number().positive().max(SECONDS_MAX).optional(),
    })
    .refine(({ until, for_seconds: seconds }) => (until === undefined) !== (seconds === undefined), {
      message: "needs either until or for_seconds",
    }),
  reply: inboxItem,
  refusals: [...CHANGE_REFUSALS],
});

export const addComment = operation("addComment", "post", "/inbox/{thread_id}/{interrupt_id}/comments", {
  tag: TAG,
  access: "threads:claim",
  summary: "Comment on an item, open or closed",
  body: z.object({ ...author, text: z.string().trim().min(1).max(COMMENT_UNITS_MAX) }),
  reply: inboxItem,
  refusals: ["thread_not_found", "interrupt_not_found"],
});

export const listComments = operation("listComments", "get", "/inbox/{thread_id}/{interrupt_id}/comments", {
  tag: TAG,
  access: "threads:read",
  summary: "List the comments on an item, oldest first",
  query: z.object({
    limit: limit(100),
    after: z.coerce.number().int().min(0).default(0).describe("start after this seq"),
  }),
  reply: z.object({ items: z.array(auditEntry), next_after: z.number().int().nullable() }),
  refusals: ["thread_not_found", "interrupt_not_found"],
});
