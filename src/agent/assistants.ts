// Assistants: each deployed graph has one of its own, whose id is a function of the graph's name.
import { ApiError } from "../base/errors.ts";
import { isUuid, uuidV5 } from "../base/ids.ts";
import { contains, type JsonObject } from "../base/json.ts";
import type { Agent } from "./agent.ts";
import type { Assistant } from "./model.ts";
import type { Tx } from "./ports.ts";

/** Namespace of the ids of built-in assistants: clients compute the same id from a graph's name. */
const BUILT_IN_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export function builtInAssistantId(graphId: string): string {
  return uuidV5(graphId, BUILT_IN_NAMESPACE);
}

/** Stores the built-in assistants and fingerprints of the deployed graphs. Once, at start. */
export async function registerGraphs({ storage, graphs, clock }: Agent): Promise<void> {
  const at = clock.now();
  await storage.transaction(async (tx) => {
    for (const { graphId, fingerprint } of graphs.list()) {
      await tx.putFingerprint(fingerprint, at);
      await tx.putAssistant({
        assistantId: builtInAssistantId(graphId),
        graphId,
        name: graphId,
        description: null,
        metadata: { created_by: "system" },
        config: {},
        context: {},
        version: 1,
        createdAt: at,
        updatedAt: at,
      });
    }
  });
}

/** @param idOrGraph an assistant's id, or the name of a deployed graph. @throws {ApiError} `assistant_not_found` */
export async function findAssistant(agent: Agent, tx: Tx, idOrGraph: string): Promise<Assistant> {
  const id = isUuid(idOrGraph) ? idOrGraph.toLowerCase() : builtInAssistantId(idOrGraph);
  const found = await tx.assistant(id);
  if (found === null || agent.graphs.describe(found.graphId) === null) {
    const known = agent.graphs.list().map(({ graphId }) => graphId);
    throw new ApiError("assistant_not_found", `There is no assistant or graph "${idOrGraph}".`, {
      known_graphs: known,
    });
  }
  return found;
}

export interface AssistantQuery {
  readonly graphId: string | null;
  readonly name: string | null;
  readonly metadata: JsonObject;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "assistant_id" | "graph_id" | "name" | "created_at" | "updated_at";
  readonly descending: boolean;
}

export async function searchAssistants(
  agent: Agent,
  query: AssistantQuery,
): Promise<{ readonly total: number; readonly assistants: readonly Assistant[] }> {
  const matching = (await deployedAssistants(agent)).filter(
    (assistant) =>
      (query.graphId === null || assistant.graphId === query.graphId) &&
      (query.name === null || assistant.name.toLowerCase().includes(query.name.toLowerCase())) &&
      contains(assistant.metadata, query.metadata),
  );
  const key = SORT_KEYS[query.sortBy];
  const sign = query.descending ? -1 : 1;
  matching.sort((a, b) => sign * compare(key(a), key(b)) || compare(a.assistantId, b.assistantId));
  return { total: matching.length, assistants: matching.slice(query.offset, query.offset + query.limit) };
}

const SORT_KEYS = {
  assistant_id: (assistant: Assistant) => assistant.assistantId,
  graph_id: (assistant: Assistant) => assistant.graphId,
  name: (assistant: Assistant) => assistant.name,
  created_at: (assistant: Assistant) => assistant.createdAt,
  updated_at: (assistant: Assistant) => assistant.updatedAt,
} as const;

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Assistants of graphs that are not deployed any more stay stored, but are not offered. */
async function deployedAssistants({ storage, graphs }: Agent): Promise<Assistant[]> {
  const all = await storage.transaction((tx) => tx.assistants());
  return all.filter((assistant) => graphs.describe(assistant.graphId) !== null);
}
