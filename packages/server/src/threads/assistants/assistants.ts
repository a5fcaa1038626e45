// Assistants: lookup and search. Each deployed graph has a built-in assistant, with an id derived from the graph's
// name.
// Invariants:
//   assistants.1. The name of a deployed graph always resolves to an assistant of that graph.
//   assistants.2. The assistant of a graph that is not deployed stays stored, but is hidden.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import { inScope } from "../../auth/scope.ts";
import type { AgentContext } from "../../context/context.ts";
import type { DefaultsByGraph } from "../../model/assistant-defaults.ts";
import { REQUEST_GRAPH, toAssistantId, builtInAssistantId } from "../../model/built-in-assistant.ts";
import type { Assistant, AssistantVersion, Scope } from "../../model/model.ts";
import type {
  AssistantFilter,
  AssistantQuery,
  AssistantTx,
  GraphDescription,
  GraphDrawing,
  Graphs,
} from "../../ports/ports.ts";
import { readRows } from "../../context/read-rows.ts";
import type { AssistantSchemas } from "../../wire/assistant-schemas.ts";

export function toVersion({ updatedAt, ...assistant }: Assistant): AssistantVersion {
  return { ...assistant, createdAt: updatedAt };
}

/**
 * Stores the fingerprints of the deployed graphs, and missing built-in assistants. Called at start and after a reload.
 * @param defaults config and context of assistants created now
 */
export async function registerGraphs(
  { storage, graphs, clock }: AgentContext,
  defaults: DefaultsByGraph = new Map(),
): Promise<void> {
  const at = clock.now();
  await storage.transaction(async (tx) => {
    for (const graph of [...graphs.list(), ...ownGraph(graphs)]) {
      await tx.putFingerprint(graph.fingerprint, at);
      const assistant = { ...builtIn(graph, at), ...defaults.get(graph.graphId) };
      const stored = await tx.assistant(assistant.assistantId, true); // other servers may start at the same time
      if (stored?.graphId === graph.graphId) continue;
      // assistants.1: the id was taken before the graph was deployed
      if (stored !== null) await tx.deleteAssistant(stored.assistantId);
      await tx.insertAssistant(assistant);
      await tx.insertAssistantVersion(toVersion(assistant));
    }
  });
}

/** The graph of requests: part of the server, and not of the deployment. */
function ownGraph(graphs: Pick<Graphs, "describe">): readonly GraphDescription[] {
  const own = graphs.describe(REQUEST_GRAPH);
  return own === null ? [] : [own];
}

