// API contract of the inbox and of the audit trail.
import * as z from "zod";
import { operation } from "./operation.ts";
import { remember } from "./policies.ts";
import { inboxChoices, inboxFilter, itemKind, personName, priority, SECONDS_MAX } from "./inbox-filter.ts";
import { json, jsonObject, jsonValue, limit, list, uuid } from "./schemas.ts";

const TAG = "Inbox";

const interruptId = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 lower-case hex digits");

const names = z.array(z.string());
const counts = z.object({ given: z.number().int(), needed: z.number().int() });

const review = z
  .object({
    assignees: z.array(names).describe("an answerer must be in every list; names, e-mail addresses, group:<name>"),
    approvals: counts.describe("given: people whose answers agree, of the answer with most of them"),
    rejections: counts,
    four_eyes: z.boolean(),
    excluded: names.describe("people who may not answer; with four eyes also those who started the run"),
    votes: z.array(
      z.object({
        by: z.string(),
        at: z.string(),
        verdict: z.enum(["approve", "reject"]),
        value: jsonValue.optional().describe("the answer; only with the values of items"),
      }),
    ),
    next_escalation: z.object({ at: z.string(), assignees: names }).nullable(),
    fault: z.string().nullable().describe("why the rules are malformed; nobody may answer then"),
  })
  .meta({ id: "Review" });

export type Review = z.infer<typeof review>;

export const inboxItem = z
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
    excerpt: z.string().describe("texts and numbers of the value in one line, at most 300 characters"),
    decisions: z
      .array(z.enum(["approve", "edit", "reject", "respond", "ignore"]))
      .describe("decisions that the item allows for all of its actions"),
    dangerous: z.boolean().describe("true if the value asks for a confirmation with `dangerous: true`"),
    priority: priority.describe("of the option of interrupt(); normal without one"),
    created_at: z.string(),
    claim: z
      .object({ by: z.string(), at: z.string(), until: z.string().nullable(), assigned_by: z.string().optional() })
      .nullable(),
    review: review.optional().describe("present if the interrupt has review rules"),
    snoozed_until: z.string().optional().describe("follow-up date"),
    deadline: z
      .object({ expires_at: z.string(), on_expiry: z.enum(["fail", "answer"]).nullable() })
      .nullable()
      .describe("on_expiry null: the item stays open, overdue"),
    state: z.enum(["open", "answered", "abandoned"]),
    overdue: z.boolean(),
    thread_status: z.enum(["idle", "busy", "interrupted", "error"]),
    metadata: z.record(z.string(), jsonValue).describe("metadata of the thread"),
    value: jsonValue.describe("the argument of interrupt()"),
    response_schema: z.record(z.string(), jsonValue).optional(),
    answered: z
      .object({ by: z.string(), at: z.string(), run_id: z.string(), value: jsonValue })
      .optional()
      .describe("present once the item is answered"),
    answer_addresses: z
      .array(z.object({ person: z.string(), decision: z.string(), url: z.string(), expires_at: z.string() }))
      .optional()
      .describe("of a single item: one-use addresses of the caller, one a decision; a POST gives it, a GET shows it"),
    failed_answer: z
      .object({
        run_id: z.string(),
        error: z.string(),
        message: z.string(),
        at: z.string(),
        times: z.number().int().describe("number of answers at which the node threw"),
      })
      .optional()
      .describe("the latest answer whose run failed without using it; the item was asked again, or can be"),
  })
  .meta({ id: "InboxItem" });

export type InboxItem = z.infer<typeof inboxItem>;

export const listInbox = operation("listInbox", "get", "/inbox", {
  tag: TAG,
  access: "threads:search",
  summary: "List open interrupts and breakpoints over all threads, one item each",
  query: inboxFilter,
  reply: z.object({ items: z.array(inboxItem), next_cursor: z.string().nullable() }),
  description:
    "Longest waiting first, unless `sort` is given. A page may be shorter than its limit; next_cursor is null on the last one.",
});

export const countInbox = operation("countInbox", "get", "/inbox/count", {
  tag: TAG,
  access: "threads:search",
  summary: "Count open interrupts and breakpoints, with the filters of the list",
  query: inboxChoices,
  reply: z.object({ count: z.number().int() }),
  description: "The number of items on all pages.",
});

