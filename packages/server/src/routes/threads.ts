// Routes of threads and their state: parse → operation → reply.
// Invariants:
//   extract.1. A path without a value yields null; an invalid path is rejected.
import type * as z from "zod";
import * as contract from "@holdpoint/api/threads.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { HttpReply } from "@holdpoint/base/http/server/reply.ts";
import type { AgentContext } from "../context/context.ts";
import { askToEdit } from "../threads/bypass.ts";
import { listReply, streamTexts } from "./list-reply.ts";
import { type StateView, editState, getHistory, getState } from "../threads/thread-state.ts";
import type { ThreadView } from "../threads/thread-view.ts";
import { copyThread } from "../threads/copy-thread.ts";
import { createThread, getThread, patchThread } from "../threads/threads.ts";
import { countThreads, searchByValues, searchThreads } from "../threads/search-threads.ts";
import { deleteThread, pruneThreads } from "../threads/delete-threads.ts";
import { eraseThread } from "../threads/erase-thread.ts";
import { requireThread } from "../threads/find-thread.ts";
import { NO_TTL } from "../threads/new-thread.ts";
import type { Scope } from "../model/model.ts";
import { queryWords } from "@holdpoint/api/text/search-words.ts";
import { serializeStoredBytes, serializeThread, serializeTtl, withValues } from "../wire/api-objects.ts";
import { serializeState } from "../wire/state-object.ts";
import { type AgentRoute, NO_CONTENT, id, json, jsonText, paginationHeaders, route, select } from "./route.ts";
import { ApiError, describeError } from "@holdpoint/base/api-error.ts";
import { valueAt } from "@holdpoint/base/json/json-path.ts";

async function threadReply({ thread, values, open }: ThreadView, more: object = {}): Promise<HttpReply> {
  const object = { ...serializeThread(thread, open), ...more };
  return jsonText(withValues(object, values?.text() ?? null));
}

/** @param fields of the state, `values.<key>` for one value; null for all */
const stateObject = ({ state, known, newest }: StateView, fields?: readonly string[] | null): object => {
  const whole = serializeState(state, known, newest);
  if (fields === null || fields === undefined) return whole;
  const keys = fields.flatMap((field) => (field.startsWith("values.") ? field.slice("values.".length) : []));
  const some = select(whole, fields);
  if (keys.length === 0 || fields.includes("values")) return some;
  return { ...some, values: isJsonObject(whole.values) ? select(whole.values, keys) : {} };
};

export function threadRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.createThread, async ({ body, caller, scope, ask }) => {
      const threadId = body.thread_id ?? null;
      const ifExists = body.if_exists ?? "raise";
      const mayBeThere = threadId !== null && ifExists === "do_nothing";
      const view = await createThread(agent, {
        caller,
        threadId,
        metadata: body.metadata ?? {},
        ifExists,
        ttl: body.ttl === undefined ? null : (body.ttl ?? NO_TTL),
        supersteps: (body.supersteps ?? []).map(({ updates }) =>
          updates.map((update) => ({
            values: update.values ?? null,
            asNode: update.as_node ?? null,
            command: update.command ?? null,
          })),
        ),
        scope,
        readable: mayBeThere ? await ask("threads:read", { thread_id: threadId }) : null,
      });
      return threadReply(view);
    }),
    route(contract.searchThreads, ({ body, scope }) => searchReply(agent, body, scope)),
    route(contract.countThreads, async ({ body, scope }) => {
      const search = await wordsIn(agent, body.q);
      const total = await countThreads(
        agent,
        {
          scope,
          ids: body.ids ?? null,
          idPrefix: body.id_prefix ?? null,
          status: body.status ?? null,
          metadata: body.metadata ?? null,
          search,
          limit: 0,
          offset: 0,
          sortBy: "created_at",
          descending: true,
        },
        body.values ?? null,
      );
      return json(total);
    }),
    route(contract.getThread, async ({ ids, query }) => {
      const view = await getThread(agent, id(ids, "thread_id"));
      const withTtl = query.include?.split(",").includes("ttl") === true;
      return threadReply(view, withTtl ? { ttl: serializeTtl(view.thread) } : {});
    }),
    route(contract.getThreadStorage, async ({ ids }) => {
      const threadId = id(ids, "thread_id");
      await agent.storage.read((tx) => requireThread(tx, threadId));
      return json(serializeStoredBytes(threadId, await agent.storage.longReads.storedBytes(threadId)));
    }),
    route(contract.patchThread, async ({ ids, body, request, scope }) => {
      const patch = { metadata: body.metadata ?? null, ttl: body.ttl, scope };
      const view = await patchThread(agent, id(ids, "thread_id"), patch);
      return request.headers["prefer"] === "return=minimal" ? NO_CONTENT : threadReply(view);
    }),
    route(contract.patchState, async ({ ids, body, scope }) => {
      const patch = { metadata: body.metadata, ttl: undefined, scope };
      return threadReply(await patchThread(agent, id(ids, "thread_id"), patch));
    }),
    route(contract.copyThread, async ({ ids, caller, ask }) => {
      const threadId = id(ids, "thread_id");
      const readable = await ask("threads:read", { thread_id: threadId });
      return threadReply(await copyThread(agent, caller, threadId, readable));
    }),
    ...endRoutes(agent),
    ...stateRoutes(agent),
  ];
}

function endRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.pruneThreads, async ({ body, caller, scope }) =>
      json({ pruned_count: await pruneThreads(agent, { caller, scope }, body.thread_ids, body.strategy) }),
    ),
    route(contract.deleteThread, async ({ ids, caller }) => {
      await deleteThread(agent, caller, id(ids, "thread_id"));
      return NO_CONTENT;
    }),
    route(contract.eraseThread, async ({ ids, body, caller, scope }) => {
      const threadId = id(ids, "thread_id");
      const places = await eraseThread(agent, caller, {
        threadId,
        dryRun: body.dry_run,
        isLimited: scope !== null,
      });
      return json({ thread_id: threadId, dry_run: body.dry_run, places });
    }),
  ];
}

/** The words of a search, once the index has all changes before it. */
async function wordsIn(agent: AgentContext, text: string | null | undefined): Promise<readonly string[]> {
  const words = queryWords(text ?? undefined);
  if (words.length > 0) await agent.search.catchUp();
  return words;
}

type SearchBody = z.infer<typeof contract.searchThreads.body>;

async function searchReply(agent: AgentContext, body: SearchBody, scope: Scope): Promise<HttpReply> {
  const { values: filter, select: members, extract: paths } = body;
  const query = {
    scope,
    ids: body.ids ?? null,
    idPrefix: body.id_prefix ?? null,
    status: body.status ?? null,
    metadata: body.metadata ?? null,
    search: await wordsIn(agent, body.q),
    limit: body.limit,
    offset: body.offset,
    sortBy: body.sort_by,
    descending: body.sort_order === "desc",
  };
  const shown = members?.includes("values") ?? true;
  const { total, count, threads } =
    filter && Object.keys(filter).length > 0
      ? await searchByValues(agent, query, filter)
      : await searchThreads(agent, query, shown || Boolean(paths));
  const formatRow = async ({ thread, open, values }: ThreadView): Promise<string> => {
    const object = serializeThread(thread, open);
    const whole = async (): Promise<JsonObject> => (values === null ? object : { ...object, values: values.json() });
    const extracted = paths ? { extracted: extract(await whole(), paths) } : {};
    const text = shown ? (values?.text() ?? null) : null;
    return withValues({ ...select(object, members), ...extracted }, text);
  };
  async function* rows(): AsyncGenerator<string> {
    for await (const view of threads) yield await formatRow(view);
  }
  return listReply(rows(), paginationHeaders(total, body.offset, count));
}

/** Front-end SDKs join the segments of a namespace with U+0000, which PostgreSQL cannot hold. */
function readNamespace(checkpoint: { readonly checkpoint_ns?: string | null | undefined } | null | undefined): string {
  return (checkpoint?.checkpoint_ns ?? "").replaceAll("\0", "|");
}

function stateRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.getState, async ({ ids, query }) => {
      const at = { checkpointId: null, ns: "", subgraphs: query.subgraphs };
      return json(stateObject(await getState(agent, id(ids, "thread_id"), at), query.select));
    }),
    route(contract.getStateAt, async ({ ids, query }) => {
      const at = { checkpointId: id(ids, "checkpoint_id"), ns: "", subgraphs: query.subgraphs };
      return json(stateObject(await getState(agent, id(ids, "thread_id"), at), query.select));
    }),
    route(contract.getStateOf, async ({ ids, body }) => {
      const at = {
        checkpointId: body.checkpoint.checkpoint_id ?? null,
        ns: readNamespace(body.checkpoint),
        subgraphs: body.subgraphs ?? false,
      };
      return json(stateObject(await getState(agent, id(ids, "thread_id"), at), body.select));
    }),
    route(contract.updateState, async ({ ids, body, caller, ask }) => {
      const threadId = id(ids, "thread_id");
      const edit = {
        values: body.values ?? null,
        asNode: body.as_node ?? null,
        checkpointId: body.checkpoint?.checkpoint_id ?? body.checkpoint_id ?? null,
        ns: readNamespace(body.checkpoint),
      };
      const right = await askToEdit(agent, ask, threadId, edit);
      const checkpoint = await editState(agent, caller, threadId, { ...edit, right });
      return json({ checkpoint, configurable: checkpoint });
    }),
    route(contract.getHistory, async ({ ids, query }) => {
      const filter = { ns: "", before: query.before ?? null, limit: query.limit, metadata: null };
      const states = getHistory(agent, id(ids, "thread_id"), filter);
      return listReply(streamTexts(states, (view) => stateObject(view, query.select)));
    }),
    route(contract.postHistory, async ({ ids, body }) => {
      const filter = {
        ns: readNamespace(body.checkpoint),
        before: body.before ?? null,
        limit: body.limit,
        metadata: body.metadata ?? null,
      };
      const states = getHistory(agent, id(ids, "thread_id"), filter);
      return listReply(streamTexts(states, (view) => stateObject(view, body.select)));
    }),
  ];
}

// The values at paths such as `values.messages[-1].content` in an API object.

/** @throws {ApiError} `invalid_request` */
export function extract(from: JsonObject, paths: Readonly<Record<string, string>>): JsonObject {
  try {
    return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, valueAt(from, path) ?? null]));
  } catch (error) {
    throw new ApiError("invalid_request", `extract: ${describeError(error).message}`);
  }
}
