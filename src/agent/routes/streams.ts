// Routes of streams: parse → operation → reply.
import * as contract from "../../api/streams.ts";
import { SSE_HEADERS, withHeartbeats } from "../../http/sse.ts";
import type { HttpReply, HttpRequest } from "../../http/app.ts";
import type { Agent } from "../agent.ts";
import type { Reading } from "../events/reader.ts";
import { cancelRun } from "../runs.ts";
import { startRun } from "../start-run.ts";
import { readOwnRun } from "../streams.ts";
import { id, route, type AgentRoute } from "./route.ts";
import { locationHeaders, runCall } from "./runs.ts";

export function streamRoutes(agent: Agent, heartbeatMs: number): readonly AgentRoute[] {
  const reply = (reading: Reading, request: HttpRequest, headers: Readonly<Record<string, string>>): HttpReply => {
    request.onHangUp(reading.leave);
    const body = withHeartbeats(reading.pieces, agent.clock, heartbeatMs);
    return { status: 200, body, headers: { ...SSE_HEADERS, ...headers } };
  };
  return [
    route(contract.streamRun, async (call) => {
      const { body, request, caller } = call;
      const threadId = id(call.ids, "thread_id");
      const { run } = await startRun(agent, caller, threadId, await runCall(agent, call));
      if (body.on_disconnect === "cancel") {
        request.onHangUp(() => {
          cancelRun(agent, caller, threadId, run.runId, "interrupt").catch(() => undefined); // it may be gone by then
        });
      }
      return reply(readOwnRun(agent, run), request, locationHeaders(run, "stream"));
    }),
  ];
}
