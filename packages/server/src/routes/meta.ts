// Server routes: health, versions, metrics, and the API description.
import * as contract from "@holdpoint/api/meta.ts";
import { openApiDocument } from "@holdpoint/api/docs-page/document.ts";
import type { AnyOperation } from "@holdpoint/api/operation.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Metrics } from "@holdpoint/base/metrics.ts";
import type { AgentContext } from "../context/context.ts";
import { json, route, type AgentRoute } from "./route.ts";

export interface Versions {
  readonly holdpoint: string;
  readonly library: string;
}

export interface MetaOptions {
  readonly metrics: Metrics;
  readonly versions: Versions;
  /** Operations of the other routes, for the OpenAPI document. */
  readonly operations: readonly AnyOperation[];
  /** Path prefix of all addresses, or `""`. */
  readonly prefix: string;
}

export function metaRoutes(
  agent: AgentContext,
  { metrics, versions, operations: others, prefix }: MetaOptions,
): readonly AgentRoute[] {
  const ok = async () => json({ ok: true });
  const flags = listFlags(others);
  const own: AgentRoute[] = [
    route(contract.getOk, async ({ query }) => {
      const queue = agent.worker.draining() ? "stopping" : "ok";
      if (query.check_db) await agent.storage.transaction((tx) => tx.checkWritable(agent.clock.now()));
      return json({ ok: true, services: { api: "ok", queue, ...(query.check_db ? { database: "ok" } : {}) } });
    }),
    route(contract.getLive, ok),
    route(contract.getReady, async () => {
      if (agent.worker.draining()) {
        throw new ApiError("shutting_down", "The server accepts no new runs.", {}, { "Retry-After": "5" });
      }
      await agent.storage.transaction((tx) => tx.checkWritable(agent.clock.now()));
      return json({ ok: true });
    }),
    route(contract.getInfo, async () =>
      json({
        version: versions.holdpoint,
        langgraph_js_version: versions.library,
        context: "js",
        flags: {
          ...flags,
          strict_resume: true,
          stream_namespaces: true,
          langsmith: false,
          langsmith_tracing_replicas: false,
        },
      }),
    ),
    route(contract.getMetrics, async ({ query }) =>
      query.format === "json"
        ? json(await metrics.values())
        : { status: 200, body: await metrics.text(), headers: { "Content-Type": metrics.contentType } },
    ),
  ];
  let document: string | null = null;
  const openApi: AgentRoute = route(contract.getOpenApi, async () => {
    document ??= JSON.stringify(
      openApiDocument([...own, openApi].map((one) => one.operation).concat(others), versions.holdpoint, prefix),
    );
    return { status: 200, body: document };
  });
  return [...own, openApi];
}

/** Part of the server that can be disabled → the path that it requires. */
const PARTS: Readonly<Record<string, string>> = {
  assistants: "/assistants",
  threads: "/threads",
  runs: "/runs",
  crons: "/runs/crons",
  store: "/store/items",
  inbox: "/inbox",
  thread_protocol: "/threads/{thread_id}/commands",
};

function listFlags(served: readonly AnyOperation[]): Readonly<Record<string, boolean>> {
  const paths = new Set(served.map(({ path }) => path));
  return Object.fromEntries(Object.entries(PARTS).map(([part, path]) => [part, paths.has(path)]));
}
