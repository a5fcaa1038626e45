// API contract of threads and their state.
import * as z from "zod";
import { searchText } from "./inbox-filter.ts";
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
  selectList,
  sortOrder,
  state,
  thread,
  threadStatus,
  ttl,
  uuid,
} from "./schemas.ts";

const TAG = "Threads";

const SUPERSTEPS_MAX = 1000;
const UPDATES_MAX = 100;

const superstepUpdate = z.object({
  values: json.optional(),
  command: jsonObject.nullish().describe("{update, goto}, instead of values"),
  as_node: z.string().min(1).max(1024).nullish(),
});

export const createThread = operation("createThread", "post", "/threads", {
  tag: TAG,
  access: "threads:create",
  summary: "Create a thread",
  body: z.object({
    thread_id: uuid.nullish(),
    metadata: jsonObject.nullish(),
    if_exists: z.enum(["raise", "do_nothing"]).nullish(),
    ttl: ttl.nullish(),
    supersteps: list(z.object({ updates: list(superstepUpdate, UPDATES_MAX, 1) }), SUPERSTEPS_MAX)
      .nullish()
      .describe("initial state updates, on the graph of metadata.graph_id"),
  }),
  large: ["supersteps"],
  reply: thread,
  refusals: [
    "thread_exists",
    "thread_without_graph",
    "assistant_not_found",
    "state_update_invalid",
    "node_unknown",
    "control_value_refused",
  ],
});

export const getThread = operation("getThread", "get", "/threads/{thread_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get a thread",
  query: z.object({ include: z.string().max(200).optional().describe("`ttl`: include the time to live") }),
  reply: thread,
  refusals: ["thread_not_found"],
});

export const getThreadStorage = operation("getThreadStorage", "get", "/threads/{thread_id}/storage", {
  tag: TAG,
  access: "threads:read",
  summary: "The bytes that the checkpoints of a thread take in the database",
  reply: z.object({
    thread_id: uuid,
    total_bytes: z.number().int(),
    checkpoints: z.object({ count: z.number().int(), bytes: z.number().int() }),
    channel_values: z.record(z.string(), z.number().int()).describe("bytes by channel; a large value counts once"),
    pending_writes: z.object({ count: z.number().int(), bytes: z.number().int() }),
  }),
  refusals: ["thread_not_found"],
});

export const patchThread = operation("patchThread", "patch", "/threads/{thread_id}", {
  tag: TAG,
  access: "threads:update",
  summary: "Change a thread's metadata (merged, one level deep) or time to live",
  body: z.object({ metadata: jsonObject.nullish(), ttl: ttl.optional() }),
  reply: thread,
  refusals: ["thread_not_found"],
});

export const patchState = operation("patchState", "patch", "/threads/{thread_id}/state", {
  tag: TAG,
  access: "threads:update",
  summary: "Change a thread's metadata (merged, one level deep)",
  body: z.object({ metadata: jsonObject }),
  reply: thread,
  refusals: ["thread_not_found"],
});

const PRUNED_MAX = 1000;

export const pruneThreads = operation("pruneThreads", "post", "/threads/prune", {
  tag: TAG,
  access: "threads:delete",
  summary: "Delete many threads, or all of their checkpoints but the newest",
  body: z.object({
    thread_ids: list(uuid, PRUNED_MAX, 1),
    strategy: z.enum(["delete", "keep_latest"]).default("delete"),
  }),
  reply: z.object({ pruned_count: z.number().int() }),
  description: "The count omits unknown threads and, with keep_latest, threads with a run in progress.",
});

export const deleteThread = operation("deleteThread", "delete", "/threads/{thread_id}", {
  tag: TAG,
  access: "threads:delete",
  summary: "Delete a thread with its runs and checkpoints; stops a run in progress",
  reply: null,
  status: 204,
  refusals: ["thread_not_found"],
});

export const eraseThread = operation("eraseThread", "post", "/threads/{thread_id}/erase", {
  tag: TAG,
  access: "threads:delete",
  summary: "Delete a thread and all that the server has of it beyond: undelivered webhooks, its memory, its traces",
  body: z.strictObject({ dry_run: z.boolean().default(false).describe("count only, and delete nothing") }),
  reply: z.object({
    thread_id: z.string(),
    dry_run: z.boolean(),
    places: z.record(z.string(), z.number().int()).describe("place → number of rows, items or traces; none with 0"),
  }),
  description: "A repeated call deletes what a crash has left, or what arrived meanwhile.",
  refusals: ["thread_not_found"],
});

const threadFilter = {
  metadata: jsonObject.nullish(),
  values: jsonObject.nullish(),
  ids: list(uuid, LIST_MAX).nullish(),
  id_prefix: z.string().min(1).max(36).toLowerCase().nullish().describe("the beginning of an id, as lists show it"),
  status: threadStatus.nullish(),
  q: searchText.nullish(),
};

