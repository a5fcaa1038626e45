// Routes of assistants: parse → operation → reply.
import * as contract from "../../api/assistants.ts";
import type { Agent } from "../agent.ts";
import { findAssistant, searchAssistants } from "../assistants.ts";
import { assistantToWire } from "../wire.ts";
import { id, json, paginationHeaders, route, select, type AgentRoute } from "./route.ts";

export function assistantRoutes(agent: Agent): readonly AgentRoute[] {
  return [
    route(contract.searchAssistants, async ({ body }) => {
      const { total, assistants } = await searchAssistants(agent, {
        graphId: body.graph_id ?? null,
        name: body.name ?? null,
        metadata: body.metadata ?? {},
        limit: body.limit,
        offset: body.offset,
        sortBy: body.sort_by,
        descending: body.sort_order === "desc",
      });
      const list = assistants.map((assistant) => select(assistantToWire(assistant), body.select));
      return json(list, paginationHeaders(total, body.offset, list.length));
    }),
    route(contract.getAssistant, async ({ ids }) =>
      json(assistantToWire(await agent.storage.transaction((tx) => findAssistant(agent, tx, id(ids, "assistant_id"))))),
    ),
  ];
}
