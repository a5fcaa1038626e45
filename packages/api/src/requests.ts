// API contract of requests: questions that any program asks. A request is a thread of a built-in graph that asks once.
import * as z from "zod";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import { remember } from "./policies.ts";
import { operation } from "./operation.ts";
import { personName, priority, searchText, SECONDS_MAX } from "./inbox-filter.ts";
import { json, jsonObject, limit, uuid } from "./schemas.ts";

const TAG = "Requests";

export const requestStatus = z.enum(["open", "answered", "expired", "cancelled"]);

export type RequestStatus = z.infer<typeof requestStatus>;

export const requestObject = z
  .object({
    request_id: uuid.describe("the id of its thread, too"),
    interrupt_id: z.string().nullable().describe("with request_id the key of its inbox item"),
    status: requestStatus,
    url: z.string().describe("its page in the console"),
    title: z.string(),
    payload: z.unknown(),
    response_schema: z.record(z.string(), z.unknown()).optional().describe("JSON Schema of the answer"),
    review: z.record(z.string(), z.unknown()).optional().describe("review rules and votes, as of an inbox item"),
    metadata: z.record(z.string(), z.unknown()),
    requested_by: z.string(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    answer: z.unknown().optional(),
    answered_by: z.string().optional().describe("`deadline` for the answer of on_deadline"),
    answered_at: z.string().optional(),
    reason: z.string().nullable().optional().describe("of a cancelled request"),
  })
  .meta({ id: "Request" });

export type RequestObject = z.infer<typeof requestObject>;

const WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

const deadline = z.union(
  [
    z.number().positive().max(SECONDS_MAX),
    z.string().refine((text) => WITH_ZONE.test(text) && !Number.isNaN(Date.parse(text))),
  ],
  { error: 'must be a number of seconds, or a time with its zone: "2026-12-01T12:00:00Z"' },
);

const onDeadline = z.union([z.literal("fail"), z.strictObject({ answer: z.unknown() }), z.null()], {
  error: 'must be "fail", {"answer": …} or null',
});

const notify = z.union([
  z.literal(false),
  z.object({ url: z.string(), format: z.enum(["event", "slack"]).default("event") }),
]);

const requestBody = z
  .strictObject({
    payload: json.describe("the question: a text, or any JSON that a graph may pass to interrupt()"),
    response_schema: jsonObject.nullish().describe("JSON Schema of the answer; by default the rules of the payload"),
    title: z.string().min(1).max(200).nullish(),
    review: jsonObject.nullish().describe("review rules"),
    assignees: z.array(personName).min(1).max(50).nullish().describe("short for review.assignees"),
    deadline: deadline.nullish(),
    on_deadline: onDeadline.optional().describe("fail, the default; an answer; null: stays open, overdue"),
    priority: priority.nullish().describe("of the inbox item, and kept as metadata.priority"),
    metadata: jsonObject.nullish(),
    notify: notify.nullish(),
    webhook: z.string().nullish().describe("URL that receives the request at its end"),
  })
  .superRefine((body, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: "custom", path: [path], message });
    if (body.payload === undefined) refuse("payload", "is missing: it is the question");
    if (body.on_deadline !== undefined && (body.deadline ?? null) === null) refuse("on_deadline", "needs a deadline");
    if (isJsonObject(body.on_deadline) && !("answer" in body.on_deadline)) refuse("on_deadline", "needs an answer");
    if ((body.assignees ?? null) !== null && body.review?.["assignees"] !== undefined)
      refuse("assignees", "cannot be combined with review.assignees");
  });

export type RequestBody = z.infer<typeof requestBody>;

export const createRequest = operation("createRequest", "post", "/requests", {
  tag: TAG,
  access: "requests:create",
  summary: "Ask a person: stores a question that waits for its answer",
  body: requestBody,
  large: ["payload", "response_schema", "on_deadline"],
  reply: requestObject,
  status: 201,
  description: "The request; 200 for a repeat with the same Idempotency-Key",
  refusals: [
    "request_key_reused",
    "member_too_large",
    "idempotency_run_deleted",
    "control_value_refused",
    "webhook_refused",
    "overloaded",
    "shutting_down",
  ],
});

const WAIT_SECONDS_MAX = 300;

export const getRequest = operation("getRequest", "get", "/requests/{request_id}", {
  tag: TAG,
  access: "requests:read",
  summary: "Get a request, or wait for its end",
  query: z.object({
    wait: z.coerce.number().min(0).max(WAIT_SECONDS_MAX).default(0).describe("seconds to wait for the end"),
  }),
  reply: requestObject,
  refusals: ["request_not_found"],
});

export const watchRequest = operation("watchRequest", "get", "/requests/{request_id}/events", {
  tag: TAG,
  access: "requests:read",
  summary: "Watch a request: server-sent events with the request now, and after each change",
  reply: z.string(),
  description: "Events named request, until the end of the request",
  refusals: ["request_not_found"],
});

export const searchRequests = operation("searchRequests", "post", "/requests/search", {
  tag: TAG,
  access: "requests:search",
  summary: "Search requests, newest first",
  body: z.strictObject({
    status: requestStatus.nullish(),
    metadata: jsonObject.nullish().describe("members that the metadata has"),
    q: searchText.nullish(),
    limit: limit(10),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "must be the next_cursor of an earlier reply")
      .nullish(),
  }),
  reply: z.object({ items: z.array(requestObject), next_cursor: z.string().nullable() }),
  description: "A page can be shorter than its limit; next_cursor is null on the last one.",
});

export const answerRequest = operation("answerRequest", "post", "/requests/{request_id}/answer", {
  tag: TAG,
  access: "threads:answer",
  summary: "Answer a request",
  body: z
    .strictObject({
      answer: json,
      by: personName.nullish().describe("name of the person, on a server without authentication"),
      remember: remember.nullish().describe("writes a policy that gives this answer to later questions"),
    })
    .refine(({ answer }) => answer !== undefined, { path: ["answer"], message: "is missing" }),
  large: ["answer"],
  reply: requestObject,
  refusals: ["request_not_found", "request_ended", "answer_invalid", "approvals_pending", "answer_too_large"],
});

export const cancelRequest = operation("cancelRequest", "post", "/requests/{request_id}/cancel", {
  tag: TAG,
  access: "requests:cancel",
  summary: "End a request without an answer",
  body: z.strictObject({ reason: z.string().max(1000).nullish() }),
  reply: requestObject,
  refusals: ["request_not_found", "request_ended"],
});