export const getInboxItem = operation("getInboxItem", "get", "/inbox/{thread_id}/{interrupt_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get one item, also after its answer",
  reply: inboxItem,
  refusals: ["thread_not_found", "interrupt_not_found"],
});

export const author = { by: personName.optional().describe("name of the person, on a server without authentication") };

/** Refusals of every change of an open item. */
export const CHANGE_REFUSALS = ["thread_not_found", "interrupt_not_found", "interrupt_stale", "thread_busy"] as const;

export const claimInboxItem = operation("claimInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/claim", {
  tag: TAG,
  access: "threads:claim",
  summary: "Claim an item: others cannot answer it through the inbox",
  body: z.strictObject({
    ...author,
    expires_in_seconds: z.number().positive().max(SECONDS_MAX).nullish().describe("lifetime of the claim"),
  }),
  reply: inboxItem,
  refusals: [...CHANGE_REFUSALS, "interrupt_claimed", "reviewer_not_assigned", "reviewer_excluded"],
});

export const releaseInboxItem = operation("releaseInboxItem", "post", "/inbox/{thread_id}/{interrupt_id}/release", {
  tag: TAG,
  access: "threads:claim",
  summary: "Release a claim",
  body: z.strictObject({ ...author, force: z.boolean().default(false).describe("release another person's claim too") }),
  reply: inboxItem,
  refusals: [...CHANGE_REFUSALS, "interrupt_claimed"],
});

const ANSWERS_MAX = 1000;

const answers = list(
  z.strictObject({
    thread_id: uuid,
    interrupt_id: interruptId,
    resume: json.optional().describe("the answer; omit to continue at a breakpoint"),
    remember: remember.nullish().describe("writes a policy that gives this answer to later questions: policies:create"),
  }),
  ANSWERS_MAX,
  1,
);

const answerResult = z.object({
  thread_id: uuid,
  interrupt_id: z.string(),
  status: z.enum(["answered", "pending", "refused"]).describe("pending: counted as a vote, and more are needed"),
  run_id: z.string().optional().describe("the run that resumes with the answer"),
  problem: jsonObject
    .optional()
    .describe("the reason of a refusal, or what a vote still needs: a problem, as for other calls"),
});

export type AnswerResult = z.infer<typeof answerResult>;

export const answerInbox = operation("answerInbox", "post", "/inbox/answers", {
  tag: TAG,
  access: "threads:answer",
  summary: "Answer many items; all of one thread in one run, or none of them",
  body: z
    .union([answers.transform((list) => ({ answers: list })), z.strictObject({ ...author, answers })])
    .describe("a list of answers, or {answers, by}"),
  large: ["answers", "resume"],
  reply: z.object({ results: z.array(answerResult) }),
  description: "One result per answer, in order. The status is 200 even if all were refused: check each result.",
  refusals: ["idempotency_key_reused", "shutting_down", "overloaded"],
});

export const watchInbox = operation("watchInbox", "get", "/inbox/events", {
  tag: TAG,
  access: "threads:search",
  summary: "Watch the inbox: server-sent events as items come, go and are claimed",
  reply: z.string(),
  description:
    "ready (load the list now), added, claimed, released, updated (a vote, a follow-up date, a comment, an escalation), answered, expired, removed; after reload, load the list again. Last-Event-ID resumes after that event.",
  refusals: ["overloaded"],
});

export const auditEntry = z
  .object({
    seq: z.number().int().describe("counts up within the thread"),
    at: z.string(),
    action: z
      .string()
      .describe(
        "answered, answered_as_fork, continued, abandoned, cancelled, reopened, voted, votes_cleared, claimed, assigned, released, snoozed, commented, escalated, expired, expiry_refused, bypassed, breakpoints_off; and the administrative acts: policy_written, key_created, thread_deleted, signed_in, …",
      ),
    entry_kind: z.enum(["decision", "act"]).describe("about a question, or an administrative act"),
    by: z.string(),
    via: z.enum(["api", "inbox", "deadline", "server", "mcp", "a2a", "slack", "email", "policy", "cli", "cron"]),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    policy_id: z.string().optional().describe("the policy that answered for its author; via is policy then"),
    thread_id: uuid.nullable().describe("of an entry about a policy: its id; null for other acts"),
    interrupt_id: z.string().nullable(),
    run_id: z.string().nullable(),
    value: jsonValue,
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
