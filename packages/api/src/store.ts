// API contract of the store: the long-term memory.
import * as z from "zod";
import { operation } from "./operation.ts";
import { jsonObject, limit, list, LIST_MAX, offset } from "./schemas.ts";

const TAG = "Store";

/** The operation validates the namespace, because it also sees the changes of an authorisation handler. */
const namespace = list(z.string(), LIST_MAX).describe("labels from the root down, without dots");
const key = z.string();

const TTL_MINUTES_MAX = 10 * 366 * 24 * 60;
const MINUTE_MS = 60_000;

/** Minutes; null never expires. Becomes milliseconds. */
const ttl = z
  .number()
  .positive()
  .max(TTL_MINUTES_MAX)
  .nullable()
  .transform((minutes) => (minutes === null ? null : Math.ceil(minutes * MINUTE_MS)))
  .describe("minutes after the last use until deletion; null keeps the item; default: as configured");

const refreshTtl = z.boolean().nullish().describe("whether reading counts as a use; default: as configured");

export const item = z
  .object({
    namespace: z.array(z.string()),
    key: z.string(),
    value: z.record(z.string(), z.unknown()),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Item" });

export const putItem = operation("putItem", "put", "/store/items", {
  tag: TAG,
  access: "store:put",
  summary: "Store an item, replacing one with the same namespace and key",
  body: z.object({
    namespace,
    key,
    value: jsonObject,
    index: z
      .union([z.literal(false), list(z.string().max(1024), 100)])
      .nullish()
      .describe("fields to index for semantic search; false for none"),
    ttl: ttl.optional(),
  }),
  large: ["value"],
  reply: null,
  status: 204,
  refusals: [
    "store_namespace_invalid",
    "store_item_invalid",
    "store_item_too_large",
    "control_value_refused",
    "embedding_failed",
  ],
});

export const getItem = operation("getItem", "get", "/store/items", {
  tag: TAG,
  access: "store:get",
  summary: "Get an item; null if absent",
  query: z.object({
    namespace: z
      .string()
      .transform((text) => text.split("."))
      .describe("labels, joined by dots"),
    key,
    refresh_ttl: z
      .enum(["true", "false"])
      .optional()
      .transform((text) => (text === undefined ? null : text === "true")),
  }),
  reply: item.nullable(),
  refusals: ["store_namespace_invalid", "store_item_invalid"],
});

export const deleteItem = operation("deleteItem", "delete", "/store/items", {
  tag: TAG,
  access: "store:delete",
  summary: "Delete an item, if it exists",
  body: z.object({ namespace, key }),
  reply: null,
  status: 204,
  refusals: ["store_namespace_invalid", "store_item_invalid"],
});

export const searchItems = operation("searchItems", "post", "/store/items/search", {
  tag: TAG,
  access: "store:search",
  summary: "Search the items of a namespace and of those below it, newest first or by semantic similarity",
  body: z.object({
    namespace_prefix: namespace.nullish(),
    filter: jsonObject.nullish(),
    limit: limit(10),
    offset,
    query: z
      .string()
      .max(100_000)
      .nullish()
      .describe("ranks by semantic similarity, if the server has an embedding function"),
    refresh_ttl: refreshTtl,
  }),
  reply: z.object({ items: z.array(item.extend({ score: z.number().optional() }).meta({ id: "SearchItem" })) }),
  refusals: ["store_namespace_invalid", "store_filter_invalid", "store_search_too_broad", "embedding_failed"],
});

export const listNamespaces = operation("listNamespaces", "post", "/store/namespaces", {
  tag: TAG,
  access: "store:list_namespaces",
  summary: "List the namespaces that have items",
  body: z.object({
    prefix: namespace.nullish().describe("labels; * matches any label"),
    suffix: namespace.nullish().describe("labels; * matches any label"),
    max_depth: z.number().int().min(1).nullish(),
    limit: limit(100),
    offset,
  }),
  reply: z.object({ namespaces: z.array(z.array(z.string())) }),
  refusals: ["store_namespace_invalid", "store_search_too_broad"],
});
