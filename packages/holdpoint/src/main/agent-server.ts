// Agent server: its parts, chosen by configuration and langgraph.json, started and stopped as one.
// Invariants:
//   - One whose loss would weaken a promise of the deployment stops the server.
//   - Any other one with a counterpart is a warning that names it.
import type { RequestListener } from "node:http";
import { assistantDefaults, defaultsText } from "@holdpoint/server/model/assistant-defaults.ts";
import type { Storage, Store } from "@holdpoint/server/ports/ports.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { AgentServer } from "@holdpoint/server/server/agent-server.ts";
import type { Surface } from "@holdpoint/server/server/api-surface.ts";
import { describeError } from "@holdpoint/base/api-error.ts";
import { ConfigError, type Env } from "@holdpoint/base/config/config.ts";
import { stopPart, type Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";
import type { DeployedGraphs } from "@holdpoint/server/graphs/graphs.ts";
import type { PreparedSources } from "@holdpoint/server/graphs/loading/prepare-sources.ts";
import type { Library } from "@holdpoint/server/graphs/langgraph/library.ts";
import { setGraphEnvironment } from "./graph-environment.ts";
import { type Host, productSecrets } from "./host.ts";
import { openAccess } from "./access.ts";
import { takeBackupActs } from "./command-acts.ts";
import { chooseNotify } from "./notify.ts";
import { type OpenedStorage, openEngine, openStorage } from "./storage.ts";
import { openRoutes, readSurface, openGateways, type ServerParts } from "./surface.ts";
import { open } from "node:fs/promises";

export interface RunningServer extends Service {
  /** With its prefix; only the prefix when embedded. */
  readonly url: string;
  /** For the requests that a host program passes; null with a port. */
  readonly listener: RequestListener | null;
  readonly graphs: readonly string[];
  /** Graphs that were left out because they do not load. */
  readonly failed: readonly string[];
  readonly deployed: DeployedGraphs;
  readonly registerGraphs: () => Promise<void>;
  readonly announce: () => void;
}

/** @throws {Error} the reason why it cannot start; nothing stays open then */
export async function startAgentServer(host: Host, parts: ServerParts): Promise<RunningServer> {
  const { config, graphs, log } = parts;
  refuseOthers(host.env);
  warnOfOthers(host.env, log);
  await setEnvironment(host, parts);
  const [{ loadLibrary }] = await Promise.all([
    import("@holdpoint/server/graphs/langgraph/library.ts"),
    import("@holdpoint/server/server/agent-server.ts"), // on later use: modules load while others are read
    import("@holdpoint/server/graphs/graphs.ts"),
    import("@holdpoint/server/graphs/extensions/sdk-globals.ts"),
  ]);
  const { installSourceHooks } = await import("@holdpoint/server/graphs/loading/source-hooks.ts");
  installSourceHooks(); // before LangGraph loads
  const sources = prepare(graphs);
  const library = await loadLibrary(graphs.folder);
  const storage = await openStorage(host, config, library.version, log);
  await storage.start();
  const { forget } = await sources;
  try {
    return await startOver(host, parts, library, storage);
  } catch (error) {
    await storage.stop();
    throw error;
  } finally {
    forget();
  }
}

/** Beside the load of the library. */
async function prepare({ graphs }: GraphsConfig): Promise<PreparedSources> {
  const { prepareSources } = await import("@holdpoint/server/graphs/loading/prepare-sources.ts");
  return prepareSources(graphs.flatMap((source) => ("given" in source ? [] : [source.file])));
}

async function setEnvironment(host: Host, { config, graphs, embedded = false }: ServerParts): Promise<void> {
  if (embedded) for (const [name, value] of Object.entries(graphs.env)) host.environment[name] ??= value;
  else setGraphEnvironment(host.environment, { listed: config.graphEnv, ...(await productSecrets()), graphs });
}

async function startOver(
  host: Host,
  parts: ServerParts,
  library: Library,
  storage: OpenedStorage,
): Promise<RunningServer> {
  const { config, graphs: graphsConfig, log, localServices, embedded = false } = parts;
  const [{ createAgentServer }, { registerSdkGlobals }, { systemClock }, { createIdSource }, { createMetrics }] =
    await Promise.all([
      import("@holdpoint/server/server/agent-server.ts"),
      import("@holdpoint/server/graphs/extensions/sdk-globals.ts"),
      import("@holdpoint/base/clock.ts"),
      import("@holdpoint/base/ids.ts"),
      import("@holdpoint/base/metrics.ts"),
    ]);
  const store = await openStore(config, graphsConfig, storage, log);
  const globals = registerSdkGlobals(library, log, config.mountPrefix ?? graphsConfig.http.mountPrefix);
  const graphs = await openGraphs(parts, library, storage, store);
  for (const { graphId } of graphsConfig.graphs) {
    const reason = graphs.loadProblem(graphId);
    if (reason !== null) log.error("graph_not_loaded", { graph: graphId, reason });
  }
  const surface = await readSurface(parts);
  const graphConfig = defaultsText(config.graphConfig, graphsConfig.env["LANGGRAPH_CONFIG"]);
  checkDefaults(graphConfig);
  const own = { ...config, graphConfig };
  const newId = createIdSource(Date.now, await storage.transaction((tx) => tx.newestRunId()));
  const server = createAgentServer(own, {
    storage,
    store,
    graphs,
    ...(await openAccess({ ...parts, storage, clock: systemClock, newId, prefix: surface.mountPrefix })),
    surface,
    engine: await openEngine(config, storage, log),
    webhooks: graphsConfig.webhooks,
    notify: await chooseNotify(config),
    appendLines,
    takeCommandActs: config.databaseUri === null ? takeBackupActs(config.dataDir) : null,
    pages: await openRoutes(host, parts, surface),
    gateways: await openGateways(host, parts, surface),
    localServices: config.console
      ? {
          ...localServices,
          loadProblem: (graphId) => graphs.loadProblem(graphId),
          versions: { ...localServices.versions, langgraph: library.version },
        }
      : null,
    traces: localServices.traces,
    threadTtl: graphsConfig.checkpointer,
    policies: graphsConfig.policies,
    limits: graphsConfig.limits,
    versions: { holdpoint: host.product.version, library: library.version },
    log,
    clock: systemClock,
    newId,
    metrics: createMetrics(),
    embedded,
  });
  globals.bind(server.loopback);
  await server.start();
  const stop = async (): Promise<void> => {
    try {
      await stopPart(server);
    } finally {
      globals.remove();
      await stopPart(storage); // the folder is left clean in any case
    }
  };
  return { ...runningServer(host, parts, { server, surface, graphs }), stop };
}

/** @throws {ConfigError} */
function checkDefaults(graphConfig: string): void {
  try {
    assistantDefaults(graphConfig);
  } catch (error) {
    throw new ConfigError([{ name: "LANGGRAPH_CONFIG", reason: describeError(error).message }]);
  }
}

interface StartedParts {
  readonly server: AgentServer;
  readonly surface: Surface;
  readonly graphs: DeployedGraphs;
}

function runningServer(
  { product }: Host,
  { config, graphs: graphsConfig, log, embedded = false }: ServerParts,
  { server, surface, graphs }: StartedParts,
): Omit<RunningServer, "stop"> {
  const url = embedded ? "" : formatUrl(server.address());
  const names = graphs.list().map(({ graphId }) => graphId);
  const kept = config.databaseUri === null ? { data_dir: config.dataDir } : { storage: "postgres" };
  return {
    name: "holdpoint",
    start: () => Promise.resolve(),
    stopMs: null,
    url: `${url}${surface.mountPrefix}`,
    listener: server.listener,
    graphs: names,
    failed: graphsConfig.graphs.map(({ graphId }) => graphId).filter((one) => graphs.loadProblem(one) !== null),
    deployed: graphs,
    registerGraphs: server.registerGraphs,
    announce: () => log.info("listening", { url, graphs: names, ...kept, version: product.version }),
  };
}

async function openGraphs(
  { config, graphs, tracing, log, leavesOutFailed = false }: ServerParts,
  library: Library,
  storage: Storage,
  store: Store,
): Promise<DeployedGraphs> {
  const [{ createGraphs }, { createTypeReader }, { systemClock: clock }] = await Promise.all([
    import("@holdpoint/server/graphs/graphs.ts"),
    import("@holdpoint/server/graphs/schemas/type-reader.ts"),
    import("@holdpoint/base/clock.ts"),
  ]);
  const types = createTypeReader(graphs, config.schemaTimeoutMs, { clock, log });
  return createGraphs(graphs, {
    library,
    storage,
    store,
    types,
    tracing,
    clock,
    interruptBytesMax: config.interruptBytesMax,
    leavesOutFailed,
  });
}

/** @throws {Error} if the embedding function does not load */
async function openStore(
  config: AgentConfig,
  { folder, store }: GraphsConfig,
  storage: Storage,
  log: Log,
): Promise<Store & Service> {
  const [{ createStore }, { systemClock: clock }] = await Promise.all([
    import("@holdpoint/server/store/store.ts"),
    import("@holdpoint/base/clock.ts"),
  ]);
  const { index, ...times } = store;
  const embedder =
    index === null
      ? null
      : await (await import("@holdpoint/server/graphs/extensions/embedder.ts")).loadEmbedder(index, folder);
  const options = { ...times, itemBytesMax: config.storeItemBytesMax, fields: index?.fields ?? [] };
  return createStore(options, { storage, clock, log, embedder });
}

/** Null without authentication. */
function formatUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Opens the file each time, so that a rotation may move it. Resolves once the lines are on disk. A line that a crash cut stays one of its own. */
async function appendLines(path: string, lines: string): Promise<void> {
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const isCut = size > 0 && last.toString() !== "\n";
    await file.appendFile(isCut ? `\n${lines}` : lines);
    await file.datasync();
  } finally {
    await file.close();
  }
}

