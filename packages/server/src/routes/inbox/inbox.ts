// Routes of the inbox: parse → operation → reply.
import * as contract from "@holdpoint/api/inbox.ts";
import { facetInbox } from "@holdpoint/api/items/inbox-facets.ts";
import * as actions from "@holdpoint/api/items/item-actions.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { problemObject } from "@holdpoint/base/http/server/problem.ts";
import { SSE_HEADERS, sseText, withHeartbeats } from "@holdpoint/base/http/server/sse.ts";
import type { AgentContext } from "../../context/context.ts";
import { addComment, readComments, snoozeItem } from "../../inbox/item-work.ts";
import { askAgain } from "../../inbox/ask-again.ts";
import { assignItem, assignItemTo, releaseItem } from "../../inbox/assign-item.ts";
import { answerInbox, type AnswerResult } from "../../inbox/answer-inbox.ts";
import { serializeAuditEntry, serializeInboxItem } from "../../wire/inbox-item.ts";
import { serializeReview } from "../../wire/review-object.ts";
import { countInbox, countFacets, metadataFacets } from "../../inbox/inbox-counts.ts";
import { getItem, listInbox, type InboxSearch, type Item, type ItemAddress } from "../../inbox/inbox.ts";
import { showAll, type Show } from "../../model/payload/mask-secrets.ts";
import { askRight } from "../../auth/authorize.ts";
import { toAccessValue } from "../../auth/handler-value.ts";
import type { Caller } from "../../model/model.ts";
import { createSight, type Reading } from "../../auth/sight.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import { readIdempotencyKey } from "../idempotency-key.ts";
import { id, json, route, type AgentRoute } from "../route.ts";
import { chooseAuthor } from "./author.ts";
import { encodeCursor, toInboxSearch, searchedBy } from "./inbox-query.ts";

export function inboxRoutes(agent: AgentContext, keepAliveMs: number): readonly AgentRoute[] {
  return [
    ...countRoutes(agent),
    ...itemRoutes(agent),
    route(contract.listInbox, async ({ query, ...call }) => {
      const search = await current(agent, toInboxSearch(query, call.scope, agent.clock.now()));
      const { rows, next } = await listInbox(agent, search);
      const show = await createSight(call)(rows.map(({ interrupt }) => interrupt.responseSchema));
      const items = rows.map(({ interrupt, metadata, status }) => {
        const item = { interrupt, thread: { metadata, status } };
        const { value, response_schema: schema, ...rest } = itemObject(agent, item, show);
        const review = serializeReview(interrupt, query.values ? show : null);
        return {
          ...rest,
          ...(review === null ? {} : { review }),
          ...(query.values ? { value, ...(schema === undefined ? {} : { response_schema: schema }) } : {}),
        };
      });
      return json({ items, next_cursor: next === null ? null : encodeCursor(next) });
    }),
    route(contract.watchInbox, async ({ request, scope }) => {
      const last = request.headers["last-event-id"];
      const { events, leave } = agent.inbox.watch(scope, typeof last === "string" && last !== "" ? last : null);
      request.onDisconnect(leave);
      const texts = (async function* texts() {
        for await (const event of events) yield sseText(event);
      })();
      return { status: 200, body: withHeartbeats(texts, agent.clock, { everyMs: keepAliveMs }), headers: SSE_HEADERS };
    }),
    route(contract.answerInbox, async ({ body, caller, scope, ask, request }) => {
      const as = chooseAuthor(agent, caller, "by" in body ? body.by : undefined);
      const answers = body.answers.map((answer) => ({
        threadId: answer.thread_id,
        interruptId: answer.interrupt_id,
        resume: answer.resume,
        remember: answer.remember ?? null,
      }));
      const results = await answerInbox(
        agent,
        { caller: as, scope, ask, idempotencyKey: readIdempotencyKey(request) ?? null },
        answers,
      );
      return json({ results: results.map(resultObject) });
    }),
  ];
}

/** The search, once the index has all changes before it. */
async function current(agent: AgentContext, search: InboxSearch): Promise<InboxSearch> {
  if (search.search.length > 0) await agent.search.catchUp();
  return search;
}

function countRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.countInbox, async ({ query, scope }) =>
      json({ count: await countInbox(agent, await current(agent, searchedBy(query, scope, agent.clock.now()))) }),
    ),
    route(facetInbox, async ({ query, scope }) => {
      const search = await current(agent, searchedBy(query, scope, agent.clock.now()));
      const { total, counts } = await countFacets(agent, search);
      return json({
        total,
        graph_id: counts.graphId,
        assistant_id: counts.assistantId,
        node: counts.node,
        kind: counts.kind,
        claimed_by: counts.claimedBy,
        snoozed: counts.snoozed,
        deadline: counts.deadline,
        ...(query.metadata_choices ? { metadata: await metadataFacets(agent, search) } : {}),
      });
    }),
  ];
}

