// API contract of runs.
import * as z from "zod";
import { operation } from "./operation.ts";
import {
  checkpointConfig,
  flag,
  json,
  jsonObject,
  limit,
  list,
  LIST_MAX,
  offset,
  run,
  runConfig,
  runStatus,
  selectList,
  uuid,
} from "./schemas.ts";

const TAG = "Runs";

// ── Webhooks of a run

const HEADERS_MAX = 10;
const HEADER_UNITS_MAX = 4096;
/** Those of the delivery itself. */
const OWN_HEADER =
  /^(content-.*|connection|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*)$/i;

const webhookId = z.string().regex(/^[\w.-]{1,128}$/, "must be 1 to 128 of letters, digits, - . _");
const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~\w-]{1,128}$/, "is not a header name")
  .refine((name) => !OWN_HEADER.test(name), "is a header of the delivery itself");
const headerValue = z
  .string()
  .max(HEADER_UNITS_MAX)
  .regex(/^[\t\x20-\x7e]*$/, "must be ASCII");

const newRunWebhook = z.object({
  webhook_id: webhookId.nullish().describe("replaces the webhook with this id"),
  url: z.string(),
  format: z.enum(["event", "a2a", "a2a_0.3"]).default("event").describe("a2a: the state of the task, in A2A's form"),
  headers: z
    .record(headerName, headerValue)
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `at most ${HEADERS_MAX}`)
    .default({})
    .describe("credentials for the receiver; never returned"),
});

// ── Runs

/** `["*"]` means `"*"`: some clients can only send lists. */
const breakpoints = z
  .union([z.literal("*"), list(z.string().min(1).max(1024), LIST_MAX)])
  .transform((value) => (Array.isArray(value) && value.length === 1 && value[0] === "*" ? "*" : value));

const RUN_WEBHOOKS_MAX = 20;
const AFTER_SECONDS_MAX = 366 * 24 * 60 * 60;

export const streamMode = z.enum([
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "events",
  "tasks",
  "checkpoints",
  "debug",
  "custom",
  "tools",
  "lifecycle",
]);

/** Unknown members are ignored: clients of the library send their own, such as `lg_name`. */
const command = jsonObject
  .refine(({ fork }) => fork === undefined || fork === null || typeof fork === "boolean", {
    path: ["fork"],
    message: "must be true or false",
  })
  .meta({
    id: "Command",
    type: "object",
    properties: {
      resume: { description: "the answer to the open question, or an object from interrupt ids to answers" },
      fork: {
        type: "boolean",
        description: "true answers the interrupt of an older checkpoint again, on a branch that starts there",
      },
      update: { description: "channel values to write" },
      goto: { description: "a node, {node, input}, or a list of these; __end__ discards pending tasks" },
    },
    additionalProperties: true,
  });

export const runBody = z
  .object({
    assistant_id: z.string().min(1).max(1024).describe("a graph's name or an assistant's id"),
    input: json.optional().describe("initial state; null or omitted continues the thread"),
    command: command.nullish(),
    checkpoint_id: uuid.nullish(),
    checkpoint: checkpointConfig.nullish(),
    config: runConfig.nullish(),
    context: json.optional(),
    metadata: jsonObject.nullish(),
    interrupt_before: breakpoints.nullish(),
    interrupt_after: breakpoints.nullish(),
    multitask_strategy: z.enum(["reject", "enqueue", "interrupt", "rollback"]).nullish(),
    on_paused: z
      .enum(["abandon", "reject", "enqueue", "answer"])
      .nullish()
      .describe("what new input, an update or a goto does on a thread that waits for a person"),
    if_not_exists: z.enum(["create", "reject"]).nullish(),
    durability: z.enum(["sync", "async", "exit"]).nullish(),
    checkpoint_during: z.boolean().nullish(),
    stream_mode: z.union([streamMode, list(streamMode, LIST_MAX)]).nullish(),
    stream_subgraphs: z.boolean().nullish(),
    stream_resumable: z.boolean().nullish(),
    on_disconnect: z.enum(["cancel", "continue"]).nullish(),
    webhook: z.string().nullish().describe("URL that receives a POST when the run ends"),
    notify: z
      .union([z.literal(false), z.object({ url: z.string(), format: z.enum(["event", "slack"]).default("event") })])
      .nullish()
      .describe("URL that receives a POST for each interrupt of the run; false sends none"),
    webhooks: list(newRunWebhook, RUN_WEBHOOKS_MAX)
      .nullish()
      .describe("receivers of every end and pause of the run, and of the runs that continue it"),
    after_seconds: z
      .number()
      .min(0)
      .max(AFTER_SECONDS_MAX)
      .nullish()
      .describe("delay before the start; fractions allowed"),
    feedback_keys: list(z.string(), LIST_MAX).nullish(),
    on_completion: z
      .enum(["delete", "keep", "complete", "continue"])
      .nullish()
      .describe("without a thread: the fate of the run's own thread at its end; a thread of the caller always stays"),
    strict_resume: z
      .boolean()
      .nullish()
      .describe("answers are always strict: one that no open question takes is refused"),
  })
  .meta({ id: "RunCreate" });

