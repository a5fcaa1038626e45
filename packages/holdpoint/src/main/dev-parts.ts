// Dev parts: the services of `holdpoint dev`, started in order: trace store, collector, tracing, agent server, hot
// reload, and the file by which other commands find them.
// Invariants:
//   - The service itself listens; the look beforehand only saves a start that fails.
//   free-port.2. A service that moves leaves the usual ports of the others alone.
import { realpathSync } from "node:fs";
import type { LocalServices } from "@holdpoint/server/server/console-api.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { RecentLog } from "@holdpoint/base/log/recent-log.ts";
import { callable } from "../cli/client/local-server.ts";
import type { CollectorConfig } from "@holdpoint/collector/service/settings.ts";
import type { MovedPort } from "../dev/welcome.ts";
import type { GraphsConfig } from "@holdpoint/server/graphs/config/langgraph-json.ts";
import type { HttpRoute } from "@holdpoint/base/http/server/app.ts";
import type { TelemetryConfig } from "@holdpoint/server/telemetry/settings.ts";
import type { TraceConfig } from "@holdpoint/collector/traces/settings.ts";
import { authenticates } from "./access.ts";
import { openSql } from "./open-trace-sql.ts";
import { startAgentServer, type RunningServer } from "./agent-server.ts";
import { localBackend, localUrl } from "@holdpoint/collector/service/local-backend.ts";
import { announced, type Host } from "./host.ts";
import { collectorAt, type ProcessParts } from "./remote-parts.ts";
import { openTracing } from "./tracing.ts";
import { createServer } from "node:net";

export type DevConfig = AgentConfig & TelemetryConfig & CollectorConfig & TraceConfig;

/** The ports in force, in the names of the settings. */
export type Ports = Pick<DevConfig, "port" | "httpPort" | "tracePort"> & { readonly grpcPort: number };

export interface DevParts {
  readonly config: DevConfig;
  readonly graphs: GraphsConfig;
  /** The file that names them. */
  readonly path: string;
  readonly log: Log;
  /** The log of the collector and the trace store. */
  readonly partsLog: Log;
  readonly anyPort: boolean;
  readonly origins: readonly string[];
  /** Receives the started services in order; they stop in reverse order. */
  readonly running: Service[];
  readonly describe: (parts: ProcessParts, ports: Ports) => Promise<Omit<LocalServices, "loadProblem">>;
}

export interface StartedParts {
  readonly server: RunningServer;
  readonly collectorUrl: string;
  readonly moved: readonly MovedPort[];
}

const PROBLEMS_KEPT = 50;

export async function startParts(host: Host, dev: DevParts): Promise<StartedParts> {
  const { config, log, partsLog, running } = dev;
  const parts = { config, log: partsLog, running };
  const traceStore = await startTraceStore(host, parts);
  const tracesUrl = traceStore === null ? null : localUrl(traceStore.port);
  const collector = await startCollector(host, parts, tracesUrl);
  const collectorUrl = localUrl(collector.port);
  const tracing = await openTracing(host, config, log, {
    address: `${collectorUrl}/v1/traces`,
    token: config.ingestToken,
  });
  if (tracing !== null) running.push(tracing);
  const ports = {
    httpPort: collector.port,
    grpcPort: collector.grpcPort,
    tracePort: traceStore?.port ?? config.tracePort,
  };
  const local = collectorAt(collectorUrl, config.ingestToken, () => collector.recent.recent());
  const server = await startReloadingServer(host, dev, async (port) =>
    startAgentServer(host, {
      config: { ...config, port },
      graphs: dev.graphs,
      log,
      tracing,
      localServices: await dev.describe({ traces: traceStore?.routes ?? null, collector: local }, { port, ...ports }),
      routes: traceStore !== null && isOpen(dev) ? traceStore.routes : [], // for programs that use this port only
      origins: dev.origins,
      leavesOutFailed: true,
    }),
  );
  running.push(announced(config.dataDir, { pid: host.processId, url: callable(server.url), tracesUrl, collectorUrl }));
  const moved = movedPorts(
    { ...config, grpcPort: config.grpcPort ?? GRPC_PORT },
    { port: Number(new URL(server.url).port), ...ports },
  );
  return { server, collectorUrl, moved };
}

const isOpen = ({ config, graphs }: DevParts): boolean => !authenticates(config, graphs);

type TraceParts = Pick<DevParts, "log" | "running"> & {
  readonly config: CollectorConfig & TraceConfig;
  /** False: the store's own port takes uploads only. */
  readonly queries?: boolean;
};

interface StartedTraceStore {
  readonly port: number;
  readonly routes: readonly HttpRoute[];
}

