// Dev: `holdpoint dev`: agent server, collector and trace store in one process, for one person, with a paused sample
// run.
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { graphConfigFile } from "../agent/model/assistant-defaults.ts";
import type { LocalServices, LocalCollector } from "../agent/server/console-api.ts";
import type { AgentConfig } from "../agent/server/settings.ts";
import { stopPart, type Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log/log.ts";
import type { RecentLog } from "../base/log/recent-log.ts";
import { callable } from "../cli/client/local-server.ts";
import type { CollectorConfig } from "../collector/settings.ts";
import type { MovedPort } from "../dev/welcome.ts";
import type { GraphsConfig } from "../graphs/config/langgraph-json.ts";
import type { HttpRoute } from "../http/server/app.ts";
import type { TelemetryConfig } from "../telemetry/settings.ts";
import type { TraceConfig } from "../traces/settings.ts";
import { startAgentServer, type RunningServer } from "./agent-server.ts";
import { collectorConfig, localBackend, localUrl, openTraceServer } from "./collect.ts";
import { announced, configOf, isReadable, openLog, printConfigOf, type Host, type LongRunningProcess } from "./host.ts";
import {
  agentTable,
  localServicesOf,
  checkAccess,
  readGraphConfig,
  STOP_SPARE_MS,
  withOptions,
  type ProcessParts,
  type ServeOptions,
} from "./serve.ts";
import { DEV_TRACE_DELAY_MS, openTracing } from "./tracing.ts";

export interface DevOptions extends ServeOptions {
  readonly browser: boolean;
  /** Allow the hosted Studio. */
  readonly studio?: boolean;
  /** URLs of other pages to allow. */
  readonly origin?: readonly string[];
}

type DevConfig = AgentConfig & TelemetryConfig & CollectorConfig & TraceConfig;

/** @returns null with --print-config @throws {ConfigError} */
export async function dev(host: Host, options: DevOptions): Promise<LongRunningProcess | null> {
  const origins = await originsOf(options);
  const table = { ...(await collectorConfig(host)).table, ...(await agentTable()) } as const;
  const env = withOptions(host.env, options);
  const given = await configOf(table, env);
  const config: DevConfig = {
    ...given,
    traceDir: host.env["TRACES_DIR"] === undefined ? given.dataDir : given.traceDir,
    flushIntervalMs: host.env["FLUSH_INTERVAL_MS"] === undefined ? DEV_TRACE_DELAY_MS : given.flushIntervalMs,
  };
  if (options.printConfig === true) {
    await printConfigOf(host, table, config);
    return null;
  }
  const log = await openLog(host, table, config);
  const path = graphConfigPath(host, config, options);
  const graphs = await readGraphConfig(host, path, log);
  await checkAccess(config, graphs);
  const running: Service[] = [];
  const stop = async (): Promise<void> => {
    for (let part = running.pop(); part !== undefined; part = running.pop()) await stopPart(part);
  };
  try {
    const started = await startParts(host, {
      config,
      graphs,
      path: resolve(path),
      log,
      anyPort: options.port === undefined,
      origins,
      running,
      describe: (parts, ports) => localServicesOf(host, table, { ...config, ...ports }, env, graphs, parts),
    });
    const announce = async (): Promise<void> => {
      started.server.announce();
      await welcome(host, started, config, options, path === samplesOf(host));
    };
    const stopMs = config.shutdownGraceSecs * 1000 + config.shutdownTimeoutMs + STOP_SPARE_MS;
    return { log, stop, stopMs, exitCode: () => 0, announce };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface StartedParts {
  readonly server: RunningServer;
  readonly collectorUrl: string;
  readonly moved: readonly MovedPort[];
}

/** The ports in force, in the names of the settings. */
type Ports = Pick<DevConfig, "port" | "httpPort" | "tracePort">;

const PROBLEMS_KEPT = 50;

/** @param running receives the started parts in order; they stop in reverse order */
async function startParts(
  host: Host,
  given: {
    readonly config: DevConfig;
    readonly graphs: GraphsConfig;
    /** The file that names them. */
    readonly path: string;
    readonly log: Log;
    readonly anyPort: boolean;
    readonly origins: readonly string[];
    readonly running: Service[];
    readonly describe: (parts: ProcessParts, ports: Ports) => Promise<LocalServices>;
  },
): Promise<StartedParts> {
  const { config, graphs, log, running, origins } = given;
  const [{ onFreePort }, { runCollector }, { createRecentLog }, { traceRoutes }] = await Promise.all([
    import("../dev/free-port.ts"),
    import("../collector/open-collector.ts"),
    import("../base/log/recent-log.ts"),
    import("../traces/routes.ts"),
  ]);
  const recent = createRecentLog(log, PROBLEMS_KEPT, Date.now);
  const onPort = <T>(name: string, address: string, port: number, open: (port: number) => Promise<T>): Promise<T> =>
    // a port that is set is meant
    host.env[name] === undefined ? onFreePort({ host: address, port }, open) : open(port);
  let tracePort: number | null = null;
  let traces: ProcessParts["traces"] = null;
  let routes: readonly HttpRoute[] = [];
  if (config.endpoint === null) {
    const server = await onPort("TRACES_PORT", "127.0.0.1", config.tracePort, (port) =>
      openTraceServer(host, { ...config, tracePort: port }, log),
    );
    running.push(server);
    tracePort = server.address().port;
    traces = traceRoutes(server.store);
    const isOpen = config.apiKeys === null && graphs.auth === null;
    if (isOpen) routes = traces; // for programs that use this port and no other
  }
  const collector = await onPort("HTTP_PORT", config.host, config.httpPort, async (httpPort) => {
    const one = runCollector(
      localBackend({ ...config, httpPort }, tracePort === null ? null : localUrl(tracePort)),
      recent,
    );
    await one.start();
    return one;
  });
  running.push(collector);
  const collectorUrl = localUrl(collector.address().port);
  const tracing = await openTracing(host, config, log, {
    address: `${collectorUrl}/v1/traces`,
    token: config.ingestToken,
  });
  if (tracing !== null) running.push(tracing);
  const [{ createFreshModules }, { createHotReload }, { systemClock: clock }] = await Promise.all([
    import("../graphs/loading/module-reload.ts"),
    import("../graphs/hot-reload.ts"),
    import("../base/clock.ts"),
  ]);
  const { readGraphsConfig } = await import("../graphs/config/langgraph-json.ts");
  const modules = createFreshModules(realpathSync(graphs.folder)); // before the first graph loads
  const parts = { traces, collector: await localCollector(collectorUrl, config.ingestToken, recent) };
  const ports = { httpPort: collector.address().port, tracePort: tracePort ?? config.tracePort };
  const open = async (port: number): Promise<RunningServer> => {
    const localServices = await given.describe(parts, { port, ...ports });
    return startAgentServer(host, {
      config: { ...config, port },
      graphs,
      log,
      tracing,
      localServices,
      routes,
      origins,
    });
  };
  const server = await (given.anyPort ? onPort("PORT", config.host, config.port, open) : open(config.port));
  running.push(server);
  const { deployed, registerGraphs: onReloaded } = server;
  const readConfig = (): GraphsConfig => readGraphsConfig(given.path, host.env);
  const reload = createHotReload(given.path, graphs, { modules, graphs: deployed, readConfig, onReloaded, clock, log });
  await reload.start();
  running.push(reload);
  const tracesUrl = tracePort === null ? null : localUrl(tracePort);
  running.push(announced(config.dataDir, { pid: host.processId, url: callable(server.url), tracesUrl, collectorUrl }));
  const moved = movedPorts(config, { port: Number(new URL(server.url).port), ...ports });
  return { server, collectorUrl, moved };
}

/** Port 0 asks for any port, so that nothing moved. */
function movedPorts(usual: Ports, inForce: Ports): readonly MovedPort[] {
  const services = { port: "agent server", httpPort: "collector", tracePort: "trace store" } as const;
  return (["port", "httpPort", "tracePort"] as const).flatMap((name) =>
    usual[name] === 0 || usual[name] === inForce[name]
      ? []
      : [{ service: services[name], usual: usual[name], taken: inForce[name] }],
  );
}

const METRICS_TIMEOUT_MS = 5000;

/** The collector of this process, called at its own port like any other. */
async function localCollector(url: string, token: string | null, recent: RecentLog): Promise<LocalCollector> {
  const [{ sendSampleSpan }, { randomBytes }] = await Promise.all([
    import("../dev/sample-span.ts"),
    import("node:crypto"),
  ]);
  return {
    url,
    metrics: async () => (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) })).text(),
    problems: () => recent.recent(),
    sendSample: () => sendSampleSpan(url, token, Date.now(), (count) => randomBytes(count).toString("hex")),
  };
}

