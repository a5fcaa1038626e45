// Inbox filter: the query of `GET /inbox`: which open items, in which order.
import * as z from "zod";
import { isJsonObject } from "@holdpoint/base/json/json.ts";
import { flag, limit, uuid } from "./schemas.ts";

export const personName = z.string().min(1).max(200);
/** The most urgent first. */
export const PRIORITIES = ["urgent", "high", "normal", "low"] as const;
export const priority = z.enum(PRIORITIES);
export const itemKind = z.enum(["tool_approval", "form", "question", "breakpoint"]);

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
/** Ten years. */
export const SECONDS_MAX = 10 * 366 * 86_400;

export const deadlineBucket = z.enum(["overdue", "hour", "day", "week", "later", "none"]);

/** `90`, `90s`, `15m`, `2h`, `7d` → milliseconds. */
const age = z
  .string()
  .regex(/^\d{1,9}[smhd]?$/, "must be a number of seconds, or a number with s, m, h or d")
  .transform((text) => {
    const unit = /[smhd]$/.exec(text)?.[0] as keyof typeof SECONDS | undefined;
    return Number.parseInt(text, 10) * (unit === undefined ? 1 : SECONDS[unit]) * 1000;
  })
  .refine((ms) => ms <= SECONDS_MAX * 1000, "is too long");

/** A JSON object in the query. */
const objectText = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    try {
      const value: unknown = JSON.parse(text);
      if (isJsonObject(value)) return value;
    } catch {
      // described below
    }
    context.addIssue({ code: "custom", message: "must be a JSON object" });
    return z.NEVER;
  });

export const searchText = z
  .string()
  .max(1024)
  .optional()
  .describe("words that all occur, or begin a word, in the searched texts; without letters and digits, everything");

const choices = {
  q: searchText,
  thread_id: uuid.optional(),
  graph_id: z.string().max(1024).optional(),
  assistant_id: z.string().max(1024).optional(),
  node: z.string().max(1024).optional(),
  kind: itemKind.optional(),
  older_than: age.optional(),
  metadata: objectText.optional(),
  claimed_by: personName.optional(),
  snoozed: z.enum(["true", "false"]).optional().describe("false leaves out items with a follow-up date in the future"),
  unclaimed: flag,
  assigned_to: z
    .string()
    .max(4096)
    .transform((text) => text.split(",").map((name) => name.trim()))
    .optional()
    .describe("claimed by one of these, or for one of them to review: names, addresses, group:<name>, with commas"),
  unassigned: flag.describe("neither claimed nor for named reviewers"),
  deadline: deadlineBucket
    .optional()
    .describe("time left: passed, less than an hour, a day, a week, or longer; none: items without a deadline"),
};

/** The query of counts. */
export const inboxChoices = z.object(choices);

export const inboxFilter = z.object({
  ...choices,
  sort: z
    .enum(["oldest", "newest", "deadline", "priority"])
    .default("oldest")
    .describe("deadline: the earliest first, items without one last; priority: the most urgent, then the oldest"),
  limit: limit(50),
  cursor: z.string().max(1024).optional(),
  values: z
    .enum(["true", "false"])
    .default("true")
    .transform((text) => text === "true")
    .describe("false: items without value and response_schema, for lists; excerpt shows the beginning of the value"),
});