// Variables of other agent servers, which a deployment that moves here may still set.

const METADATA =
  "this server leaves metadata plain, because calls search by it, and with keys seals every other value whole: remove the variable, and keep what it names out of metadata";
const CUSTOM =
  "this server runs no encryption of a deployment's own: remove the variable, and set HOLDPOINT_ENCRYPTION_KEYS";

const REFUSED: Readonly<Record<string, string>> = {
  LANGGRAPH_AES_JSON_KEYS: METADATA,
  LANGGRAPH_ENCRYPTION: CUSTOM,
};

const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  A2A_A2UI_ENABLED: "A2A replies here have no A2UI parts",
  A2A_A2UI_TOOL_CALL_RESULTS: "A2A replies here have no A2UI parts",
  A2A_ALLOWED_TOOL_CALL_RESULTS: "A2A replies here have no results of tools",
  HTTP_MAX_REQUEST_BODY_BYTES: "the limit of bodies is HOLDPOINT_MAX_BODY_BYTES",
  LSD_PROM_METRICS_ENABLED: "the metrics are served at /metrics",
};

/** @throws {ConfigError} with every variable whose loss would weaken a promise */
function refuseOthers(env: Env): void {
  const problems = Object.entries(REFUSED).filter(([name]) => (env[name] ?? "") !== "");
  if (problems.length > 0) throw new ConfigError(problems.map(([name, reason]) => ({ name, reason })));
}

function warnOfOthers(env: Env, log: Log): void {
  for (const [name, why] of Object.entries(WITHOUT_EFFECT)) {
    if (env[name] !== undefined) log.warning("setting_unknown", { name, reason: `it has no effect: ${why}` });
  }
}
