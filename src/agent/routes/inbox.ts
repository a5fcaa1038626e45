// Routes of the inbox: parse → operation → reply.
import * as contract from "../../api/inbox.ts";
import * as actions from "../../api/items/item-actions.ts";
import { ApiError } from "../../base/api-error.ts";
import { isUuid } from "../../base/ids.ts";
import type { Json, JsonObject } from "../../base/json/json.ts";
import { problemObject } from "../../http/server/problem.ts";
import { SSE_HEADERS, sseText, withHeartbeats } from "../../http/server/sse.ts";
import type { AgentContext } from "../context.ts";
import { addComment, readComments, snoozeItem } from "../inbox/item-work.ts";
import { assignItem, assignItemTo, releaseItem } from "../inbox/assign-item.ts";
import { answerInbox, type AnswerResult } from "../inbox/answer-inbox.ts";
import { serializeAuditEntry, serializeInboxItem } from "../serializers/inbox-item.ts";
import { serializeReview } from "../serializers/review-object.ts";
import { countInbox, getItem, listInbox, type Item, type ItemAddress } from "../inbox/inbox.ts";
import type { Caller, Scope } from "../model/model.ts";
import type { InboxPlace } from "../ports/ports.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { id, json, longJson, route, type AgentRoute } from "./route.ts";

export function inboxRoutes(agent: AgentContext, keepAliveMs: number): readonly AgentRoute[] {
  const itemObject = objectOf(agent);
  return [
    ...itemRoutes(agent),
    route(contract.listInbox, async ({ query, scope }) => {
      const { rows, next } = await listInbox(agent, inboxQueryOf(agent, query, scope));
      const items = rows.map(({ interrupt, metadata, status }) => {
        const { value, response_schema: schema, ...rest } = itemObject({ interrupt, thread: { metadata, status } });
        const review = serializeReview(interrupt, query.values);
        return {
          ...rest,
          ...(review === null ? {} : { review }),
          ...(query.values ? { value, ...(schema === undefined ? {} : { response_schema: schema }) } : {}),
        };
      });
      return longJson({ items, next_cursor: next === null ? null : cursorOf(next) });
    }),
    route(contract.countInbox, async ({ query, scope }) =>
      json({ count: await countInbox(agent, inboxQueryOf(agent, query, scope)) }),
    ),
    route(contract.watchInbox, async ({ request, scope }) => {
      const last = request.headers["last-event-id"];
      const { events, leave } = agent.inbox.watch(scope, typeof last === "string" && last !== "" ? last : null);
      request.onDisconnect(leave);
      const texts = (async function* texts() {
        for await (const event of events) yield sseText(event);
      })();
      return { status: 200, body: withHeartbeats(texts, agent.clock, keepAliveMs), headers: SSE_HEADERS };
    }),
    route(contract.answerInbox, async ({ body, caller, scope, ask, request }) => {
      const as = authorOf(agent, caller, "by" in body ? body.by : undefined);
      const answers = body.answers.map((answer) => ({
        threadId: answer.thread_id,
        interruptId: answer.interrupt_id,
        resume: answer.resume,
      }));
      const results = await answerInbox(
        agent,
        { caller: as, scope, ask, idempotencyKey: idempotencyKeyOf(request) ?? null },
        answers,
      );
      return json({ results: results.map(resultObject) });
    }),
  ];
}

function millisecondsOf(seconds: number | null | undefined): number | null {
  return seconds === null || seconds === undefined ? null : Math.ceil(seconds * 1000);
}

