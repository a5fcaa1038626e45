#!/usr/bin/env node
// Main: the command line. The only file that reads the environment, takes signals, sets exit codes and names adapters.
// Modules are imported where they are needed: what a command does not use costs it nothing at start.
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentConfig } from "./agent/settings.ts";
import { keepHeapSmall } from "./base/heap.ts";
import type { Service } from "./base/lifecycle.ts";
import type { Log } from "./base/log.ts";

enableCompileCache();
keepHeapSmall();

/** sysexits.h EX_CONFIG: the configuration is wrong, so starting again will not help. */
const EXIT_CONFIG = 78;
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSION = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string }).version;

interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly nJobsPerWorker?: string;
  readonly printConfig?: boolean;
}

async function main(argv: readonly string[]): Promise<void> {
  const { Command } = await import("commander");
  const program = new Command("holdpoint")
    .description("Runs LangGraph.js graphs that pause for people, and goes on exactly once when they answer.")
    .version(VERSION);
  const serveCommand = (name: string, description: string): void => {
    program
      .command(name)
      .description(description)
      .option("-c, --config <file>", "langgraph.json that names the graphs (LANGGRAPH_CONFIG)")
      .option("-p, --port <number>", "port to listen on (PORT)")
      .option("-H, --host <address>", "address to listen on (HOST)")
      .option("-d, --data-dir <folder>", "folder of the database (HOLDPOINT_DATA_DIR)")
      .option("-n, --n-jobs-per-worker <number>", "runs at the same time (N_JOBS_PER_WORKER)")
      .option("--print-config", "print the configuration that would be used, secrets masked, and exit")
      .action((options: ServeOptions) => serve(options, name === "dev"));
  };
  serveCommand("serve", "run the agent server");
  serveCommand("dev", "run the agent server here, with sample graphs when the folder has no langgraph.json");
  await program.parseAsync([...argv]);
}