/** Null with a tracing backend elsewhere. */
export async function startTraceStore(
  host: Host,
  { config, log, running, queries = true }: TraceParts,
): Promise<StartedTraceStore | null> {
  if (config.endpoint !== null) return null;
  const [{ traceRoutes }, { openTraceServer }] = await Promise.all([
    import("@holdpoint/collector/traces/routes.ts"),
    import("@holdpoint/collector/service/collector-process.ts"),
  ]);
  const server = await onPort(host, { name: "TRACES_PORT", host: "127.0.0.1", port: config.tracePort }, (tracePort) =>
    openTraceServer({ ...config, tracePort }, { log, version: host.product.version, queries, openSql }),
  );
  running.push(server);
  return { port: server.address().port, routes: traceRoutes(server.store) };
}

/** The port of OTLP over gRPC, as exporters have it without a setting. */
const GRPC_PORT = 4317;

/** @param tracesUrl the trace store of this process, or null */
export async function startCollector(
  host: Host,
  { config, log, running }: TraceParts,
  tracesUrl: string | null,
): Promise<{ readonly port: number; readonly grpcPort: number; readonly recent: RecentLog }> {
  const [{ runCollector }, { createRecentLog }, { openKeyring }] = await Promise.all([
    import("@holdpoint/collector/service/open-collector.ts"),
    import("@holdpoint/base/log/recent-log.ts"),
    import("@holdpoint/base/config/encryption-keys.ts"),
  ]);
  const ring = await openKeyring(config);
  const recent = createRecentLog(log, PROBLEMS_KEPT, Date.now);
  const at = { name: "HTTP_PORT", host: config.host, port: config.httpPort };
  const reserved = [config.httpPort, config.tracePort]; // an exporter of OTLP over HTTP must not reach gRPC
  const grpcAt = { name: "GRPC_PORT", host: config.host, port: config.grpcPort ?? GRPC_PORT, reserved };
  const collector = await onPort(host, grpcAt, (grpcPort) =>
    onPort(host, at, async (httpPort) => {
      const one = runCollector(localBackend({ ...config, httpPort, grpcPort }, tracesUrl), recent, ring);
      await one.start();
      return one;
    }),
  );
  running.push(collector);
  return { port: collector.address().port, grpcPort: collector.grpcAddress()?.port ?? 0, recent };
}

/** The server of `open`, whose graphs reload when their files change. */
async function startReloadingServer(
  host: Host,
  dev: DevParts,
  open: (port: number) => Promise<RunningServer>,
): Promise<RunningServer> {
  const { config, graphs, path, log, running } = dev;
  const [{ createFreshModules }, { createHotReload }, { systemClock: clock }] = await Promise.all([
    import("@holdpoint/server/graphs/loading/module-reload.ts"),
    import("@holdpoint/server/graphs/hot-reload.ts"),
    import("@holdpoint/base/clock.ts"),
  ]);
  const { readGraphsConfig } = await import("@holdpoint/server/graphs/config/langgraph-json.ts");
  const modules = createFreshModules(realpathSync(graphs.folder)); // before the first graph loads
  const at = { name: "PORT", host: config.host, port: config.port };
  const server = await (dev.anyPort ? onPort(host, at, open) : open(config.port));
  running.push(server);
  const { deployed, registerGraphs: onReloaded } = server;
  const readConfig = (): GraphsConfig => readGraphsConfig(path, host.env);
  const reload = createHotReload(path, graphs, { modules, graphs: deployed, readConfig, onReloaded, clock, log });
  await reload.start();
  running.push(reload);
  return server;
}

interface UsualPort {
  /** The variable that sets it. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Usual ports of other services. */
  readonly reserved?: readonly number[];
}

/** Opens on the usual port, or on a free one. A port that the environment sets is used as it is. */
async function onPort<T>({ env }: Host, { name, ...usual }: UsualPort, open: (port: number) => Promise<T>): Promise<T> {
  if ((env[name] ?? "") !== "") return open(usual.port);
  return onFreePort(usual, open);
}

/** Port 0 asks for any port, so that nothing moved. */
function movedPorts(usual: Ports, inForce: Ports): readonly MovedPort[] {
  const services = {
    port: "agent server",
    httpPort: "collector",
    grpcPort: "collector (gRPC)",
    tracePort: "trace store",
  } as const;
  return (["port", "httpPort", "grpcPort", "tracePort"] as const).flatMap((name) =>
    usual[name] === 0 || usual[name] === inForce[name]
      ? []
      : [{ service: services[name], usual: usual[name], actual: inForce[name] }],
  );
}

// A service on its usual port, or on the next free one.

const PORTS_TRIED = 20;

/** @throws {Error} ListenError, if the last port is in use too; any other error of `start` */
export async function onFreePort<T>(
  usual: { readonly host: string; readonly port: number; readonly reserved?: readonly number[] },
  start: (port: number) => Promise<T>,
): Promise<T> {
  const { host, port: first, reserved = [] } = usual;
  for (let port = first; ; port++) {
    if (port !== first && reserved.includes(port)) continue; // free-port.2
    const isLast = port >= Math.min(first + PORTS_TRIED, 65_535);
    if (isLast || (await isFree(host, port))) {
      try {
        return await start(port);
      } catch (error) {
        const isInUse = error instanceof Error && error.name === "ListenError"; // taken since the check
        if (!isInUse || isLast) throw error;
      }
    }
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