/** Calls about one item. */
function itemRoutes(agent: AgentContext): readonly AgentRoute[] {
  const itemObject = objectOf(agent);
  return [
    route(contract.getInboxItem, async ({ ids }) => longJson(itemObject(await getItem(agent, addressOf(ids))))),
    route(contract.claimInboxItem, async ({ ids, body, caller }) => {
      const forMs = millisecondsOf(body.expires_in_seconds);
      const as = authorOf(agent, caller, body.by);
      return json(itemObject(await assignItem(agent, as, addressOf(ids), forMs)));
    }),
    route(contract.releaseInboxItem, async ({ ids, body, caller }) => {
      const as = authorOf(agent, caller, body.by);
      const item = await releaseItem(agent, as, addressOf(ids), body.force);
      return json(itemObject(item));
    }),
    route(actions.assignInboxItem, async ({ ids, body, caller }) => {
      const { to, force } = body;
      const as = authorOf(agent, caller, body.by);
      const forMs = millisecondsOf(body.expires_in_seconds);
      return json(itemObject(await assignItemTo(agent, as, addressOf(ids), { to, force, forMs })));
    }),
    route(actions.snoozeInboxItem, async ({ ids, body, caller }) => {
      const forMs = millisecondsOf(body.for_seconds);
      const date = typeof body.until === "string" ? Date.parse(body.until) : null;
      const until = forMs === null ? date : agent.clock.now() + forMs;
      return json(itemObject(await snoozeItem(agent, authorOf(agent, caller, body.by), addressOf(ids), until)));
    }),
    route(actions.addComment, async ({ ids, body, caller }) => {
      const as = authorOf(agent, caller, body.by);
      return longJson(itemObject(await addComment(agent, as, addressOf(ids), body.text)));
    }),
    route(actions.listComments, async ({ ids, query }) => {
      const { items, next } = await readComments(agent, addressOf(ids), query);
      return json({ items: items.map(serializeAuditEntry), next_after: next });
    }),
  ];
}

function objectOf({ clock }: AgentContext): (item: Item) => JsonObject {
  return ({ interrupt, thread }) => serializeInboxItem(interrupt, thread.status, thread.metadata, clock.now());
}

type InboxParameters = (typeof contract.listInbox)["query"]["_output"];

/** @throws {ApiError} `invalid_request` */
function inboxQueryOf(agent: AgentContext, query: InboxParameters, scope: Scope): Parameters<typeof listInbox>[1] {
  return {
    scope,
    threadId: query.thread_id ?? null,
    graphId: query.graph_id ?? null,
    assistantId: query.assistant_id ?? null,
    node: query.node ?? null,
    kind: query.kind ?? null,
    claimedBy: query.claimed_by ?? null,
    unclaimed: query.unclaimed,
    snoozed: query.snoozed === undefined ? null : query.snoozed === "true",
    createdBefore: query.older_than === undefined ? null : agent.clock.now() - query.older_than,
    metadata: query.metadata ?? null,
    after: query.cursor === undefined ? null : placeOf(query.cursor),
    limit: query.limit,
    descending: query.order === "desc",
  };
}

function addressOf(ids: Readonly<Record<string, string>>): ItemAddress {
  return { threadId: id(ids, "thread_id"), interruptId: id(ids, "interrupt_id") };
}

/** @throws {ApiError} `invalid_request`: an authenticated caller cannot use another name */
function authorOf(agent: AgentContext, caller: Caller, by: string | undefined): Caller {
  if (by === undefined || by === caller.name) return caller;
  if (agent.access === null) return { ...caller, name: by };
  throw new ApiError("invalid_request", "`by` is only for servers without authentication: omit it.");
}

function resultObject(result: AnswerResult): object {
  const { threadId, interruptId } = result.answer;
  const ids = { thread_id: threadId, interrupt_id: interruptId };
  if ("run" in result) return { ...ids, status: "answered", run_id: result.run.runId };
  return "pending" in result
    ? { ...ids, status: "pending", problem: problemObject(result.pending) }
    : { ...ids, status: "refused", problem: problemObject(result.refusal) };
}

function cursorOf({ createdAt, threadId, interruptId }: InboxPlace): string {
  return Buffer.from(JSON.stringify([createdAt, threadId, interruptId])).toString("base64url");
}

/** @throws {ApiError} `invalid_request` */
function placeOf(cursor: string): InboxPlace {
  try {
    const [createdAt, threadId, interruptId] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as readonly Json[];
    if (typeof createdAt === "number" && typeof threadId === "string" && typeof interruptId === "string") {
      if (isUuid(threadId)) return { createdAt, threadId, interruptId };
    }
  } catch {
    // rejected below
  }
  throw new ApiError("invalid_request", "cursor is not from an earlier reply of this call.");
}
