// API contract of crons: scheduled runs.
import * as z from "zod";
import { operation } from "./operation.ts";
import { runBody } from "./runs.ts";
import { jsonObject, limit, list, LIST_MAX, offset, sortOrder, uuid } from "./schemas.ts";

const TAG = "Crons";

/** ISO 8601; without an offset it is UTC. Becomes milliseconds. */
const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.datetime({ local: true }), z.iso.date()])
  .transform((text) => Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`))
  .meta({ type: "string", format: "date-time" });

const schedule = z.string().max(256).describe("minute hour day month weekday; or six fields, seconds first");
const timezone = z.string().max(64).nullable().describe("IANA name; null is UTC");

const runMembers = runBody.omit({
  command: true,
  checkpoint: true,
  checkpoint_id: true,
  if_not_exists: true,
  after_seconds: true,
  on_disconnect: true,
  feedback_keys: true,
  on_completion: true,
  strict_resume: true,
});

export const RUN_MEMBERS = Object.keys(runMembers.shape).filter((name) => name !== "metadata");

/** Members of run requests that some clients send to every call, and that have no effect on a cron. */
const withoutEffect = runBody.pick({ if_not_exists: true, on_disconnect: true, feedback_keys: true }).shape;

const cronBody = runMembers
  .extend({
    ...withoutEffect,
    on_paused: z
      .enum(["abandon", "reject", "enqueue"])
      .nullish()
      .describe("effect on a thread that waits for a person; a cron answers nothing"),
    schedule,
    timezone: timezone.optional(),
    end_time: time.nullish().describe("no run starts at or after this time"),
    enabled: z.boolean().nullish(),
    on_run_completed: z
      .enum(["delete", "keep"])
      .nullish()
      .describe("fate of the run's own thread after the run; default: delete"),
  })
  .strict() // a member that is dropped would promise runs that never come
  .meta({ id: "CronCreate" });

export type CronBody = z.infer<typeof cronBody>;

const cronPatch = cronBody.omit({ assistant_id: true }).partial().meta({ id: "CronPatch" });

export type CronPatchBody = z.infer<typeof cronPatch>;

export const DISABLED_REASONS = [
  "caller_gone",
  "assistant_not_found",
  "thread_not_found",
  "cron_schedule_invalid",
  "invalid_request",
] as const;

export const cron = z
  .object({
    cron_id: uuid,
    assistant_id: uuid,
    thread_id: uuid.nullable(),
    user_id: z.string().nullable(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    end_time: z.string().nullable(),
    enabled: z.boolean(),
    on_run_completed: z.enum(["delete", "keep"]),
    disabled_reason: z.enum(DISABLED_REASONS).nullable().describe("why the server disabled it"),
    next_run_date: z.string().nullable(),
    payload: z.record(z.string(), z.unknown()),
    metadata: z.record(z.string(), z.unknown()),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Cron" });

const CREATE_REFUSALS = [
  "assistant_not_found",
  "cron_schedule_invalid",
  "cron_limit",
  "node_unknown",
  "control_value_refused",
  "webhook_refused",
] as const;

export const createCron = operation("createCron", "post", "/runs/crons", {
  tag: TAG,
  access: "crons:create",
  summary: "Create a cron with a separate thread for each run",
  body: cronBody,
  reply: cron,
  refusals: CREATE_REFUSALS,
});

export const createThreadCron = operation("createThreadCron", "post", "/threads/{thread_id}/runs/crons", {
  tag: TAG,
  access: "crons:create",
  summary: "Create a cron on a thread",
  body: cronBody,
  reply: cron,
  refusals: ["thread_not_found", ...CREATE_REFUSALS],
});

const filter = {
  assistant_id: z.string().min(1).max(1024).nullish().describe("an assistant's id, or a graph's name"),
  thread_id: uuid.nullish(),
  enabled: z.boolean().nullish(),
  metadata: jsonObject.nullish(),
};

const filterBody = z.object(filter);
export type CronFilterBody = z.infer<typeof filterBody>;

export const searchCrons = operation("searchCrons", "post", "/runs/crons/search", {
  tag: TAG,
  access: "crons:search",
  summary: "Search crons; X-Pagination-Total counts all that match, X-Pagination-Next is the next offset",
  body: z.object({
    ...filter,
    limit: limit(10),
    offset,
    sort_by: z
      .enum(["cron_id", "assistant_id", "thread_id", "created_at", "updated_at", "next_run_date"])
      .default("created_at"),
    sort_order: sortOrder,
    select: list(z.enum([...cron.keyof().options, "now"]), LIST_MAX).nullish(),
  }),
  reply: z.array(cron),
});

export const countCrons = operation("countCrons", "post", "/runs/crons/count", {
  tag: TAG,
  access: "crons:search",
  summary: "Count crons",
  body: filterBody,
  reply: z.number().int(),
});

export const getCron = operation("getCron", "get", "/runs/crons/{cron_id}", {
  tag: TAG,
  access: "crons:read",
  summary: "Get a cron",
  reply: cron,
  refusals: ["cron_not_found"],
});

export const patchCron = operation("patchCron", "patch", "/runs/crons/{cron_id}", {
  tag: TAG,
  access: "crons:update",
  summary: "Update a cron; omitted fields keep their value, metadata merges one level deep",
  body: cronPatch,
  reply: cron,
  refusals: [
    "cron_not_found",
    "assistant_not_found",
    "thread_not_found",
    "cron_schedule_invalid",
    "node_unknown",
    "webhook_refused",
  ],
});

export const deleteCron = operation("deleteCron", "delete", "/runs/crons/{cron_id}", {
  tag: TAG,
  access: "crons:delete",
  summary: "Delete a cron; its active runs continue",
  reply: null,
  status: 204,
  refusals: ["cron_not_found"],
});
