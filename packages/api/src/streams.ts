// API contract of streams: server-sent events of runs and threads.
import * as z from "zod";
import { operation } from "./operation.ts";
import { RUN_LARGE, RUN_REFUSALS, runBody, streamMode, type RunBody } from "./runs.ts";
import { flag, uuid } from "./schemas.ts";
import { statelessRunBody } from "./stateless.ts";

export type StreamedRunBody = RunBody;

const TAG = "Streams";
const EVENTS = "Server-sent events (text/event-stream): metadata first, then the events of the stream modes, or error.";

const splitAtCommas = (text: unknown): unknown => (typeof text === "string" ? text.split(",") : text);

/** One name, or several separated by commas. */
function parseList<Mode extends z.ZodEnum>(mode: Mode) {
  return z.preprocess(splitAtCommas, z.array(mode));
}

const namespaces = z
  .preprocess(splitAtCommas, z.array(z.string().max(4096)).max(64))
  .optional()
  .describe("only the events of these graphs, without those of the graphs that they call; empty: the root graph");

const ownStreamQuery = z.object({ namespace: namespaces });

export type OwnStreamQuery = z.infer<typeof ownStreamQuery>;

export const streamRun = operation("streamRun", "post", "/threads/{thread_id}/runs/stream", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run, or answer a pause with one, and stream its events",
  query: ownStreamQuery,
  body: runBody,
  large: RUN_LARGE,
  reply: z.unknown(),
  description: EVENTS,
  refusals: RUN_REFUSALS,
});

export const streamStatelessRun = operation("streamStatelessRun", "post", "/runs/stream", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run on a temporary thread and stream its events",
  query: ownStreamQuery,
  body: statelessRunBody,
  large: RUN_LARGE,
  reply: z.unknown(),
  description: EVENTS,
  refusals: RUN_REFUSALS,
});

const joinQuery = z.object({
  cancel_on_disconnect: flag,
  stream_mode: parseList(streamMode).optional().describe("subset of the run's stream modes"),
  namespace: namespaces,
  checkpoint_id: uuid
    .optional()
    .describe("the reader shows this checkpoint: only later events, or all when no state of the stream is this one"),
});

export type JoinQuery = z.infer<typeof joinQuery>;

const AGAIN =
  "Last-Event-ID resumes after that event; -1, or none, reads from the start. The stream ends with the run.";

export const joinRunStream = operation("joinRunStream", "get", "/threads/{thread_id}/runs/{run_id}/stream", {
  tag: TAG,
  access: "threads:read",
  summary: "Stream the events of a run, from the start or from the last received event",
  query: joinQuery,
  reply: z.unknown(),
  description: `${EVENTS} ${AGAIN}`,
  refusals: ["thread_not_found", "run_not_found"],
});

export const joinRunStreamById = operation("joinRunStreamById", "get", "/runs/{run_id}/stream", {
  tag: TAG,
  access: "threads:read",
  summary: "Stream the events of a run by its id alone",
  query: joinQuery,
  reply: z.unknown(),
  description: `${EVENTS} ${AGAIN}`,
  refusals: ["run_not_found"],
});

export const joinThreadStream = operation("joinThreadStream", "get", "/threads/{thread_id}/stream", {
  tag: TAG,
  access: "threads:read",
  summary: "Stream the events of all runs of a thread, until the reader disconnects",
  query: z.object({
    stream_mode: parseList(z.enum(["run_modes", "lifecycle", "state_update"]))
      .optional()
      .describe(
        "run_modes: all that the runs stream; lifecycle: begin and end of runs; state_update is accepted and yields no events",
      ),
  }),
  reply: z.unknown(),
  description:
    "Server-sent events (text/event-stream). Ids are <run id>:<number>. Without Last-Event-ID it starts at the next event; with -1, at the oldest retained event.",
  refusals: ["thread_not_found"],
});
