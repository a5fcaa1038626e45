// Routes of the thread protocol over HTTP: commands, and events as server-sent events.
// Invariants:
//   - A stream sends its head and a comment at once, and never ends cleanly while its thread is there.
//   - A stream of a thread that is not there, or not within reach, is silent; both look the same.
import * as contract from "@holdpoint/api/protocol.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { SSE_HEADERS, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";
import type { AgentContext } from "../context/context.ts";
import { endNoteId } from "../events/thread-note.ts";
import { type AgentRoute, type Call, id, json, route } from "../routes/route.ts";
import { attach, watchScope } from "./attach.ts";
import { carryOut } from "./carry-out.ts";
import { buildAsk } from "./command-call.ts";
import { convertedRow, EVERYTHING } from "./convert/converted-row.ts";
import { isForHttp } from "./envelope.ts";
import { toEventFilter } from "./event-filter.ts";
import type { Reading } from "./read-events.ts";
import { eventStreamBytes } from "./shared-selection.ts";
import { issueTicket } from "./socket-tickets.ts";

/** Clients take a stream without a comment for three times as long as dead, once they have seen two. */
const HEARTBEAT_MS_MAX = 5000;
const STALL_MS = 60_000;
const HEARTBEAT = ": heartbeat\n";
const FIRST_COMMENT = ": thread events\n";
/** Events after `since` are not retained any more; the baseline follows. */
const MISSED = ": missed\n";

export function protocolRoutes(agent: AgentContext, heartbeatMs: number): readonly AgentRoute[] {
  return [
    route(contract.sendCommand, async ({ ids, body, request, caller }) => {
      const threadId = id(ids, "thread_id");
      const { envelope, runId, error } = await carryOut(agent, { threadId, caller, command: body, request });
      if (error !== null && isForHttp(error)) throw error as Error;
      return json(envelope, runId === null ? {} : { "Content-Location": `/threads/${threadId}/runs/${runId}` });
    }),
    route(contract.streamThreadEvents, (call) => streamEvents(agent, call, heartbeatMs), { watches: true }),
    route(contract.createSocketTicket, async ({ ids, request, caller }) => {
      const threadId = id(ids, "thread_id");
      await buildAsk(agent, caller)("threads:read", { thread_id: threadId });
      const { ticket, expiresAt } = await issueTicket(agent, threadId, caller, request.headers);
      const reply = { ticket, expires_at: new Date(expiresAt).toISOString() };
      return json(reply, { "Cache-Control": "no-store" });
    }),
    route(contract.openThreadSocket, async () => {
      const detail = "This address is a WebSocket: send Upgrade: websocket, or POST a filter for server-sent events.";
      throw new ApiError("upgrade_required", detail, {}, { Upgrade: "websocket", Connection: "Upgrade" });
    }),
  ];
}

async function streamEvents(
  agent: AgentContext,
  { ids, body, request }: Call<unknown, contract.EventFilterBody>,
  heartbeatMs: number,
): Promise<HttpReply> {
  const threadId = id(ids, "thread_id");
  let reading: Reading | null = null;
  const watch = await watchScope(agent, request, threadId, () => reading?.cut());
  const filter = toEventFilter(body);
  const since = filter.since ?? (await seqAfter(agent, threadId, request.headers["last-event-id"]));
  const attached = await attach(agent, threadId, { ...filter, since }, watch).catch((error: unknown) => {
    watch.stop();
    throw error;
  });
  reading = attached;
  const leave = (): void => {
    watch.stop();
    attached.leave();
  };
  request.onDisconnect(leave);
  const pieces = withHeartbeats(encodeFrames(attached, since), agent.clock, {
    everyMs: Math.min(heartbeatMs, HEARTBEAT_MS_MAX),
    comment: HEARTBEAT,
    isSteady: true,
  });
  return {
    status: 200,
    body: pieces,
    headers: SSE_HEADERS,
    stallMs: STALL_MS,
  };
}

/** The position of clients that name their last event: its id or its seq. Null, a full replay, if it is unknown. */
async function seqAfter(
  agent: AgentContext,
  threadId: string,
  given: string | readonly string[] | undefined,
): Promise<number | null> {
  if (typeof given !== "string") return null;
  if (/^\d{1,16}$/.test(given)) return Number(given);
  const runId = RUN_ID.exec(given)?.[0];
  if (runId === undefined) return null;
  return (await seqIn(agent, threadId, runId, given)) ?? (await seqIn(agent, threadId, endNoteId(runId), given));
}

async function seqIn(agent: AgentContext, threadId: string, logId: string, eventId: string): Promise<number | null> {
  for (let afterSeq = 0; ;) {
    const query = { runId: logId, afterSeq, fromId: 0, limit: 1 };
    const [row] = await agent.storage.read((tx) => tx.events(threadId, query));
    if (row === undefined) return null;
    afterSeq = row.seq;
    const found = (await convertedRow(agent, row, EVERYTHING)).find(({ id: own }) => own === eventId);
    if (found !== undefined) return found.seq;
  }
}

const RUN_ID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/;

async function* encodeFrames({ events }: Reading, since: number | null): AsyncGenerator<string | Uint8Array> {
  yield FIRST_COMMENT;
  for await (const { events: some, isBaseline } of events) {
    if (isBaseline && since !== null) yield MISSED;
    if (some.length > 0) yield eventStreamBytes(some);
  }
}
