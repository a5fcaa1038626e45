// Routes of streams: parse → operation → reply.
import * as contract from "../../api/streams.ts";
import { SSE_HEADERS, withHeartbeats } from "../../http/sse.ts";
import type { HttpReply, HttpRequest } from "../../http/app.ts";
import type { Agent } from "../agent.ts";
import type { Reading } from "../events/reader.ts";
import type { Run } from "../model.ts";
import { startRun } from "../start-run.ts";
import { readOwnRun } from "../streams.ts";
import { id, route, type AgentRoute, type Call } from "./route.ts";
import { runCall } from "./run-call.ts";
import { cancelOnHangUp, locationHeaders, pathOf } from "./run-reply.ts";
import { startOf } from "./stateless.ts";

export function streamRoutes(agent: Agent, heartbeatMs: number): readonly AgentRoute[] {
  const reply = (reading: Reading, request: HttpRequest, headers: Readonly<Record<string, string>>): HttpReply => {
    request.onHangUp(reading.leave);
    const body = withHeartbeats(reading.pieces, agent.clock, heartbeatMs);
    return { status: 200, body, headers: { ...SSE_HEADERS, ...headers } };
  };
  const replyToCaller = (call: Call<unknown, contract.StreamedRunBody>, run: Run, withThread: boolean): HttpReply => {
    if (call.body.on_disconnect === "cancel") cancelOnHangUp(agent, call.caller, run, call.request);
    return reply(readOwnRun(agent, run), call.request, locationHeaders(pathOf(run, withThread), "stream"));
  };
  return [
    route(contract.streamRun, async (call) => {
      const start = { threadId: id(call.ids, "thread_id"), call: await runCall(agent, call, call.body) };
      return replyToCaller(call, (await startRun(agent, call.caller, start)).run, true);
    }),
    route(contract.streamStatelessRun, async (call) => {
      const start = await startOf(agent, call, call.body);
      return replyToCaller(call, (await startRun(agent, call.caller, start)).run, false);
    }),
  ];
}
