// API contract of the audit trail over all threads.
import * as z from "zod";
import { operation } from "./operation.ts";
import { uuid } from "./schemas.ts";
import { auditEntry } from "./inbox.ts";
import { searchText } from "./inbox-filter.ts";

const TAG = "Inbox";

const PAGE_MAX = 200;
const name = z.string().min(1).max(1024);

const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .optional();

const foundEntry = auditEntry
  .extend({
    graph_id: z.string().nullable(),
    assistant_id: z.string().nullable(),
    node: z.string().nullable(),
    kind: z.enum(["tool_approval", "form", "question", "breakpoint"]).nullable(),
    title: z.string().nullable().describe("the request of the item, one line; of an act, what it is about"),
    answer: z
      .string()
      .nullable()
      .describe("an answer in words, one line: approved, rejected: too late, edited: amount 129.9 → 64.95"),
    decision: z
      .string()
      .nullable()
      .describe("of an answer: approve, edit, reject, respond, ignore, answer, mixed; null for other entries"),
    tool: z.string().nullable().describe("the first action that was pending approval"),
    asked_at: z.string().nullable().describe("when the item was asked; null for an entry about no item"),
    run_status: z.string().nullable().describe("state of the run that followed; null once it is deleted"),
    run_ended_by: z.string().nullable(),
  })
  .meta({ id: "FoundAuditEntry" });

export type FoundAuditEntry = z.infer<typeof foundEntry>;

export const searchAudit = operation("searchAudit", "get", "/audit", {
  tag: TAG,
  access: "threads:search",
  summary:
    "Search the audit trail of all threads, newest first: what was decided, by whom, where, and how it ended; and the administrative acts",
  query: z.object({
    action: z
      .string()
      .max(1024)
      .regex(/^[a-z_]+(,[a-z_]+)*$/, "must be an action, or several separated by commas")
      .transform((text) => text.split(","))
      .optional()
      .describe("one, or several separated by commas"),
    kind: z
      .enum(["decision", "act", "all"])
      .optional()
      .describe(
        "decisions about questions, administrative acts, or both; decision if missing, all with an action. Acts are for administrators",
      ),
    by: name.optional(),
    via: name.optional(),
    graph_id: name.optional(),
    assistant_id: name.optional(),
    thread_id: uuid.optional(),
    since: moment.describe("inclusive"),
    until: moment.describe("exclusive"),
    q: searchText,
    limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(50),
    cursor: z.string().max(1024).optional(),
    format: z.enum(["json", "ndjson", "csv"]).default("json").describe("ndjson and csv contain all matches"),
  }),
  reply: z.object({ items: z.array(foundEntry), next_cursor: z.string().nullable() }),
  description: "A page ends after 5,000 entries that were read: it may have no items, and a next_cursor all the same.",
});

const HEADS_MAX = 1000;

/** `1:532:ab…,2:44:cd…`: chain, count and hash of each chain. */
const anchor = z
  .string()
  .max(100_000)
  .regex(/^(?:\d{1,9}:\d{1,15}:[0-9a-f]{64}(?:,|$))*$/, "must be the anchor of an earlier reply")
  .transform((text) =>
    text
      .split(",", HEADS_MAX)
      .filter((part) => part !== "")
      .map((part) => {
        const [chain = "", count = "", hash = ""] = part.split(":");
        return { chain: Number(chain), count: Number(count), hash };
      }),
  );

const report = z.object({
  intact: z.boolean(),
  entries: z.number().int(),
  deleted: z.number().int().describe("entries that retention or the deletion of a thread removed; they are verified"),
  erased: z.number().int().describe("entries from which a person was erased, with a link that says so"),
  chains: z.number().int(),
  anchor: z.string().describe("the heads of the chains: keep it where nobody can change it"),
  faults: z
    .array(
      z.object({
        fault: z
          .enum(["changed", "missing", "added", "rewritten", "early", "gap"])
          .describe("early: deleted before its time; gap: numbers of a thread's entries are missing"),
        chain: z
          .number()
          .int()
          .describe(
            "0 of a gap, whose positions are numbers in the trail of the thread, and of entries added outside of the chains",
          ),
        position: z.number().int(),
        last_position: z.number().int().describe("missing entries may be a range"),
        thread_id: z.string().nullable().describe("acts-0 to acts-f: the trails of acts"),
        seq: z.number().int().nullable().describe("the entry's number in the trail of its thread"),
      }),
    )
    .describe("the first 100"),
  fault_count: z.number().int(),
});

export type AuditReport = z.infer<typeof report>;

export const verifyAudit = operation("verifyAudit", "get", "/audit/verify", {
  tag: TAG,
  access: "threads:search",
  summary:
    "Verify the hash chains of the audit trail: finds changed, missing and added entries, and deletions before their time",
  query: z.object({
    anchor: anchor.optional().describe("the anchor of an earlier reply, which the trail must extend"),
  }),
  reply: report,
  refusals: ["forbidden"],
});