async function serve(options: ServeOptions, dev: boolean): Promise<void> {
  const [{ printConfig, readConfig, ConfigError }, { AGENT_SETTINGS }] = await Promise.all([
    import("./base/config.ts"),
    import("./agent/settings.ts"),
  ]);
  let config: AgentConfig;
  try {
    config = readConfig(withOptions(process.env, options), AGENT_SETTINGS, (path) => readFileSync(path, "utf8"));
    await checkListenAddress(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuse(`The configuration is wrong:\n${error.message}`, EXIT_CONFIG);
  }
  if (options.printConfig === true) return void process.stdout.write(`${printConfig(AGENT_SETTINGS, config)}\n`);
  const log = await openLog(config);
  try {
    const graphs = graphConfigPath(config, options, dev);
    const anyPort = dev && options.port === undefined && process.env["PORT"] === undefined;
    const service = await (anyPort ? startOnFreePort(config, graphs, log) : start(config, graphs, log, dev));
    stopOnSignals(service, log);
    service.announce(); // who reads this may send a signal at once
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return refuse(message, name === "ConfigFileError" ? EXIT_CONFIG : 1);
  }
}

/** Options win over variables: they become variables of the same meaning, and are checked like them. */
function withOptions(env: NodeJS.ProcessEnv, options: ServeOptions): Record<string, string | undefined> {
  const { port, host, dataDir, nJobsPerWorker } = options;
  return {
    ...env,
    ...(port === undefined ? {} : { PORT: port }),
    ...(host === undefined ? {} : { HOST: host }),
    ...(dataDir === undefined ? {} : { HOLDPOINT_DATA_DIR: dataDir }),
    ...(nJobsPerWorker === undefined ? {} : { N_JOBS_PER_WORKER: nJobsPerWorker }),
  };
}

async function checkListenAddress(config: AgentConfig): Promise<void> {
  const [{ isLoopbackAddress }, { ConfigError }] = await Promise.all([
    import("./http/browser.ts"),
    import("./base/config.ts"),
  ]);
  if (isLoopbackAddress(config.host) || config.unsafeListen) return;
  const reason = `${config.host} can be reached from other machines and nobody has to authenticate; set HOLDPOINT_ALLOW_UNAUTHENTICATED=true if that is meant`;
  throw new ConfigError([{ name: "HOST", reason }]);
}

function graphConfigPath(config: AgentConfig, options: ServeOptions, dev: boolean): string {
  const path = options.config ?? config.graphConfig;
  const named = options.config !== undefined || process.env["LANGGRAPH_CONFIG"] !== undefined;
  return dev && !named && !exists(path) ? join(ROOT, "examples", "langgraph.json") : path;
}

const PORTS_TRIED = 20;

/** The usual port, or the next one: found by listening, so that two that start at once do not get the same. */
async function startOnFreePort(config: AgentConfig, graphs: string, log: Log): ReturnType<typeof start> {
  for (let port = config.port; ; port++) {
    try {
      return await start({ ...config, port }, graphs, log, true);
    } catch (error) {
      const taken = error instanceof Error && error.name === "ListenError" && port < config.port + PORTS_TRIED;
      if (!taken) throw error;
      log.warning("port_taken", { port, trying: port + 1 });
    }
  }
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

async function openLog(config: AgentConfig): Promise<Log> {
  const [{ createLog }, { secretsOf }, { AGENT_SETTINGS }] = await Promise.all([
    import("./base/log.ts"),
    import("./base/config.ts"),
    import("./agent/settings.ts"),
  ]);
  return createLog({
    level: config.logLevel,
    json: config.logJson ?? !process.stderr.isTTY,
    secrets: secretsOf(AGENT_SETTINGS, config),
    now: Date.now,
    write: (line) => process.stderr.write(line),
  });
}

interface Running extends Service {
  readonly announce: () => void;
}

async function start(config: AgentConfig, graphsPath: string, log: Log, dev: boolean): Promise<Running> {
  const { readGraphsConfig } = await import("./graphs/config-file.ts");
  const graphsConfig = readGraphsConfig(graphsPath, process.env);
  for (const remark of graphsConfig.remarks) log.warning("config_key_ignored", { file: graphsPath, remark });
  for (const [name, value] of Object.entries(graphsConfig.env)) process.env[name] ??= value;

  const [{ loadLibrary }, { createSqliteStorage }, { createAgentServer }, { createGraphs }] = await Promise.all([
    import("./graphs/library.ts"),
    import("./storage/sqlite/storage.ts"),
    import("./agent/server.ts"),
    import("./graphs/graphs.ts"),
  ]);
  const [{ systemClock }, { createIdSource }, { createMetrics }] = await Promise.all([
    import("./base/clock.ts"),
    import("./base/ids.ts"),
    import("./base/metrics.ts"),
  ]);
  const library = await loadLibrary(graphsConfig.folder);
  const versions = { holdpoint: VERSION, library: library.version };
  const storage = createSqliteStorage({
    folder: config.dataDir,
    owner: `process ${process.pid} (holdpoint, started ${new Date().toISOString()})`,
    versions,
    log,
  });
  await storage.start();
  try {
    const graphs = await createGraphs(graphsConfig, library, storage);
    const server = createAgentServer(config, {
      storage,
      graphs,
      versions,
      log,
      clock: systemClock,
      newId: createIdSource(Date.now),
      metrics: createMetrics(),
    });
    await server.start();
    const stop = async (): Promise<void> => {
      try {
        await server.stop();
      } finally {
        await storage.stop(); // whatever became of the server, the folder is left clean
      }
    };
    const tell = (): void => announce(config, server.address(), graphs.list(), log, dev);
    return { name: "holdpoint", start: () => Promise.resolve(), stop, announce: tell };
  } catch (error) {
    await storage.stop();
    throw error;
  }
}

function announce(
  config: AgentConfig,
  address: { readonly host: string; readonly port: number },
  graphs: readonly { readonly graphId: string }[],
  log: Log,
  dev: boolean,
): void {
  const url = `http://${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
  const names = graphs.map(({ graphId }) => graphId);
  log.info("listening", { url, graphs: names, data_dir: config.dataDir, version: VERSION });
  if (dev) process.stdout.write(`\n  Holdpoint ${VERSION}: ${url}\n  graphs: ${names.join(", ")}\n\n`);
}

/** The first signal drains, a second one ends at once. */
function stopOnSignals(service: Service, log: Log): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { signal });
    service.stop().then(
      () => {
        log.info("stopped");
        process.exit(0);
      },
      (error: unknown) => {
        log.error("stop_failed", { reason: String(error) });
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // Code of a graph may leave a promise unattended. Its run has its own end; the process goes on.
  process.on("unhandledRejection", (reason) => log.error("unhandled_rejection", { reason: String(reason) }));
}

function refuse(message: string, exitCode: number): void {
  process.stderr.write(`holdpoint: ${message}\n`);
  process.exit(exitCode);
}

await main(process.argv); // last, so that everything above is there
