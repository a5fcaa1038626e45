// The wire contract of streams: server-sent events of runs and threads.
import * as z from "zod";
import { operation } from "./operation.ts";
import { RUN_REFUSALS, runBody, type RunBody } from "./runs.ts";
import { statelessRunBody } from "./stateless.ts";

export type StreamedRunBody = RunBody;

const TAG = "Streams";
const EVENTS = "Server-sent events (text/event-stream): metadata first, then the events of the stream modes, or error.";

export const streamRun = operation("streamRun", "post", "/threads/{thread_id}/runs/stream", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run, or answer a pause with one, and read its events as they come about",
  body: runBody,
  reply: z.unknown(),
  description: EVENTS,
  refusals: RUN_REFUSALS,
});

export const streamStatelessRun = operation("streamStatelessRun", "post", "/runs/stream", {
  tag: TAG,
  access: "threads:create_run",
  summary: "Start a run on a thread of its own and read its events as they come about",
  body: statelessRunBody,
  reply: z.unknown(),
  description: EVENTS,
  refusals: RUN_REFUSALS,
});
