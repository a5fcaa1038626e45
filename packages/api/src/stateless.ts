// API contract of stateless runs, and of runs across threads.
import * as z from "zod";
import { isJsonObject, type Json } from "@holdpoint/base/json/json.ts";
import { operation } from "./operation.ts";
import { cancelAction, RUN_LARGE, RUN_REFUSALS, runBody } from "./runs.ts";
import { flag, list, LIST_MAX, run, uuid } from "./schemas.ts";

const TAG = "Runs";

export const statelessRunBody = runBody
  .extend({
    thread_id: uuid.nullish().describe("run on this existing thread instead of a temporary one"),
  })
  .meta({ id: "RunCreateStateless" });

export type StatelessRunBody = z.infer<typeof statelessRunBody>;

/** The official client sends batch runs with its own member names: `multitaskStrategy`. Both forms are accepted. */
function snakeNames(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const given = Object.entries(value).map(([name, member]): [string, Json] => {
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [snake in statelessRunBody.shape && !Object.hasOwn(value, snake) ? snake : name, member];
  });
  return Object.fromEntries(given);
}

export const createStatelessRun = operation("createStatelessRun", "post", "/runs", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run in the background on a temporary thread, deleted after the run",
  body: statelessRunBody,
  large: RUN_LARGE,
  reply: run,
  refusals: RUN_REFUSALS,
});

export const waitStatelessRun = operation("waitStatelessRun", "post", "/runs/wait", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run on a temporary thread and wait until it ends or pauses",
  body: statelessRunBody,
  large: RUN_LARGE,
  reply: z.unknown(),
  description: "As POST /threads/{thread_id}/runs/wait. A paused run keeps its thread until the pause ends.",
  refusals: RUN_REFUSALS,
});

const BATCH_MAX = 1000;

export const createRunBatch = operation("createRunBatch", "post", "/runs/batch", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start several runs in the background: all of them, or none",
  body: list(z.preprocess(snakeNames, statelessRunBody), BATCH_MAX, 1).describe("bodies of POST /runs"),
  large: RUN_LARGE,
  reply: z.array(run),
  description: "The runs in the order of their bodies. `index` of a refusal is the position of the refused body.",
  refusals: RUN_REFUSALS,
});

export const cancelRuns = operation("cancelRuns", "post", "/runs/cancel", {
  tag: TAG,
  access: "threads:update",
  summary: "Cancel the named runs of a thread, or all with a status: of a thread, or of every one",
  query: z.object({ action: cancelAction.optional() }),
  body: z.object({
    action: cancelAction.nullish(),
    thread_id: uuid.nullish(),
    run_ids: list(uuid, LIST_MAX, 1).nullish(),
    status: z.enum(["pending", "running", "all"]).nullish(),
  }),
  reply: null,
  status: 204,
  description: "Pending runs have ended; running ones receive a cancellation.",
  refusals: ["thread_not_found", "run_not_found"],
});

export const getRunById = operation("getRunById", "get", "/runs/{run_id}", {
  tag: TAG,
  access: "threads:read",
  summary: "Get a run by its id alone",
  reply: run,
  refusals: ["run_not_found"],
});

export const joinRunById = operation("joinRunById", "get", "/runs/{run_id}/join", {
  tag: TAG,
  access: "threads:read",
  summary: "Wait for a run, by its id alone",
  query: z.object({ cancel_on_disconnect: flag }),
  reply: z.unknown(),
  refusals: ["run_not_found"],
});
