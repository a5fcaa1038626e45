// Schemas that several calls share: the objects of the API.
import * as z from "zod";
import { isJsonObject, type Json, type JsonObject } from "@holdpoint/base/json/json.ts";

export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "must be a UUID")
  .transform((text) => text.toLowerCase());

/** Any JSON. Its meaning is up to the graph. */
export const json = z.unknown().transform((value) => value as Json | undefined);
/** Accepted unchanged: z.record() would drop a member named `__proto__`. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, "Invalid input: expected object")
  .meta({ type: "object", additionalProperties: true });

/** Most items of a list in a request, and of a page in a reply. */
export const LIST_MAX = 1000;

/** A list whose length is checked before its items, so that a refused list costs nothing. */
export const list = <Item extends z.ZodType>(item: Item, max: number, min = 0) =>
  z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= max) return value;
    context.issues.push({ code: "too_big", origin: "array", maximum: max, inclusive: true, input: value });
    return z.NEVER;
  }, z.array(item).min(min).max(max));

const TTL_MINUTES_MAX = 10 * 366 * 24 * 60;
const MINUTE_MS = 60_000;

/** Minutes, or `{ttl: minutes, strategy}`; null keeps the thread's current value. */
export const ttl = z
  .union([
    z.number().positive().max(TTL_MINUTES_MAX),
    z.strictObject({
      ttl: z.number().positive().max(TTL_MINUTES_MAX),
      strategy: z.enum(["delete", "keep_latest"]).default("delete"),
    }),
    z.null(),
  ])
  .transform((value) => {
    if (value === null) return null;
    const { ttl: minutes, strategy } =
      typeof value === "number" ? ({ ttl: value, strategy: "delete" } as const) : value;
    return { ttlMs: Math.ceil(minutes * MINUTE_MS), ttlStrategy: strategy };
  });

export const limit = (fallback: number) => z.coerce.number().int().min(1).max(LIST_MAX).default(fallback);
export const offset = z.coerce.number().int().min(0).default(0);
export const sortOrder = z.enum(["asc", "desc"]).default("desc");
export const flag = z
  .enum(["true", "false", "1", "0", ""])
  .default("false")
  .transform((text) => text === "true" || text === "1" || text === "");

/** The config of a run's graph; unknown members pass through. */
export const runConfig = z
  .looseObject({
    tags: list(z.string(), LIST_MAX).nullish(),
    recursion_limit: z.number().int().min(1).max(100_000).nullish(),
    configurable: jsonObject.nullish(),
  })
  .transform((config) => config as JsonObject);

export const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);
export const runStatus = z.enum(["pending", "running", "success", "error", "timeout", "interrupted"]);

/** JSON of a reply, which is sent as it is. */
export const jsonValue = z.unknown() as z.ZodType<Json>;

export const interrupt = z
  .object({
    id: z.string().describe("32 hex digits; the key of an answer map"),
    value: jsonValue.describe("the argument of interrupt()"),
    resumable: z.boolean().describe("true while the interrupt is open on the newest checkpoint"),
    ns: z.array(z.string()).describe("<node>:<task uuid>, from the root graph to the interrupted node"),
    when: z.literal("during"),
    response_schema: z.record(z.string(), jsonValue).optional().describe("JSON Schema of the answer"),
  })
  .meta({ id: "Interrupt" });

export const thread = z
  .object({
    thread_id: uuid,
    created_at: z.string(),
    updated_at: z.string(),
    state_updated_at: z.string(),
    metadata: z.record(z.string(), jsonValue),
    status: threadStatus,
    config: z.record(z.string(), jsonValue),
    values: jsonValue.optional(),
    interrupts: z.record(z.string(), z.array(interrupt)),
    error: z.object({ error: z.string(), message: z.string() }).optional(),
    ttl: z
      .object({ ttl: z.number(), strategy: z.enum(["delete", "keep_latest"]), expires_at: z.string() })
      .nullable()
      .optional()
      .describe("minutes after the last change; present on request"),
    extracted: z.record(z.string(), jsonValue).optional().describe("values at the paths of `extract`"),
  })
  .meta({ id: "Thread" });

export type Thread = z.infer<typeof thread>;

export const run = z
  .object({
    run_id: uuid,
    thread_id: uuid,
    assistant_id: uuid,
    created_at: z.string(),
    updated_at: z.string(),
    status: runStatus,
    ended_by: z.enum(["done", "pause", "cancel", "rollback", "failure", "timeout"]).nullable(),
    cancel_reason: z
      .string()
      .nullable()
      .describe("why the run was cancelled: requested, taken, replaced or disconnected, with a text; else null"),
    attempt: z.number().int(),
    metadata: z.record(z.string(), jsonValue),
    multitask_strategy: z.enum(["reject", "enqueue", "interrupt", "rollback"]),
    kwargs: z.record(z.string(), jsonValue),
    continues: uuid.optional().describe("the first of the runs that this one continues over their pauses"),
    error: z
      .object({
        error: z.string(),
        message: z.string(),
        stack: z.string().optional().describe("files and lines of the failed code"),
      })
      .optional(),
  })
  .meta({ id: "Run" });

export type Run = z.infer<typeof run>;

const assistantMembers = {
  assistant_id: uuid,
  graph_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), jsonValue),
  config: z.record(z.string(), jsonValue),
  context: jsonValue,
  version: z.number().int(),
  created_at: z.string(),
};

export const assistant = z.object({ ...assistantMembers, updated_at: z.string() }).meta({ id: "Assistant" });
export type Assistant = z.infer<typeof assistant>;
export const assistantVersion = z.object(assistantMembers).meta({ id: "AssistantVersion" });

const jsonSchema = z.record(z.string(), jsonValue);

export const graphSchemas = z
  .object({
    graph_id: z.string(),
    input_schema: jsonSchema,
    output_schema: jsonSchema,
    state_schema: jsonSchema,
    config_schema: jsonSchema.nullable(),
    context_schema: jsonSchema.nullable(),
  })
  .meta({ id: "GraphSchemas" });

/** Those of a subgraph have the reference's names as well. */
export const subgraphSchemas = graphSchemas
  .extend({ state: jsonSchema, input: jsonSchema, output: jsonSchema, config: jsonSchema.nullable() })
  .meta({ id: "SubgraphSchemas" });

export const checkpointConfig = z
  .object({
    thread_id: uuid.optional(),
    checkpoint_id: uuid.nullish(),
    checkpoint_ns: z.string().max(4096).nullish(),
    checkpoint_map: z.record(z.string(), jsonValue).nullish(),
  })
  .meta({ id: "CheckpointConfig" });

export const state = z
  .object({
    values: jsonValue,
    next: z.array(z.string()),
    tasks: z.array(z.record(z.string(), jsonValue)),
    metadata: z.record(z.string(), jsonValue),
    created_at: z.string().nullable(),
    checkpoint: checkpointConfig.nullable(),
    parent_checkpoint: checkpointConfig.nullable(),
    interrupts: z.array(interrupt),
  })
  .meta({ id: "ThreadState" });

export type State = z.infer<typeof state>;

/** `?select=run_id,status`, or the parameter repeated in the query. */
export const selectList = z
  .string()
  .max(1024)
  .transform((text) => text.split(","));

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string().describe("see docs/reference/errors.md"),
  })
  .meta({ id: "Problem" });
