// Routes of the store: parse → operation → reply.
import * as contract from "@holdpoint/api/store.ts";
import type { AgentContext } from "../context/context.ts";
import { serializeStoreItem } from "../wire/api-objects.ts";
import type { FoundItem } from "../ports/ports.ts";
import { listReply, streamTexts } from "./list-reply.ts";
import { json, NO_CONTENT, route, type AgentRoute } from "./route.ts";

const found = (item: FoundItem): object => serializeStoreItem(item, item.score);

export function storeRoutes({ store, graphs, tenants }: AgentContext): readonly AgentRoute[] {
  return [
    route(contract.putItem, async ({ body, caller, scope }) => {
      const { namespace, key, value, index, ttl } = body;
      graphs.checkGiven({ item: value });
      await store.put({
        namespace,
        key,
        value,
        index: index ?? null,
        ttlMs: ttl,
        scope,
        tenant: tenants?.find(caller),
      });
      return NO_CONTENT;
    }),
    route(contract.getItem, async ({ query, scope }) => {
      const item = await store.get(query.namespace, query.key, query.refresh_ttl, scope);
      return json(item === null ? null : serializeStoreItem(item, null));
    }),
    route(contract.deleteItem, async ({ body, caller, scope }) => {
      await store.delete(body.namespace, body.key, { scope, author: caller });
      return NO_CONTENT;
    }),
    route(contract.searchItems, async ({ body, scope }) => {
      const items = await store.search({
        prefix: body.namespace_prefix ?? [],
        filter: body.filter ?? {},
        query: body.query ?? null,
        limit: body.limit,
        offset: body.offset,
        refreshTtl: body.refresh_ttl ?? null,
        scope,
      });
      return listReply(streamTexts(items, found), {}, ['{"items":', "}"]);
    }),
    route(contract.listNamespaces, async ({ body, scope }) => {
      const { limit, offset } = body;
      const [prefix, suffix] = [body.prefix ?? [], body.suffix ?? []];
      const namespaces = await store.listNamespaces({
        prefix,
        suffix,
        depthMax: body.max_depth ?? null,
        limit,
        offset,
        scope,
      });
      return json({ namespaces });
    }),
  ];
}
