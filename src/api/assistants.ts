// The wire contract of assistants.
import * as z from "zod";
import { operation } from "./operation.ts";
import { assistant, jsonObject, limit, offset, sortOrder } from "./schemas.ts";

const FIELDS = [
  "assistant_id",
  "graph_id",
  "name",
  "description",
  "metadata",
  "config",
  "context",
  "version",
  "created_at",
  "updated_at",
] as const;

export const searchAssistants = operation("searchAssistants", "post", "/assistants/search", {
  tag: "Assistants",
  access: "assistants:search",
  summary: "Search assistants",
  body: z.object({
    graph_id: z.string().nullish(),
    name: z.string().nullish(),
    metadata: jsonObject.nullish(),
    limit: limit(10),
    offset,
    sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).default("created_at"),
    sort_order: sortOrder,
    select: z.array(z.enum(FIELDS)).nullish(),
  }),
  reply: z.array(assistant),
});

export const getAssistant = operation("getAssistant", "get", "/assistants/{assistant_id}", {
  tag: "Assistants",
  access: "assistants:read",
  summary: "Get an assistant by its id, or by the name of its graph",
  reply: assistant,
  refusals: ["assistant_not_found"],
});