const EXTRACTS_MAX = 10;
const threadField = z.enum([...thread.omit({ ttl: true, extracted: true }).keyof().options, "context"]);

export const searchThreads = operation("searchThreads", "post", "/threads/search", {
  tag: TAG,
  access: "threads:search",
  summary:
    "Search threads; X-Pagination-Next is the next offset, X-Pagination-Total counts at most 100 past the offset",
  body: z.object({
    ...threadFilter,
    limit: limit(10),
    offset,
    sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).default("created_at"),
    sort_order: sortOrder,
    select: list(threadField, LIST_MAX).nullish(),
    extract: z
      .record(z.string().min(1).max(200), z.string().min(1).max(500))
      .refine((paths) => Object.keys(paths).length <= EXTRACTS_MAX, `at most ${EXTRACTS_MAX} paths`)
      .nullish()
      .describe('name → path, such as "values.messages[-1].content"; `extracted` contains the value at the path'),
  }),
  reply: z.array(thread),
});

export const countThreads = operation("countThreads", "post", "/threads/count", {
  tag: TAG,
  access: "threads:search",
  summary: "Count threads",
  body: z.object(threadFilter),
  reply: z.number().int(),
});

export const copyThread = operation("copyThread", "post", "/threads/{thread_id}/copy", {
  tag: TAG,
  access: "threads:create",
  summary: "Copy a thread; the copy of a paused thread has the same interrupts",
  reply: thread,
  refusals: ["thread_not_found"],
});

const STATE_FIELD = /^(?:values(?:\..+)?|next|tasks|checkpoint|metadata|created_at|parent_checkpoint|interrupts)$/;
const stateField = z.string().max(1024).regex(STATE_FIELD, "is no field of a state; values.<key> is one value");
const stateFields = list(stateField, LIST_MAX);
const selectedFields = selectList.pipe(z.array(stateField));
const stateQuery = z.object({ subgraphs: flag, select: selectedFields.optional() });

export const getState = operation("getState", "get", "/threads/{thread_id}/state", {
  tag: TAG,
  access: "threads:read",
  summary: "Get the current state of a thread",
  query: stateQuery,
  reply: state,
  refusals: ["thread_not_found"],
});

export const getStateAt = operation("getStateAt", "get", "/threads/{thread_id}/state/{checkpoint_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get the state at a checkpoint",
  query: stateQuery,
  reply: state,
  refusals: ["thread_not_found", "checkpoint_not_found"],
});

export const getStateOf = operation("getStateOf", "post", "/threads/{thread_id}/state/checkpoint", {
  tag: TAG,
  access: "threads:read",
  summary: "Get the state at a checkpoint, also one of a subgraph",
  body: z.object({ checkpoint: checkpointConfig, subgraphs: z.boolean().nullish(), select: stateFields.nullish() }),
  reply: state,
  refusals: ["thread_not_found", "checkpoint_not_found"],
});

export const updateState = operation("updateState", "post", "/threads/{thread_id}/state", {
  tag: TAG,
  access: "threads:update",
  summary: "Change the state as if a node had; as_node __end__ with no values discards pending tasks",
  body: z.object({
    values: json.optional(),
    as_node: z.string().min(1).max(1024).nullish(),
    checkpoint_id: uuid.nullish(),
    checkpoint: checkpointConfig.nullish(),
  }),
  large: ["values"],
  reply: z.object({ checkpoint: checkpointConfig }),
  refusals: [
    "thread_not_found",
    "thread_busy",
    "thread_without_graph",
    "checkpoint_not_found",
    "state_update_invalid",
    "node_unknown",
    "control_value_refused",
  ],
});

/** `before` is a checkpoint id, or a config that holds one. */
const before = z
  .union([
    uuid,
    z.object({ configurable: checkpointConfig }).transform(({ configurable }) => configurable), // first: the next option accepts any object
    checkpointConfig,
  ])
  .transform((value) => (typeof value === "string" ? value : (value.checkpoint_id ?? null)));

export const getHistory = operation("getHistory", "get", "/threads/{thread_id}/history", {
  tag: TAG,
  access: "threads:read",
  summary: "List the states of a thread, newest first",
  query: z.object({ limit: limit(10), before: uuid.optional(), select: selectedFields.optional() }),
  reply: z.array(state),
  refusals: ["thread_not_found"],
});

export const postHistory = operation("postHistory", "post", "/threads/{thread_id}/history", {
  tag: TAG,
  access: "threads:read",
  summary: "List the states of a thread, newest first, with filters",
  body: z.object({
    limit: limit(10),
    before: before.nullish(),
    metadata: jsonObject.nullish(),
    checkpoint: checkpointConfig.nullish(),
    select: stateFields.nullish(),
  }),
  reply: z.array(state),
  refusals: ["thread_not_found"],
});
