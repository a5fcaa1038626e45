// Serve: `holdpoint serve`: the agent server alone, from options and environment to a running process.
import { dirname, relative, resolve } from "node:path";
import type { LocalServices } from "@holdpoint/server/server/console-api.ts";
import { GRAPH_CONFIG_FILE, graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Config, Env, SettingsTable } from "@holdpoint/base/config/config.ts";
import { callable } from "../cli/client/local-server.ts";
import { type Service, stopPart } from "@holdpoint/base/lifecycle.ts";
import type { TelemetryConfig } from "@holdpoint/server/telemetry/settings.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";
import { startAgentServer } from "./agent-server.ts";
import {
  announced,
  readTableConfig,
  isReadable,
  openLog,
  printTableConfig,
  readLimits,
  warnOfUnknown,
  type Host,
} from "./host.ts";
import type { LongRunningProcess } from "@holdpoint/base/log/long-running-process.ts";
import { explainInUse } from "./in-use.ts";
import { type ProcessParts, remoteParts } from "./remote-parts.ts";
import { startServeParts } from "./serve-parts.ts";
import { openTracing } from "./tracing.ts";

export interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly role?: string;
  readonly nJobsPerWorker?: string;
  readonly printConfig?: boolean;
}

/** Time after the grace period. Manifests wait longer than both together before they kill (deploy/). */
export const STOP_SPARE_MS = 8000;

/** @returns null with --print-config @throws {ConfigError} */
export async function serve(host: Host, options: ServeOptions): Promise<LongRunningProcess | null> {
  const table = await agentTable();
  const env = withOptions(host.env, options);
  const config = { ...(await readLimits(host)), ...(await readTableConfig(table, env)) };
  if (options.printConfig === true) {
    await printTableConfig(host, table, config);
    return null;
  }
  const log = await openLog(host, table, config);
  await warnOfUnknown(host, log);
  const graphs = await findGraphs(host, config, options, log);
  await checkAccess(config, graphs);
  const parts: Service[] = [];
  const stopParts = async (): Promise<void> => {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) await stopPart(part);
  };
  try {
    return await startServing(host, { table, env, config, graphs, log, parts, stopParts });
  } catch (error) {
    await stopParts();
    throw explainInUse(error, config.dataDir);
  }
}

interface Serving {
  readonly table: Awaited<ReturnType<typeof agentTable>>;
  readonly env: Env;
  readonly config: AgentConfig & TelemetryConfig;
  readonly graphs: GraphsConfig;
  readonly log: Log;
  /** Started services beside the server. */
  readonly parts: Service[];
  readonly stopParts: () => Promise<void>;
}

async function startServing(host: Host, serving: Serving): Promise<LongRunningProcess> {
  const { table, env, config, graphs, log, parts, stopParts } = serving;
  const { own, ...shown } = await startServeParts(host, config, log, parts);
  const content = { otelCaptureContent: config.otelCaptureContent ?? false };
  const tracing = await openTracing(host, own === null ? config : { ...config, ...content }, log, own);
  if (tracing !== null) parts.push(tracing);
  const localServices = await openLocalServices(host, { table, config, env, graphs, ...shown });
  const server = await startAgentServer(host, { config, graphs, log, tracing, localServices, routes: [], origins: [] });
  const isLocal = config.databaseUri === null; // many machines share no folder
  const url = callable(server.url);
  const local = isLocal
    ? announced(config.dataDir, { pid: host.processId, url, tracesUrl: null, collectorUrl: null })
    : null;
  return {
    log,
    async stop() {
      try {
        if (local !== null) await stopPart(local);
        await stopPart(server);
      } finally {
        await stopParts(); // last: runs report their end
      }
    },
    stopMs: config.shutdownGraceSecs * 1000 + STOP_SPARE_MS,
    exitCode: () => 0,
    announce: () => Promise.resolve(server.announce()),
  };
}

export async function agentTable() {
  const [{ AGENT_SETTINGS }, { TELEMETRY_SETTINGS }] = await Promise.all([
    import("@holdpoint/server/server/settings.ts"),
    import("@holdpoint/server/telemetry/settings.ts"),
  ]);
  return { ...AGENT_SETTINGS, ...TELEMETRY_SETTINGS } as const;
}

