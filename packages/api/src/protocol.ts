// API contract of the thread protocol: commands of a thread, and its events as a stream.
import * as z from "zod";
import { operation } from "./operation.ts";
import { jsonObject, list, LIST_MAX } from "./schemas.ts";

const TAG = "Thread protocol";

const NAMESPACES_MAX = 64;
const SEGMENTS_MAX = 32;
const SEGMENT_UNITS_MAX = 1024;

const namespace = list(z.string().max(SEGMENT_UNITS_MAX), SEGMENTS_MAX);

export const eventFilter = z.object({
  channels: list(z.string(), LIST_MAX, 1).describe(
    "values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:<name>",
  ),
  namespaces: list(namespace, NAMESPACES_MAX).nullish().describe("prefixes of the namespaces to show; none shows all"),
  depth: z.number().int().min(0).nullish().describe("levels below a prefix; only with namespaces"),
  since: z.number().int().min(0).nullish().describe("show events after this seq; 0 is all that is kept"),
});

export type EventFilterBody = z.infer<typeof eventFilter>;

export const command = z.object({
  id: z.number().int().min(0),
  method: z.string(),
  params: jsonObject.optional(),
});

export type CommandBody = z.infer<typeof command>;

const reply = z.object({
  type: z.enum(["success", "error"]),
  id: z.number().int().nullable(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.string().optional(),
  message: z.string().optional(),
  code: z.string().optional(),
  meta: z.object({ thread_id: z.string(), applied_through_seq: z.number().int() }).optional(),
});

export const sendCommand = operation("sendCommand", "post", "/threads/{thread_id}/commands", {
  tag: TAG,
  malformedId: "invalid_request",
  access: "authenticated",
  summary: "Carry out one command of the thread protocol",
  body: command,
  large: ["params"],
  reply,
  description: "A success or error envelope; docs/reference/thread-protocol.md lists commands and codes.",
  refusals: ["malformed_json", "invalid_request", "forbidden", "thread_not_found"],
});

export const streamThreadEvents = operation("streamThreadEvents", "post", "/threads/{thread_id}/stream/events", {
  tag: TAG,
  malformedId: "invalid_request",
  access: "authenticated", // asked for threads:read by the route: a thread out of reach is silent, as one that is not there
  summary: "Stream the events of a thread, over its runs, as they match a filter",
  body: eventFilter,
  reply: z.unknown(),
  description: "Server-sent events (text/event-stream) that never end by themselves. The thread need not exist yet.",
  refusals: ["invalid_request", "too_many_streams", "shutting_down"],
});

export const createSocketTicket = operation("createSocketTicket", "post", "/threads/{thread_id}/stream/tickets", {
  tag: TAG,
  malformedId: "invalid_request",
  access: "authenticated", // asked for threads:read by the route, as streamThreadEvents
  summary: "Create a one-use ticket that opens a WebSocket of a thread",
  reply: z.object({
    ticket: z.string().describe("append it to the address of the WebSocket: ?ticket="),
    expires_at: z.iso.datetime(),
  }),
  description: "A ticket opens one WebSocket of this thread within 30 seconds, with the credentials of this call.",
  refusals: ["forbidden", "too_many_tickets"],
});

export const openThreadSocket = operation("openThreadSocket", "get", "/threads/{thread_id}/stream/events", {
  tag: TAG,
  malformedId: "invalid_request",
  access: "authenticated",
  summary: "Open a WebSocket for commands and events of a thread",
  reply: null,
  status: 101,
  description: "Only with Upgrade: websocket; docs/reference/thread-protocol.md describes the frames.",
  refusals: ["upgrade_required"],
});