export type RunBody = z.infer<typeof runBody>;

/** Values for the graph; an answer in `command` has its own limit. */
export const RUN_LARGE = ["input", "command"] as const;

export const RUN_REFUSALS = [
  "thread_not_found",
  "assistant_not_found",
  "checkpoint_not_found",
  "thread_busy",
  "thread_paused",
  "no_pending_interrupt",
  "interrupt_stale",
  "interrupt_unknown",
  "answer_ambiguous",
  "answer_invalid",
  "answer_too_large",
  "answer_delayed",
  "nothing_to_continue",
  "graph_incompatible",
  "control_value_refused",
  "context_invalid",
  "webhook_refused",
  "node_unknown",
  "idempotency_key_reused",
  "overloaded",
  "shutting_down",
] as const;

export const createRun = operation("createRun", "post", "/threads/{thread_id}/runs", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run in the background, or answer a pause with one",
  body: runBody,
  large: RUN_LARGE,
  reply: run,
  refusals: RUN_REFUSALS,
});

export const waitRun = operation("waitRun", "post", "/threads/{thread_id}/runs/wait", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run, or answer a pause with one, and wait until it ends or pauses",
  body: runBody,
  large: RUN_LARGE,
  reply: z.unknown(),
  description:
    "The state; with __interrupt__ (open questions, empty at a breakpoint) when the run paused; {__error__} when it failed. Blank lines before the JSON keep the connection open.",
  refusals: RUN_REFUSALS,
});

export const listRuns = operation("listRuns", "get", "/threads/{thread_id}/runs", {
  tag: TAG,
  access: "threads:read",
  summary: "List the runs of a thread, newest first",
  query: z.object({ limit: limit(10), offset, status: runStatus.optional(), select: selectList.optional() }),
  reply: z.array(run),
  refusals: ["thread_not_found"],
});

export const getRun = operation("getRun", "get", "/threads/{thread_id}/runs/{run_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get a run",
  reply: run,
  refusals: ["thread_not_found", "run_not_found"],
});

export const joinRun = operation("joinRun", "get", "/threads/{thread_id}/runs/{run_id}/join", {
  tag: TAG,
  access: "threads:read",
  summary: "Wait for a run; later calls return the same result",
  query: z.object({ cancel_on_disconnect: flag }),
  reply: z.unknown(),
  refusals: ["thread_not_found", "run_not_found"],
});

export const cancelAction = z.enum(["interrupt", "rollback"]).describe("interrupt, unless given");
const cancelReason = z.literal("taken").describe("the input of the run is in another run; it is kept");

export const cancelRun = operation("cancelRun", "post", "/threads/{thread_id}/runs/{run_id}/cancel", {
  tag: TAG,
  access: "threads:update",
  summary: "Cancel a run; rollback also reverts its writes",
  query: z.object({ wait: flag, action: cancelAction.optional(), reason: cancelReason.optional() }),
  body: z.object({
    wait: z.boolean().nullish(),
    action: cancelAction.nullish(),
    reason: cancelReason.nullish(),
  }),
  reply: null,
  status: 202,
  description: "Cancellation requested. 204 if the run has ended (always with wait=true).",
  refusals: ["thread_not_found", "run_not_found"],
});

export const deleteRun = operation("deleteRun", "delete", "/threads/{thread_id}/runs/{run_id}", {
  tag: TAG,
  access: "threads:delete",
  summary: "Delete the record of a run that has ended",
  reply: null,
  status: 204,
  refusals: ["thread_not_found", "run_not_found", "run_active"],
});

const webhook = z
  .object({
    webhook_id: webhookId,
    run_id: uuid.describe("the first of the runs"),
    thread_id: uuid,
    url: z.string(),
    format: z.enum(["event", "request", "a2a", "a2a_0.3"]),
    created_at: z.string(),
  })
  .meta({ id: "RunWebhook" });

export type RunWebhookObject = z.infer<typeof webhook>;

export const addRunWebhook = operation("addRunWebhook", "post", "/threads/{thread_id}/runs/{run_id}/webhooks", {
  tag: TAG,
  access: "threads:update",
  summary: "Add a webhook to a run: every end and pause of it, and of the runs that continue it, sends an event",
  body: newRunWebhook,
  reply: webhook,
  refusals: ["thread_not_found", "run_not_found", "webhook_refused"],
});

export const listRunWebhooks = operation("listRunWebhooks", "get", "/threads/{thread_id}/runs/{run_id}/webhooks", {
  tag: TAG,
  access: "threads:read",
  summary: "List the webhooks that were added to a run, oldest first",
  reply: z.array(webhook),
  refusals: ["thread_not_found", "run_not_found"],
});

export const deleteRunWebhook = operation(
  "deleteRunWebhook",
  "delete",
  "/threads/{thread_id}/runs/{run_id}/webhooks/{webhook_id}",
  {
    tag: TAG,
    access: "threads:update",
    summary: "Remove a webhook from a run; events in the outbox are still sent",
    reply: null,
    status: 204,
    refusals: ["thread_not_found", "run_not_found"],
  },
);
