// Routes of requests: parse → operation → reply.
import * as contract from "@holdpoint/api/requests.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { replyWhenReady } from "@holdpoint/base/http/server/long-poll.ts";
import { SSE_HEADERS, sseText, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";
import { createSight } from "../../auth/sight.ts";
import type { AgentContext } from "../../context/context.ts";
import { showAll } from "../../model/payload/mask-secrets.ts";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import type { StoredRequest } from "../../model/request.ts";
import { createRequest } from "../../requests/create-request.ts";
import { answerRequest, cancelRequest, RequestEnded } from "../../requests/end-request.ts";
import {
  followRequest,
  hasEnded,
  readRequest,
  type RequestAddress,
  searchRequests,
  waitForRequest,
} from "../../requests/read-request.ts";
import { serializeRequest } from "../../wire/request-object.ts";
import { readIdempotencyKey } from "../idempotency-key.ts";
import { type AgentRoute, type Call, id, json, route } from "../route.ts";
import { chooseAuthor } from "./author.ts";

type AnyCall = Call<unknown, unknown>;

export function requestRoutes(agent: AgentContext, keepAliveMs: number): readonly AgentRoute[] {
  return [
    route(contract.createRequest, async (call) => {
      const { caller, scope, request: http } = call;
      const idempotencyKey = readIdempotencyKey(http) ?? null;
      const { request, created } = await createRequest(agent, { caller, scope, idempotencyKey }, call.body);
      const headers = { Location: `/requests/${request.thread.threadId}` };
      return { ...(await reply(agent, call, request)), status: created ? 201 : 200, headers };
    }),
    route(contract.getRequest, async (call) => {
      const address = readAddress(call);
      const ms = call.query.wait * 1000;
      if (ms === 0) return reply(agent, call, await readRequest(agent, address));
      await readRequest(agent, address);
      const onLeave = call.request.onDisconnect;
      const waiting = waitForRequest(agent, address, hasEnded, { ms, onLeave });
      const headers = { "Content-Type": "application/json" };
      const ready = waiting.then((request) => reply(agent, call, request));
      return replyWhenReady(ready, headers, agent.clock, keepAliveMs);
    }),
    route(contract.watchRequest, async (call) => {
      const address = readAddress(call);
      await readRequest(agent, address);
      const texts = followTexts(agent, call, address);
      return { status: 200, body: withHeartbeats(texts, agent.clock, { everyMs: keepAliveMs }), headers: SSE_HEADERS };
    }),
    route(contract.searchRequests, async (call) => {
      const { body, scope } = call;
      const { found, next } = await searchRequests(agent, {
        scope,
        status: body.status ?? null,
        metadata: body.metadata ?? {},
        search: queryWords(body.q ?? undefined),
        limit: body.limit,
        offset: Number(body.cursor ?? 0),
      });
      const items = await Promise.all(found.map(async (request) => toObject(agent, call, request)));
      return json({ items, next_cursor: next === null ? null : String(next) });
    }),
    route(contract.answerRequest, (call) =>
      orEnded(agent, call, async () => {
        const { body, scope, ask, request } = call;
        const remember = body.remember ?? null;
        const caller = chooseAuthor(agent, call.caller, body.by ?? undefined);
        const inbox = { caller, scope, ask, idempotencyKey: readIdempotencyKey(request) ?? null };
        return reply(
          agent,
          call,
          await answerRequest(agent, readAddress(call), inbox, { resume: body.answer ?? null, remember }),
        );
      }),
    ),
    route(contract.cancelRequest, (call) =>
      orEnded(agent, call, async () => {
        const request = await cancelRequest(agent, call.caller, readAddress(call), call.body.reason ?? null);
        return reply(agent, call, request);
      }),
    ),
  ];
}

function readAddress({ ids, scope }: AnyCall): RequestAddress {
  return { requestId: id(ids, "request_id"), scope };
}

/** Its author sees the whole answer: the question is its own. */
async function toObject(agent: AgentContext, call: AnyCall, request: StoredRequest): Promise<contract.RequestObject> {
  const { thread, interrupt } = request;
  const isOwn = agent.access !== null && thread.startedBy.includes(call.caller.name);
  const ids = { thread_id: thread.threadId };
  const show = isOwn ? showAll : await createSight({ ...call, ids })([interrupt?.responseSchema ?? null]);
  return serializeRequest(request, agent.publicUrl(), show);
}

async function reply(agent: AgentContext, call: AnyCall, request: StoredRequest): Promise<HttpReply> {
  return json(await toObject(agent, call, request));
}

/** @throws {ApiError} `request_ended` */
async function orEnded(agent: AgentContext, call: AnyCall, act: () => Promise<HttpReply>): Promise<HttpReply> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof RequestEnded)) throw error;
    const request = await toObject(agent, call, error.request);
    throw new ApiError("request_ended", `The request is ${request.status}.`, { request });
  }
}

/** The request after each change. */
async function* followTexts(agent: AgentContext, call: AnyCall, address: RequestAddress): AsyncGenerator<string> {
  let last = "";
  const onLeave = call.request.onDisconnect;
  for await (const request of followRequest(agent, address, { until: Infinity, onLeave })) {
    const data = JSON.stringify(await toObject(agent, call, request));
    if (data !== last) yield sseText({ event: "request", data, id: null });
    last = data;
    if (hasEnded(request)) return;
  }
}