function builtIn({ graphId, description }: GraphDescription, at: number): Assistant {
  return {
    assistantId: builtInAssistantId(graphId),
    graphId,
    name: graphId,
    description,
    metadata: { created_by: "system" },
    config: {},
    context: {},
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** True for a graph's name, for the id of a built-in assistant, and for text that is no id. */
export function namesBuiltIn(agent: AgentContext, idOrGraph: string): boolean {
  const id = idOrGraph.toLowerCase();
  return !isUuid(id) || agent.graphs.list().some(({ graphId }) => builtInAssistantId(graphId) === id);
}

/**
 * @param idOrGraph an assistant's id, or the name of a deployed graph
 * @param toChange locks the row until the commit
 * @throws {ApiError} `assistant_not_found`
 */
export async function findAssistant(
  agent: AgentContext,
  tx: AssistantTx,
  idOrGraph: string,
  { scope = null, toChange = false }: { readonly scope?: Scope; readonly toChange?: boolean } = {},
): Promise<Assistant> {
  return offered(agent.graphs, idOrGraph, scope, await tx.assistant(toAssistantId(idOrGraph), toChange));
}

/**
 * Checks that this server offers the assistant to the caller.
 * @throws {ApiError} `assistant_not_found`
 */
export function offered(
  graphs: Pick<Graphs, "describe" | "list" | "loadProblem">,
  idOrGraph: string,
  scope: Scope,
  found: Assistant | null,
): Assistant {
  if (found === null || graphs.describe(found.graphId) === null || !reaches(scope, found)) {
    const problem = scope === null ? graphs.loadProblem(found?.graphId ?? idOrGraph) : null;
    throw new ApiError("assistant_not_found", problem ?? `There is no assistant or graph "${idOrGraph}".`, {
      known_graphs: deployedGraphs(graphs),
    });
  }
  return found;
}

/** A list of ids in a scope names the assistants themselves; every other condition is about their metadata. */
function reaches(scope: Scope, { assistantId, metadata }: Assistant): boolean {
  return (scope ?? []).every((one) =>
    inScope(one.op === "in" ? { ...metadata, assistant_id: assistantId } : metadata, [one]),
  );
}

export function getAssistant(agent: AgentContext, idOrGraph: string): Promise<Assistant> {
  return agent.storage.transaction((tx) => findAssistant(agent, tx, idOrGraph));
}

/** @throws {ApiError} `graph_not_found` */
export function requireGraph(agent: AgentContext, graphId: string): void {
  if (agent.graphs.describe(graphId) !== null) return;
  throw new ApiError("graph_not_found", agent.graphs.loadProblem(graphId) ?? `There is no graph "${graphId}".`, {
    known_graphs: deployedGraphs(agent.graphs),
  });
}

function deployedGraphs(graphs: Pick<Graphs, "list">): readonly string[] {
  return graphs.list().map(({ graphId }) => graphId);
}

/** Search as in the API: for one graph or all. */
export type AssistantSearch = Omit<AssistantFilter, "graphIds"> & { readonly graphId: string | null };

/** Finds the assistants of a page at once, and reads each on demand. */
export async function searchAssistants(
  agent: AgentContext,
  search: AssistantSearch,
  page: Omit<AssistantQuery, keyof AssistantFilter>,
): Promise<{ readonly total: number; readonly count: number; readonly assistants: AsyncIterable<Assistant> }> {
  const query = { ...buildFilter(agent, search), ...page };
  const { longReads } = agent.storage;
  const ids = await longReads.searchAssistants(query);
  const isComplete = ids.length < query.limit && (ids.length > 0 || query.offset === 0);
  const total = isComplete ? query.offset + ids.length : await longReads.countAssistants(query);
  const read = async (tx: AssistantTx, id: string): Promise<Assistant | null> => {
    const assistant = await tx.assistant(id);
    return assistant !== null && reaches(search.scope, assistant) ? assistant : null;
  };
  return { total, count: ids.length, assistants: readRows(agent.storage, ids, read) };
}

export function countAssistants(agent: AgentContext, search: AssistantSearch): Promise<number> {
  return agent.storage.longReads.countAssistants(buildFilter(agent, search));
}

function buildFilter(agent: AgentContext, { graphId, ...rest }: AssistantSearch): AssistantFilter {
  const deployed = deployedGraphs(agent.graphs); // assistants.2
  return { ...rest, graphIds: graphId === null ? deployed : deployed.filter((id) => id === graphId) };
}

/** @param depth levels of subgraphs to expand. @throws {ApiError} `assistant_not_found` */
export async function drawAssistant(agent: AgentContext, idOrGraph: string, depth: number): Promise<GraphDrawing> {
  const { graphId, config } = await getAssistant(agent, idOrGraph);
  return agent.graphs.draw(graphId, depth, config);
}

/** @throws {ApiError} `assistant_not_found` */
export async function schemasOfAssistant(agent: AgentContext, idOrGraph: string): Promise<AssistantSchemas> {
  const { graphId } = await getAssistant(agent, idOrGraph);
  return { graphId, ...(await agent.graphs.schemas(graphId)) };
}

/**
 * Schemas of subgraphs by namespace (`child|grandchild`).
 * @param namespace one subgraph; null for all direct ones
 * @param recurse includes nested subgraphs
 * @throws {ApiError} `assistant_not_found`
 */
export async function subgraphsOfAssistant(
  agent: AgentContext,
  idOrGraph: string,
  namespace: string | null,
  recurse: boolean,
): Promise<Readonly<Record<string, AssistantSchemas>>> {
  const { graphId } = await getAssistant(agent, idOrGraph);
  const all = [...(await agent.graphs.subgraphSchemas(graphId))];
  const wanted = all.filter(([path]) => {
    if (namespace === null) return recurse || !path.includes("|");
    return path === namespace || (recurse && path.startsWith(`${namespace}|`));
  });
  return Object.fromEntries(wanted.map(([path, schemas]) => [path, { graphId, ...schemas }]));
}

/** A text that changes with every change of the assistants. */
export function assistantsVersion({ storage, graphs }: AgentContext): Promise<string> {
  const graphIds = graphs.list().map(({ graphId }) => graphId);
  const all = { scope: null, graphIds, name: null, metadata: null };
  return storage.read(async (tx) => {
    const [last] = await tx.searchAssistants({ ...all, limit: 1, offset: 0, sortBy: "updated_at", descending: true });
    const newest = last === undefined ? null : await tx.assistant(last.id);
    return `${await tx.countAssistants(all)} ${last?.id} ${newest?.updatedAt}`;
  });
}
