// Routes of assistants: parse → operation → reply.
import * as contract from "@holdpoint/api/assistants.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { type Ask, askRight } from "../auth/authorize.ts";
import type { AgentContext } from "../context/context.ts";
import {
  type AssistantPatch,
  createAssistant,
  listVersions,
  patchAssistant,
  setLatestVersion,
} from "../threads/assistants/edit-assistant.ts";
import { deleteAssistant } from "../threads/assistants/delete-assistant.ts";
import {
  type AssistantSearch,
  countAssistants,
  drawAssistant,
  getAssistant,
  schemasOfAssistant,
  searchAssistants,
  subgraphsOfAssistant,
} from "../threads/assistants/assistants.ts";
import { hasDefaultAnswer } from "../interrupts/deadline.ts";
import { choosesOnPaused } from "../interrupts/on-paused.ts";
import type { Assistant, Scope } from "../model/model.ts";
import { assistantRulesFault, hasReviewRules } from "../model/review/review-rules.ts";
import type { AssistantSchemas } from "../wire/assistant-schemas.ts";
import { serializeAssistant, serializeAssistantVersion, serializeSchemas } from "../wire/api-objects.ts";
import { listReply, streamTexts } from "./list-reply.ts";
import { type AgentRoute, id, json, paginationHeaders, route, select } from "./route.ts";

/**
 * A default answer replaces a human decision, review rules name who decides, and `on_paused` makes the input of others
 * an answer. So creating assistants includes none of them. @throws {ApiError} `forbidden`, and `invalid_request` for malformed review rules
 */
async function requireMayDecide(
  metadata: JsonObject | null | undefined,
  ids: Readonly<Record<string, string>>,
  ask: Ask,
): Promise<void> {
  if (!metadata) return;
  const fault = assistantRulesFault(metadata);
  if (fault !== null) throw new ApiError("invalid_request", `body field metadata.${fault}`);
  if (hasDefaultAnswer(metadata) || hasReviewRules(metadata) || choosesOnPaused(metadata)) {
    await ask("assistants:administrate", { metadata, ...ids });
  }
}

export function assistantRoutes(agent: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.createAssistant, async ({ body, caller, scope, ask }) => {
      await requireMayDecide(body.metadata, {}, ask);
      const assistantId = body.assistant_id ?? null;
      const ifExists = body.if_exists ?? "raise";
      const mayBeThere = assistantId !== null && ifExists === "do_nothing";
      const readable = mayBeThere ? await ask("assistants:read", { assistant_id: assistantId }) : null;
      const assistant = await createAssistant(
        agent,
        { caller, scope, readable },
        {
          assistantId,
          graphId: body.graph_id,
          name: body.name ?? "Untitled",
          description: body.description ?? null,
          metadata: body.metadata ?? {},
          config: body.config ?? {},
          context: body.context === undefined ? {} : body.context,
          ifExists,
        },
      );
      return json(serializeAssistant(assistant));
    }),
    route(contract.searchAssistants, async ({ body, scope }) => {
      const { total, count, assistants } = await searchAssistants(agent, toSearch(body, scope), {
        limit: body.limit,
        offset: body.offset,
        sortBy: body.sort_by,
        descending: body.sort_order === "desc",
      });
      const object = (assistant: Assistant): object => select(serializeAssistant(assistant), body.select);
      return listReply(streamTexts(assistants, object), paginationHeaders(total, body.offset, count));
    }),
    route(contract.countAssistants, async ({ body, scope }) =>
      json(await countAssistants(agent, toSearch(body, scope))),
    ),
    route(contract.getAssistant, async ({ ids }) =>
      json(serializeAssistant(await getAssistant(agent, id(ids, "assistant_id")))),
    ),
    route(contract.patchAssistant, async ({ ids, body, caller, scope, ask }) => {
      await requireMayDecide(body.metadata, ids, ask);
      const patched = await patchAssistant(agent, { caller, scope }, id(ids, "assistant_id"), toPatch(body));
      return json(serializeAssistant(patched));
    }),
    route(contract.deleteAssistant, async ({ ids, query, caller, scope, ask }) => {
      const deletion = { caller, scope, ask, withThreads: query.delete_threads };
      return json([await deleteAssistant(agent, id(ids, "assistant_id"), deletion)]);
    }),
    route(contract.listVersions, async ({ ids, body }) => {
      const query = { metadata: body.metadata ?? null, limit: body.limit, offset: body.offset };
      const versions = await listVersions(agent, id(ids, "assistant_id"), query);
      return listReply(streamTexts(versions, serializeAssistantVersion));
    }),
    route(contract.setLatest, async ({ ids, body, caller, scope, ask }) => {
      const right = await askRight(ask, "assistants:administrate", { metadata: {}, ...ids });
      const latest = { caller, scope, version: body.version, right };
      return json(serializeAssistant(await setLatestVersion(agent, id(ids, "assistant_id"), latest)));
    }),
    route(contract.getGraph, async ({ ids, query }) =>
      json(await drawAssistant(agent, id(ids, "assistant_id"), query.xray)),
    ),
    route(contract.getSchemas, async ({ ids }) =>
      json(serializeSchemas(await schemasOfAssistant(agent, id(ids, "assistant_id")))),
    ),
    route(contract.getSubgraphs, async ({ ids, query }) =>
      json(subgraphsToWire(await subgraphsOfAssistant(agent, id(ids, "assistant_id"), null, query.recurse))),
    ),
    route(contract.getSubgraph, async ({ ids, query }) => {
      const found = subgraphsOfAssistant(agent, id(ids, "assistant_id"), id(ids, "namespace"), query.recurse);
      return json(subgraphsToWire(await found));
    }),
  ];
}

function subgraphsToWire(subgraphs: Readonly<Record<string, AssistantSchemas>>): JsonObject {
  return Object.fromEntries(
    Object.entries(subgraphs).map(([path, schemas]) => {
      const { state, input, output, context: config } = schemas;
      return [path, { ...serializeSchemas(schemas), state, input, output, config }]; // names of the reference server
    }),
  );
}

interface FilterBody {
  readonly graph_id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly metadata?: AssistantSearch["metadata"] | undefined;
}

function toSearch(body: FilterBody, scope: Scope): AssistantSearch {
  return { scope, graphId: body.graph_id ?? null, name: body.name ?? null, metadata: body.metadata ?? null };
}

interface PatchBody {
  readonly graph_id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly metadata?: AssistantPatch["metadata"] | null | undefined;
  readonly config?: AssistantPatch["config"] | null | undefined;
  readonly context?: AssistantPatch["context"] | undefined;
}

/** Null leaves a member unchanged unless it is nullable: the description and the context are. */
function toPatch(body: PatchBody): AssistantPatch {
  const { graph_id: graphId, name, description, metadata, config, context } = body;
  return {
    ...(graphId === null || graphId === undefined ? {} : { graphId }),
    ...(name === null || name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === null || metadata === undefined ? {} : { metadata }),
    ...(config === null || config === undefined ? {} : { config }),
    ...(context === undefined ? {} : { context }),
  };
}
