// Routes of streams: parse → operation → reply.
import * as contract from "@holdpoint/api/streams.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { HttpRequest } from "@holdpoint/base/http/server/app.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { SSE_HEADERS, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";
import type { AgentContext } from "../context/context.ts";
import type { ThreadPlace } from "../runs/streams/read-thread.ts";
import type { Subscription } from "../runs/streams/subscription.ts";
import type { Run } from "../model/model.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { threadOfRun } from "../runs/accept/stateless-runs.ts";
import { joinRunStream, joinThreadStream, readOwnRun } from "../runs/streams/join-stream.ts";
import { type AgentRoute, type Call, id, route } from "./route.ts";
import { runCall } from "./run-call.ts";
import { cancelOnDisconnect, locationHeaders, buildRunPath, requireMayCancel } from "./run-reply.ts";
import { buildStart } from "./stateless.ts";

export function streamRoutes(agent: AgentContext, heartbeatMs: number): readonly AgentRoute[] {
  const reply = (reading: Subscription, request: HttpRequest, headers: Readonly<Record<string, string>>): HttpReply => {
    request.onDisconnect(reading.leave);
    const body = withHeartbeats(reading.chunks, agent.clock, { everyMs: heartbeatMs });
    return { status: 200, body, headers: { ...SSE_HEADERS, ...headers } };
  };
  const replyToCaller = (
    call: Call<contract.OwnStreamQuery, contract.StreamedRunBody>,
    run: Run,
    withThread: boolean,
  ): HttpReply => {
    if (call.body.on_disconnect === "cancel") cancelOnDisconnect(agent, call.caller, run, call.request);
    return reply(
      readOwnRun(agent, run, call.query.namespace ?? null),
      call.request,
      locationHeaders(buildRunPath(run, withThread), "stream"),
    );
  };
  const join = async (
    call: Call<contract.JoinQuery, unknown>,
    run: Pick<Run, "threadId" | "runId">,
    withThread: boolean,
  ): Promise<HttpReply> => {
    const { query, request, caller, ask } = call;
    if (query.cancel_on_disconnect) await requireMayCancel(agent, { thread_id: run.threadId, run_id: run.runId }, ask);
    const after = readLastEvent(request);
    const place = { ...run, after, shown: query.checkpoint_id ?? null };
    const choice = { modes: query.stream_mode ?? null, namespaces: query.namespace ?? null };
    const reading = await joinRunStream(agent, place, choice);
    if (query.cancel_on_disconnect) cancelOnDisconnect(agent, caller, run, request);
    return reply(reading, request, locationHeaders(buildRunPath(run, withThread), "stream"));
  };
  return [
    route(contract.streamRun, async (call) => {
      const start = { threadId: id(call.ids, "thread_id"), call: await runCall(agent, call, call.body) };
      return replyToCaller(call, (await startRun(agent, call.caller, start)).run, true);
    }),
    route(contract.streamStatelessRun, async (call) => {
      const start = await buildStart(agent, call, call.body);
      return replyToCaller(call, (await startRun(agent, call.caller, start)).run, false);
    }),
    route(contract.joinRunStream, async (call) =>
      join(call, { threadId: id(call.ids, "thread_id"), runId: id(call.ids, "run_id") }, true),
    ),
    route(contract.joinRunStreamById, async (call) => {
      const runId = id(call.ids, "run_id");
      return join(call, { threadId: await threadOfRun(agent, call.scope, runId), runId }, false);
    }),
    route(contract.joinThreadStream, async ({ ids, query, request }) => {
      const threadId = id(ids, "thread_id");
      const modes = query.stream_mode ?? (["run_modes"] as const);
      const reading = await joinThreadStream(agent, threadId, readLastThreadEvent(request), modes);
      return reply(reading, request, { Location: `/threads/${threadId}/stream` });
    }),
  ];
}

/** @throws {ApiError} `invalid_request` */
function readLastEvent({ headers }: HttpRequest): number | null {
  const given = headers["last-event-id"];
  if (given === undefined || given === "" || given === FROM_THE_BEGINNING) return null;
  const last = Number(given);
  if (Number.isSafeInteger(last) && last >= 0) return last;
  throw badLastEvent("the id of an event of this run");
}

/** @throws {ApiError} `invalid_request` */
function readLastThreadEvent({ headers }: HttpRequest): ThreadPlace | "start" | "now" {
  const given = headers["last-event-id"];
  if (given === undefined || given === "") return "now";
  if (given === FROM_THE_BEGINNING) return "start";
  const [runId = "", number = ""] = String(given).split(":");
  const eventId = Number(number);
  if (isUuid(runId) && number !== "" && Number.isSafeInteger(eventId)) return { runId: runId.toLowerCase(), eventId };
  throw badLastEvent("the id of an event of this thread's stream");
}

const FROM_THE_BEGINNING = "-1";

function badLastEvent(what: string): ApiError {
  const detail = `Last-Event-ID must be ${what}, or -1.`;
  return new ApiError("invalid_request", detail, { errors: [{ path: "Last-Event-ID", message: detail }] });
}