function toMilliseconds(seconds: number | null | undefined): number | null {
  return seconds === null || seconds === undefined ? null : Math.ceil(seconds * 1000);
}

/** Calls about one item. */
function itemRoutes(agent: AgentContext): readonly AgentRoute[] {
  const replyTo = async (call: Reading, item: Item): Promise<HttpReply> => {
    const show = await createSight(call)([item.interrupt.responseSchema]);
    return json(itemObject(agent, item, show));
  };
  return [
    route(contract.getInboxItem, async (call) => {
      const item = await getItem(agent, readItemAddress(call.ids));
      const show = await createSight(call)([item.interrupt.responseSchema]);
      return json({ ...itemObject(agent, item, show), ...(await ownAddresses(agent, call, item)) });
    }),
    route(contract.claimInboxItem, async (call) => {
      const { ids, body, caller } = call;
      const forMs = toMilliseconds(body.expires_in_seconds);
      const as = chooseAuthor(agent, caller, body.by);
      return replyTo(call, await assignItem(agent, as, readItemAddress(ids), forMs));
    }),
    route(contract.releaseInboxItem, async (call) => {
      const { ids, body, caller } = call;
      const as = chooseAuthor(agent, caller, body.by);
      const item = await releaseItem(agent, as, readItemAddress(ids), body.force);
      return replyTo(call, item);
    }),
    route(actions.assignInboxItem, async (call) => {
      const { ids, body, caller } = call;
      const { to, force } = body;
      const as = chooseAuthor(agent, caller, body.by);
      const forMs = toMilliseconds(body.expires_in_seconds);
      return replyTo(call, await assignItemTo(agent, as, readItemAddress(ids), { to, force, forMs }));
    }),
    route(actions.snoozeInboxItem, async (call) => {
      const { ids, body, caller } = call;
      const forMs = toMilliseconds(body.for_seconds);
      const date = typeof body.until === "string" ? Date.parse(body.until) : null;
      const until = forMs === null ? date : agent.clock.now() + forMs;
      return replyTo(call, await snoozeItem(agent, chooseAuthor(agent, caller, body.by), readItemAddress(ids), until));
    }),
    route(actions.askAgain, async (call) => {
      const { ids, body, caller, scope } = call;
      const as = chooseAuthor(agent, caller, body.by);
      return replyTo(call, await askAgain(agent, { caller: as, scope }, readItemAddress(ids)));
    }),
    route(actions.addComment, async (call) => {
      const { ids, body, caller } = call;
      const as = chooseAuthor(agent, caller, body.by);
      return replyTo(call, await addComment(agent, as, readItemAddress(ids), body.text));
    }),
    route(actions.listComments, async ({ ids, query }) => {
      const { items, next } = await readComments(agent, readItemAddress(ids), query);
      return json({ items: items.map((entry) => serializeAuditEntry(entry, null, showAll)), next_after: next });
    }),
  ];
}

/** The addresses of the caller, who may answer. */
async function ownAddresses(
  { addresses }: AgentContext,
  { ids, ask, caller }: Reading & { readonly caller: Caller },
  { interrupt }: Item,
): Promise<JsonObject> {
  if (addresses === null || interrupt.state !== "open") return {};
  const right = await askRight(ask, "threads:answer", toAccessValue("threads:answer", { ids, query: {}, body: {} }));
  if ("refusal" in right) return {};
  const own = addresses.forPerson(interrupt, caller.name);
  return own.length === 0 ? {} : { answer_addresses: own.map((one) => ({ ...one })) };
}

function itemObject({ clock }: AgentContext, { interrupt, thread }: Item, show: Show): JsonObject {
  return serializeInboxItem(interrupt, thread, clock.now(), show);
}

function readItemAddress(ids: Readonly<Record<string, string>>): ItemAddress {
  return { threadId: id(ids, "thread_id"), interruptId: id(ids, "interrupt_id") };
}

function resultObject(result: AnswerResult): object {
  const { threadId, interruptId } = result.answer;
  const ids = { thread_id: threadId, interrupt_id: interruptId };
  if ("run" in result) return { ...ids, status: "answered", run_id: result.run.runId };
  return "pending" in result
    ? { ...ids, status: "pending", problem: problemObject(result.pending) }
    : { ...ids, status: "refused", problem: problemObject(result.refusal) };
}
