// API contract of assistants.
import * as z from "zod";
import { operation } from "./operation.ts";
import {
  assistant,
  assistantVersion,
  flag,
  graphSchemas,
  subgraphSchemas,
  json,
  jsonObject,
  limit,
  list,
  LIST_MAX,
  offset,
  runConfig,
  sortOrder,
  uuid,
} from "./schemas.ts";

const TAG = "Assistants";

const name = z.string().min(1).max(256);
const description = z.string().max(10_000);
const graphId = z.string().min(1).max(1024).describe("a graph of langgraph.json");

export const createAssistant = operation("createAssistant", "post", "/assistants", {
  tag: TAG,
  access: "assistants:create",
  summary: "Create an assistant: a graph with its own config and context",
  body: z.strictObject({
    graph_id: graphId,
    assistant_id: uuid.nullish(),
    name: name.nullish().describe("default: Untitled"),
    description: description.nullish(),
    metadata: jsonObject.nullish(),
    config: runConfig.nullish(),
    context: json.optional(),
    if_exists: z.enum(["raise", "do_nothing"]).nullish(),
  }),
  reply: assistant,
  refusals: ["graph_not_found", "assistant_exists", "assistant_limit"],
});

const filter = {
  graph_id: z.string().nullish(),
  name: z.string().max(256).nullish().describe("part of the name, case-insensitive"),
  metadata: jsonObject.nullish(),
};

export const searchAssistants = operation("searchAssistants", "post", "/assistants/search", {
  tag: TAG,
  access: "assistants:search",
  summary: "Search assistants; X-Pagination-Total counts all that match, X-Pagination-Next is the next offset",
  body: z.object({
    ...filter,
    limit: limit(10),
    offset,
    sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).default("created_at"),
    sort_order: sortOrder,
    select: list(assistant.keyof(), LIST_MAX).nullish(),
  }),
  reply: z.array(assistant),
});

export const countAssistants = operation("countAssistants", "post", "/assistants/count", {
  tag: TAG,
  access: "assistants:search",
  summary: "Count assistants",
  body: z.object(filter),
  reply: z.number().int(),
});

export const getAssistant = operation("getAssistant", "get", "/assistants/{assistant_id}", {
  tag: TAG,
  access: "assistants:read",
  summary: "Get an assistant by its id, or by the name of its graph",
  reply: assistant,
  refusals: ["assistant_not_found"],
});

export const patchAssistant = operation("patchAssistant", "patch", "/assistants/{assistant_id}", {
  tag: TAG,
  access: "assistants:update",
  summary: "Update an assistant, which creates a version; merges metadata one level deep",
  body: z.strictObject({
    graph_id: graphId.nullish(),
    name: name.nullish(),
    description: description.nullable().optional(),
    metadata: jsonObject.nullish(),
    config: runConfig.nullish(),
    context: json.optional(),
  }),
  reply: assistant,
  refusals: ["assistant_not_found", "graph_not_found", "assistant_built_in"],
});

export const deleteAssistant = operation("deleteAssistant", "delete", "/assistants/{assistant_id}", {
  tag: TAG,
  access: "assistants:delete",
  summary: "Delete an assistant with its versions and ended runs; on request also the threads whose metadata names it",
  query: z.object({ delete_threads: flag }),
  reply: z.array(uuid),
  refusals: ["assistant_not_found", "assistant_built_in", "run_active"],
});

export const listVersions = operation("listAssistantVersions", "post", "/assistants/{assistant_id}/versions", {
  tag: TAG,
  access: "assistants:read",
  summary: "List the versions of an assistant, newest first",
  body: z.object({ metadata: jsonObject.nullish(), limit: limit(10), offset }),
  reply: z.array(assistantVersion),
  refusals: ["assistant_not_found"],
});

export const setLatest = operation("setLatestAssistantVersion", "post", "/assistants/{assistant_id}/latest", {
  tag: TAG,
  access: "assistants:update",
  summary: "Restore a version of an assistant as a whole",
  body: z.strictObject({ version: z.number().int().min(1) }),
  reply: assistant,
  refusals: ["assistant_not_found", "assistant_version_not_found", "graph_not_found"],
});

const XRAY_DEPTH_MAX = 100;

/** `true` expands all subgraphs, a number that many levels of them. Becomes a depth. */
const xray = z
  .union([z.enum(["true", "false", ""]), z.string().regex(/^\d{1,3}$/, "must be true, false or a number of levels")])
  .default("false")
  .transform((text) =>
    text === "true" || text === "" ? Number.POSITIVE_INFINITY : text === "false" ? 0 : Number(text),
  )
  .refine((depth) => depth === Number.POSITIVE_INFINITY || depth <= XRAY_DEPTH_MAX, `at most ${XRAY_DEPTH_MAX} levels`);

export const getGraph = operation("getAssistantGraph", "get", "/assistants/{assistant_id}/graph", {
  tag: TAG,
  access: "assistants:read",
  summary: "Get the drawing of an assistant's graph, with its subgraphs expanded to the depth of xray",
  query: z.object({ xray }),
  reply: z.object({
    nodes: z.array(z.record(z.string(), z.unknown())),
    edges: z.array(z.record(z.string(), z.unknown())),
  }),
  refusals: ["assistant_not_found"],
});

export const getSchemas = operation("getAssistantSchemas", "get", "/assistants/{assistant_id}/schemas", {
  tag: TAG,
  access: "assistants:read",
  summary: "Get the JSON Schemas of an assistant's graph: {} allows everything, null means undeclared",
  reply: graphSchemas,
  refusals: ["assistant_not_found"],
});

const subgraphQuery = z.object({ recurse: flag });

export const getSubgraphs = operation("getAssistantSubgraphs", "get", "/assistants/{assistant_id}/subgraphs", {
  tag: TAG,
  access: "assistants:read",
  summary: "Get the JSON Schemas of the subgraphs by namespace; with recurse also of those below them",
  query: subgraphQuery,
  reply: z.record(z.string(), subgraphSchemas),
  refusals: ["assistant_not_found"],
});

export const getSubgraph = operation(
  "getAssistantSubgraph",
  "get",
  "/assistants/{assistant_id}/subgraphs/{namespace}",
  {
    tag: TAG,
    access: "assistants:read",
    summary: "Get the JSON Schemas of one subgraph, named as child|grandchild; with recurse also of those below it",
    query: subgraphQuery,
    reply: z.record(z.string(), subgraphSchemas),
    refusals: ["assistant_not_found"],
  },
);