/** Options win over variables: each becomes the variable of the same meaning, with the same checks. */
export function withOptions(env: Env, options: ServeOptions): Env {
  const { port, host, dataDir, nJobsPerWorker, role } = options;
  return {
    ...env,
    ...(port === undefined ? {} : { PORT: port }),
    ...(host === undefined ? {} : { HOST: host }),
    ...(dataDir === undefined ? {} : { HOLDPOINT_DATA_DIR: dataDir }),
    ...(role === undefined ? {} : { HOLDPOINT_ROLE: role }),
    ...(nJobsPerWorker === undefined ? {} : { N_JOBS_PER_WORKER: nJobsPerWorker }),
  };
}

/** A folder without a langgraph.json serves requests: they need no graph. */
async function findGraphs(host: Host, config: AgentConfig, options: ServeOptions, log: Log): Promise<GraphsConfig> {
  const path = options.config ?? graphConfigFile(config.graphConfig);
  if (path !== GRAPH_CONFIG_FILE || isReadable(path)) return readGraphConfig(host, path, log);
  const { givenGraphsConfig } = await import("@holdpoint/server/graphs/config/langgraph-json.ts");
  log.warning("no_graphs", { reason: "no langgraph.json in this folder: the server takes requests only" });
  return givenGraphsConfig({}, dirname(resolve(path)));
}

export async function readGraphConfig(host: Host, path: string, log: Log): Promise<GraphsConfig> {
  const { readGraphsConfig } = await import("@holdpoint/server/graphs/config/langgraph-json.ts");
  const graphs = readGraphsConfig(path, host.env);
  for (const remark of graphs.remarks) log.warning("config_key_ignored", { file: path, remark });
  return graphs;
}

/** @throws {ConfigError} if authentication or the shared database is ambiguous */
export async function checkAccess(config: AgentConfig, graphs: GraphsConfig): Promise<void> {
  await checkRole(config);
  const [{ isLoopbackAddress }, { ConfigError }, { authenticates, checkAuthentication }] = await Promise.all([
    import("@holdpoint/base/http/server/loopback-host.ts"),
    import("@holdpoint/base/config/config.ts"),
    import("./access.ts"),
  ]);
  const isLocal = isLoopbackAddress(config.host);
  await checkAuthentication(config, graphs, !isLocal);
  if (isLocal || config.unsafeListen || authenticates(config, graphs)) return;
  const reason = `${config.host} is reachable from other machines without authentication; set up sign-in with HOLDPOINT_OIDC_ISSUER, set HOLDPOINT_API_KEYS, name handlers in auth.path of the configuration file, or set HOLDPOINT_ALLOW_UNAUTHENTICATED=true if that is intended`;
  throw new ConfigError([{ name: "HOST", reason }]);
}

/** @throws {ConfigError} when the role has no database to share */
export async function checkRole(config: AgentConfig): Promise<void> {
  if (config.role === "all" || config.databaseUri !== null) return;
  const { ConfigError } = await import("@holdpoint/base/config/config.ts");
  const reason = "shares the work among processes on DATABASE_URI, which is not set";
  throw new ConfigError([{ name: "HOLDPOINT_ROLE", reason }]);
}

export async function openLocalServices<Table extends SettingsTable>(
  { product, nodeVersion }: Host,
  described: ProcessParts & {
    readonly table: Table;
    readonly config: Config<Table> & AgentConfig;
    readonly env: Env;
    readonly graphs: GraphsConfig;
  },
): Promise<Omit<LocalServices, "loadProblem">> {
  const { table, config, env } = described;
  const remote = await remoteParts(config);
  const [traces, collector] = [described.traces ?? remote.traces, described.collector ?? remote.collector];
  const { folder, graphs: sources } = described.graphs;
  const { describeConfig } = await import("@holdpoint/base/config/config.ts");
  const settings = describeConfig(table, config, env);
  const graphs = sources.map((source) => ({
    graph_id: source.graphId,
    source: "given" in source ? "given as a value" : `${relative(folder, source.file)}:${source.exportName}`,
  }));
  return { traces, collector, settings, graphs, versions: { holdpoint: product.version, node: nodeVersion } };
}
