// Surface: the routes beside the API: custom app, pages, gateways and components, by the configuration file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Surface } from "@holdpoint/server/server/api-surface.ts";
import type { GatewayServer } from "@holdpoint/server/server/server-ports.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";
import type { LoadedApp } from "@holdpoint/server/graphs/extensions/custom-app.ts";
import type { HttpRoute } from "@holdpoint/base/http/server/app.ts";
import { type Host, readLimits } from "./host.ts";
import type { LocalServices } from "@holdpoint/server/server/console-api.ts";
import type { Tracing } from "@holdpoint/server/ports/ports.ts";

export interface ServerParts {
  readonly config: AgentConfig;
  readonly graphs: GraphsConfig;
  readonly log: Log;
  readonly tracing: Tracing | null;
  readonly localServices: Omit<LocalServices, "loadProblem">;
  /** Also served. */
  readonly routes: readonly HttpRoute[];
  /** Origins whose pages may call this start of the server, besides those of `http.cors`. */
  readonly origins: readonly string[];
  /** Inside a host program: no port opens, and the program's environment only gains what langgraph.json adds. */
  readonly embedded?: boolean;
  /** Starts without graphs that do not load, and lists them: for one who is writing them. */
  readonly leavesOutFailed?: boolean;
}

/** The pages, the documents and the routes beside the API. */
export async function openRoutes(host: Host, parts: ServerParts, surface: Surface): Promise<readonly HttpRoute[]> {
  const { config, graphs, log, routes } = parts;
  const pages = [...(await openPages(host, config, log)), ...(await openDocs(host, surface))];
  return [
    ...(surface.app === null ? startPage(pages) : []),
    ...pages,
    ...(await openUi(graphs, surface, log)),
    ...routes,
  ];
}

/** The served routes and origins: settings take precedence over the file. */
export async function readSurface({ config, graphs, origins }: ServerParts): Promise<Surface> {
  const { http, folder } = graphs;
  let app: LoadedApp | null = null;
  if (http.app !== null) {
    const { loadCustomApp } = await import("@holdpoint/server/graphs/extensions/custom-app.ts");
    app = await loadCustomApp(http.app, folder);
  }
  return { ...http, app, moreOrigins: origins, mountPrefix: config.mountPrefix ?? http.mountPrefix };
}

/** Pages for people. */
async function openPages({ product }: Host, config: AgentConfig, log: Log): Promise<readonly HttpRoute[]> {
  if (!config.console) return [];
  const [{ createPageBuild }, { pageRoute }] = await Promise.all([
    import("@holdpoint/base/http/pages/page-build.ts"),
    import("@holdpoint/base/http/pages/page-files.ts"),
  ]);
  const { root } = product;
  const folder = createPageBuild(
    {
      sources: join(root, "packages/console/src"),
      besides: [join(root, "package-lock.json"), join(root, "packages/api/src"), join(root, "packages/base/src")],
      shipped: join(root, "dist", "console"),
      cache: join(root, "node_modules", ".cache", "holdpoint-console"),
      builder: join(root, "packages/console/src/build.ts"),
    },
    log,
  );
  return [pageRoute("/console", folder)];
}

const SWAGGER_UI = ["swagger-ui-bundle.js", "swagger-ui.css"];

/** The page of the API, which reads /openapi.json and is served only with it. */
async function openDocs({ product }: Host, { disabled }: Surface): Promise<readonly HttpRoute[]> {
  if (disabled.includes("meta")) return [];
  const { pageRoute } = await import("@holdpoint/base/http/pages/page-files.ts");
  const library = SWAGGER_UI.map((name) => join(product.root, "node_modules", "swagger-ui-dist", name));
  const folder = join(product.root, "packages/api/src/docs-page"); // in the published package, with the library in it
  return [pageRoute("/docs", () => Promise.resolve(folder), library.filter(existsSync))];
}

/** The address of the server itself leads to its first page; with a custom app, it belongs to the app. */
function startPage([first]: readonly HttpRoute[]): readonly HttpRoute[] {
  if (first === undefined) return [];
  const page = first.path.slice(0, -"/*".length);
  return [{ method: "get", path: "/", handle: async () => ({ status: 302, body: "", headers: { Location: page } }) }];
}

/** Other protocols in front of the API. Each loads its library at its first request. */
export async function openGateways(
  host: Host,
  { config, graphs, log }: ServerParts,
  { disabled, mountPrefix }: Surface,
) {
  const [{ mcpRoutes }, { a2aRoutes }, { createIdSource }, { systemClock: clock }] = await Promise.all([
    import("@holdpoint/gateways/mcp-routes.ts"),
    import("@holdpoint/gateways/a2a-routes.ts"),
    import("@holdpoint/base/ids.ts"),
    import("@holdpoint/base/clock.ts"),
  ]);
  const { product } = host;
  const { progressEveryMs } = await readLimits(host);
  const { authorizationServers, securitySchemes } = graphs;
  const handlers = graphs.auth === null ? ("none" as const) : ("handlers" as const);
  const authentication = config.apiKeys === null && config.oidcIssuer === null ? handlers : ("keys" as const);
  const common = { log, clock, prefix: mountPrefix, version: product.version };
  const mcp = { ...common, authorizationServers, progressEveryMs, newId: createIdSource(Date.now, null) };
  return (server: GatewayServer): readonly HttpRoute[] => [
    ...(disabled.includes("mcp") ? [] : mcpRoutes({ ...server, ...mcp })),
    ...(disabled.includes("a2a") ? [] : a2aRoutes({ ...server, ...common, authentication, securitySchemes })),
  ];
}

/** Components that graphs name for their clients. */
async function openUi(
  { ui, folder }: GraphsConfig,
  { disabled, mountPrefix }: Surface,
  log: Log,
): Promise<readonly HttpRoute[]> {
  if (ui === null || disabled.includes("ui")) return [];
  const [{ buildUi }, { uiRoutes }, { systemClock: clock }] = await Promise.all([
    import("@holdpoint/server/graphs/extensions/ui-components.ts"),
    import("@holdpoint/base/http/pages/ui-routes.ts"),
    import("@holdpoint/base/clock.ts"),
  ]);
  return uiRoutes(await buildUi(ui, folder, { clock, log }), mountPrefix);
}
