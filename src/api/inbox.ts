// API contract of the inbox and of the audit trail.
import * as z from "zod";
import { operation } from "./operation.ts";
import { inboxFilter, itemKind, personName, SECONDS_MAX } from "./inbox-filter.ts";
import { json, jsonObject, limit, uuid } from "./schemas.ts";

const TAG = "Inbox";

const interruptId = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 lower-case hex digits");

const item = z
  .object({
    id: z.string().describe("the interrupt; with thread_id the key of the item"),
    thread_id: uuid,
    graph_id: z.string(),
    assistant_id: z.string(),
    run_id: z.string().nullable().describe("the run that asked"),
    node: z.string().describe("the interrupted node; at a breakpoint, the next nodes"),
    ns: z.array(z.string()),
    kind: itemKind,
    dialect: z.enum(["human_interrupt", "hitl", "hitl_camel", "json_schema", "plain"]).nullable(),
    title: z.string().describe("one line, at most 200 characters"),
    action: z.string().nullable().describe("name of the first action pending approval"),
    actions: z.number().int().describe("number of actions pending approval"),
    created_at: z.string(),
    claim: z.object({ by: z.string(), at: z.string(), until: z.string().nullable() }).nullable(),
    deadline: z
      .object({ expires_at: z.string(), on_expiry: z.enum(["fail", "answer"]).nullable() })
      .nullable()
      .describe("on_expiry null: the item stays open, overdue"),
    state: z.enum(["open", "answered", "abandoned"]),
    overdue: z.boolean(),
    thread_status: z.enum(["idle", "busy", "interrupted", "error"]),
    metadata: z.record(z.string(), z.unknown()).describe("metadata of the thread"),
    value: z.unknown().describe("the argument of interrupt()"),
    response_schema: z.record(z.string(), z.unknown()).optional(),
    answered: z
      .object({ by: z.string(), at: z.string(), run_id: z.string(), value: z.unknown() })
      .optional()
      .describe("present once the item is answered"),
  })
  .meta({ id: "InboxItem" });

export type InboxItem = z.infer<typeof item>;

export const listInbox = operation("listInbox", "get", "/inbox", {
  tag: TAG,
  access: "threads:search",
  summary: "List open interrupts and breakpoints over all threads, one item each",
  query: inboxFilter,
  reply: z.object({ items: z.array(item), next_cursor: z.string().nullable() }),
  description: "Longest waiting first. A page may be shorter than its limit; next_cursor is null on the last one.",
});

export const getInboxItem = operation("getInboxItem", "get", "/inbox/{thread_id}/{interrupt_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get one item, also after its answer",
  reply: item,
  refusals: ["thread_not_found", "interrupt_not_found"],
});

const author = { by: personName.optional().describe("name of the person, on a server without authentication") };

export const claimInboxItem = operation("claimInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/claim", {
  tag: TAG,
  access: "threads:claim",
  summary: "Claim an item: others cannot answer it through the inbox",
  body: z.object({
    ...author,
    expires_in_seconds: z.number().positive().max(SECONDS_MAX).nullish().describe("lifetime of the claim"),
  }),
  reply: item,
  refusals: ["thread_not_found", "interrupt_not_found", "interrupt_claimed", "interrupt_stale", "thread_busy"],
});

export const releaseInboxItem = operation("releaseInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/release", {
  tag: TAG,
  access: "threads:claim",
  summary: "Release a claim",
  body: z.object({ ...author, force: z.boolean().default(false).describe("release another person's claim too") }),
  reply: item,
  refusals: ["thread_not_found", "interrupt_not_found", "interrupt_claimed", "interrupt_stale", "thread_busy"],
});

const ANSWERS_MAX = 1000;

const answers = z
  .array(
    z.object({
      thread_id: uuid,
      interrupt_id: interruptId,
      resume: json.optional().describe("the answer; omit to continue at a breakpoint"),
    }),
  )
  .min(1)
  .max(ANSWERS_MAX);

export const answerInbox = operation("answerInbox", "post", "/inbox/answers", {
  tag: TAG,
  access: "threads:answer",
  summary: "Answer many items; all of one thread in one run, or none of them",
  body: z
    .union([answers.transform((list) => ({ answers: list })), z.object({ ...author, answers })])
    .describe("a list of answers, or {answers, by}"),
  reply: z.object({
    results: z.array(
      z.object({
        thread_id: uuid,
        interrupt_id: z.string(),
        status: z.enum(["answered", "refused"]),
        run_id: z.string().optional().describe("the run that resumes with the answer"),
        problem: jsonObject.optional().describe("the reason of a refusal: a problem, as for other calls"),
      }),
    ),
  }),
  description: "One result per answer, in order. The status is 200 even if all were refused: check each result.",
  refusals: ["idempotency_key_reused", "shutting_down", "overloaded"],
});

export const watchInbox = operation("watchInbox", "get", "/inbox/events", {
  tag: TAG,
  access: "threads:search",
  summary: "Watch the inbox: server-sent events as items come, go and are claimed",
  reply: z.string(),
  description:
    "ready (load the list now), added, claimed, released, answered, expired, removed; after reload, load the list again. Last-Event-ID resumes after that event.",
  refusals: ["overloaded"],
});

const auditEntry = z
  .object({
    seq: z.number().int().describe("counts up within the thread"),
    at: z.string(),
    action: z
      .string()
      .describe(
        "answered, answered_as_fork, continued, abandoned, cancelled, reopened, claimed, released, expired, expiry_refused, bypassed, breakpoints_off",
      ),
    by: z.string(),
    via: z.enum(["api", "inbox", "deadline", "server", "mcp", "a2a", "slack", "email"]),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    thread_id: uuid,
    interrupt_id: z.string().nullable(),
    run_id: z.string().nullable(),
    value: z.unknown(),
  })
  .meta({ id: "AuditEntry" });

export type AuditEntry = z.infer<typeof auditEntry>;

export const getAudit = operation("getAudit", "get", "/threads/{thread_id}/audit", {
  tag: TAG,
  access: "threads:read",
  summary: "The audit trail of a thread, oldest first: the actions on its interrupts, with author and origin",
  query: z.object({
    limit: limit(100),
    after: z.coerce.number().int().min(0).default(0).describe("start after this seq"),
    format: z.enum(["json", "ndjson", "csv"]).default("json").describe("ndjson and csv contain the whole trail"),
  }),
  reply: z.object({ items: z.array(auditEntry), next_after: z.number().int().nullable() }),
  refusals: ["thread_not_found"],
});