/** Prints all addresses, creates the sample, and opens it if there is a browser. */
async function welcome(
  { env, platform, isTerminal, out, product }: Host,
  { server, collectorUrl, moved }: StartedParts,
  config: DevConfig,
  options: DevOptions,
  samples: boolean,
): Promise<void> {
  const [{ ensureSample }, { inboxLink, welcome: welcomeText }, { browserCommand, openBrowser }, { studioLink }] =
    await Promise.all([
      import("../dev/sample.ts"),
      import("../dev/welcome.ts"),
      import("../dev/browser.ts"),
      import("../dev/hosted-pages.ts"),
    ]);
  const { url, graphs } = server;
  const sample = samples ? await ensureSample(url) : null;
  const traces = config.endpoint ?? config.traceDir;
  const pages = [...(options.studio === true ? [studioLink(url)] : []), ...(options.origin ?? [])];
  out(welcomeText({ version: product.version, url, collectorUrl, traces, graphs, moved, pages, sample }));
  const command = browserCommand({ wanted: options.browser, terminal: isTerminal.out, env, platform });
  if (command !== null && sample?.kind === "waiting") openBrowser(inboxLink(url, sample.sample), command);
}

/** @throws {ConfigError} if one is not the URL of a page */
async function originsOf({ studio, origin }: DevOptions): Promise<readonly string[]> {
  const { hostedOrigins } = await import("../dev/hosted-pages.ts");
  return hostedOrigins(studio === true, origin ?? []);
}

const samplesOf = ({ product }: Host): string => join(product.root, "examples", "langgraph.json");

/** The user's own file, wherever it is; the samples if there is none. */
function graphConfigPath(host: Host, config: AgentConfig, options: ServeOptions): string {
  const file = graphConfigFile(config.graphConfig);
  const path = options.config ?? file;
  const named = options.config !== undefined || host.env["LANGGRAPH_CONFIG"] === file;
  return !named && !isReadable(path) ? samplesOf(host) : path;
}
