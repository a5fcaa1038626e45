#!/usr/bin/env node
// Main: the command line. The only file that reads the environment, takes signals, sets exit codes and names adapters.
// Modules are imported where they are needed: what a command does not use costs it nothing at start.
import { readFileSync, realpathSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Access, Engine, Storage, Store, Tracing } from "./agent/ports.ts";
import type { AgentConfig } from "./agent/settings.ts";
import type { Surface } from "./agent/surface.ts";
import type { Config, Env, SettingsTable } from "./base/config.ts";
import { keepHeapSmall } from "./base/heap.ts";
import type { Service } from "./base/lifecycle.ts";
import type { Log } from "./base/log.ts";
import type { Cli } from "./cli/cli.ts";
import type { VerbPorts } from "./cli/verbs.ts";
import type { RecentLog } from "./base/recent-log.ts";
import type { CollectorConfig } from "./collector/settings.ts";
import type { HttpRoute } from "./http/app.ts";
import type { Dumpable } from "./storage/dump.ts";
import type { Versions } from "./storage/versions.ts";
import type { TraceServer } from "./traces/server.ts";
import type { TraceConfig } from "./traces/settings.ts";
import type { Beside, BesideCollector } from "./agent/beside.ts";
import type { TelemetryConfig } from "./telemetry/settings.ts";
import type { GraphsConfig } from "./graphs/config-file.ts";
import type { DeployedGraphs } from "./graphs/graphs.ts";
import type { LoadedApp } from "./graphs/custom-app.ts";

enableCompileCache();
keepHeapSmall();

/** The command line cannot be understood. */
const EXIT_USAGE = 2;
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGE = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
};
const VERSION = PACKAGE.version;

interface ServeOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly nJobsPerWorker?: string;
  readonly role?: string;
  readonly printConfig?: boolean;
}

interface DevOptions extends ServeOptions {
  readonly browser: boolean;
}

async function main(argv: readonly string[]): Promise<void> {
  const { Command } = await import("commander");
  const program = new Command("holdpoint")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .description("Runs LangGraph.js graphs that pause for people, and goes on exactly once when they answer.")
    .version(VERSION);
  const serveCommand = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option("-c, --config <file>", "langgraph.json that names the graphs (LANGGRAPH_CONFIG)")
      .option("-p, --port <number>", "port to listen on (PORT)")
      .option("-H, --host <address>", "address to listen on (HOST)")
      .option("-d, --data-dir <folder>", "folder of the database (HOLDPOINT_DATA_DIR)")
      .option("-n, --n-jobs-per-worker <number>", "runs at the same time (N_JOBS_PER_WORKER)")
      .option("--print-config", "print the configuration that would be used, secrets masked, and exit");
  serveCommand("serve", "run the agent server")
    .option("--role <role>", "api, worker or all: one process of many on DATABASE_URI (HOLDPOINT_ROLE)")
    .action((options: ServeOptions) => serve(options));
  serveCommand("dev", "run agent server, collector and trace store here; without a langgraph.json, the sample graphs")
    .option("--no-browser", "open no page; without a terminal, and in CI, none is opened anyway")
    .action((options: DevOptions) => dev(options));
  program
    .command("migrate")
    .description("bring the database of DATABASE_URI up to this version, and exit; servers that run go on meanwhile")
    .option("-c, --config <file>", "langgraph.json that names the graphs (LANGGRAPH_CONFIG)")
    .action((options: { readonly config?: string }) => migrate(options));
  const collector = program
    .command("collector")
    .description("run the trace collector proxy: OTLP traces in, the tracing backend's runs out")
    .option("--print-config", "print the configuration that would be used, secrets masked, and exit")
    .action((options: { readonly printConfig?: boolean }) => collect(options));
  collector
    .command("check")
    .description("try the endpoint, the key, the folders and one small upload; exit code 1 when one fails")
    .option("--json", "print JSON")
    .action((options: { readonly json?: boolean }) => checkUploads(options));
  collector
    .command("replay")
    .description("send dead letters again with the key they came with; exit code 1 when some stay")
    .option("--json", "print JSON")
    .action((options: { readonly json?: boolean }) => replay(options));
  const { registerVerbs } = await import("./cli/verbs.ts");
  registerVerbs(program, await clientCli(), clientPorts());
  await program.parseAsync([...argv]);
}

/** Runs a command, and tells what stopped it. */
async function command(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message, exitCode } = (await import("./cli/refusal.ts")).refusalOf(error);
    refuse(message, exitCode);
  }
}

/** What the verbs of src/cli get from this process. */
async function clientCli(): Promise<Cli> {
  const [{ createTerminal }, { systemClock: clock }] = await Promise.all([
    import("./cli/terminal.ts"),
    import("./base/clock.ts"),
  ]);
  return {
    terminal: createTerminal(process, process.env, () => process.exit(0)),
    clock,
    config: async () => configOf((await import("./cli/settings.ts")).CLIENT_SETTINGS, process.env),
    readFile: (path) => readFileSync(path, "utf8"),
    run: (verb) =>
      command(async () => {
        const exitCode = await verb();
        process.stdout.write("", () => process.exit(exitCode)); // graphs that were loaded may have left timers
      }),
  };
}

function clientPorts(): VerbPorts {
  const { version, engines, dependencies } = PACKAGE;
  const agentConfig = async () => configOf((await import("./agent/settings.ts")).AGENT_SETTINGS, process.env);
  const folderOf = async (dataDir: string | undefined): Promise<string> => {
    const config = await agentConfig();
    if (dataDir === undefined && config.databaseUri !== null)
      throw new Error("the data is in PostgreSQL (DATABASE_URI): back it up with pg_dump");
    return dataDir ?? config.dataDir;
  };
  return {
    mover: {
      backUp: async (dataDir, file) =>
        (await import("./storage/sqlite/backup.ts")).backUp(await folderOf(dataDir), file),
      exportTo: (dataDir, file) =>
        withStorage(dataDir, async (storage, versions) =>
          (await import("./storage/dump-file.ts")).exportFile(storage, versions, file),
        ),
      importFrom: (dataDir, file) =>
        withStorage(dataDir, async (storage, versions) =>
          (await import("./storage/dump-file.ts")).importFile(storage, versions, file),
        ),
    },
    template: { folder: join(ROOT, "src", "cli", "template"), version, versions: dependencies },
    validate: async (file) => {
      const { validateFile } = await import("./graphs/validate.ts");
      const path = file ?? (await agentConfig()).graphConfig;
      console.log = console.error; // what graphs print while they load is no part of the result
      return validateFile(path, process.env, addToEnvironment, await openLog({}, { logLevel: "error", logJson: null }));
    },
    around: {
      nodeVersion: process.version,
      nodeWanted: engines.node,
      agent: agentConfig,
      collector: async () => {
        const { httpPort: port, tracePort: tracesPort, endpoint } = (await collectorConfig()).config;
        return { port, tracesPort, endpoint };
      },
      graphs: async () => {
        const file = (await agentConfig()).graphConfig;
        if (!exists(file)) return null;
        const { graphs, remarks } = (await import("./graphs/config-file.ts")).readGraphsConfig(file, process.env);
        return { file, ids: graphs.map(({ graphId }) => graphId), remarks };
      },
    },
  };
}

/** Opens the database; a data folder only where no server has it. @throws {Error} FolderInUseError */
async function withStorage<T>(
  dataDir: string | undefined,
  work: (storage: OpenedStorage, versions: Versions) => Promise<T>,
): Promise<T> {
  const [{ AGENT_SETTINGS }, { libraryVersion }] = await Promise.all([
    import("./agent/settings.ts"),
    import("./graphs/library.ts"),
  ]);
  const folder = dataDir === undefined ? {} : { HOLDPOINT_DATA_DIR: dataDir, DATABASE_URI: undefined };
  const config = await configOf(AGENT_SETTINGS, { ...process.env, ...folder }); // a folder that is named is meant
  const library = libraryVersion(dirname(resolve(config.graphConfig)));
  const storage = await openStorage(config, library, await openLog(AGENT_SETTINGS, config));
  await storage.start();
  try {
    return await work(storage, { holdpoint: VERSION, library });
  } finally {
    await storage.stop();
  }
}

/** Variables of the environment win over those of the file. */
function addToEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
}

/** @throws {ConfigError} */
async function configOf<Table extends SettingsTable>(table: Table, env: Env): Promise<Config<Table>> {
  const { readConfig } = await import("./base/config.ts");
  return readConfig(env, table, (path) => readFileSync(path, "utf8"));
}

async function printConfigOf<Table extends SettingsTable>(table: Table, config: Config<Table>): Promise<void> {
  const { printConfig } = await import("./base/config.ts");
  process.stdout.write(`${printConfig(table, config)}\n`);
}

function collect(options: { readonly printConfig?: boolean }): Promise<void> {
  return command(async () => {
    const { table, config } = await collectorConfig();
    if (options.printConfig === true) return printConfigOf(table, config);
    const log = await openLog(table, config);
    const { runCollector } = await import("./collector/run.ts");
    const traces = config.endpoint === null ? await openTraceServer(config, log) : null;
    const collector = runCollector(localBackend(config, traces === null ? null : traces.address().port), log);
    await collector.start();
    const stop = async (): Promise<void> => {
      try {
        await collector.stop();
      } finally {
        await traces?.stop(); // last: what the collector sends at its end still finds its backend
      }
    };
    stopOnSignals(stop, log, () => (collector.lost() > 0 ? 1 : 0));
  });
}

function checkUploads(options: { readonly json?: boolean }): Promise<void> {
  return command(async () => {
    const { checkCollector } = await import("./collector/check.ts");
    const { config } = await collectorConfig();
    const steps = await checkCollector(localBackend(config, config.endpoint === null ? config.tracePort : null));
    const lines = steps.map(({ name, outcome, detail }) => `${outcome.padEnd(8)} ${name}: ${detail}`);
    process.stdout.write(`${options.json === true ? JSON.stringify(steps) : lines.join("\n")}\n`);
    if (steps.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;
  });
}

function replay(options: { readonly json?: boolean }): Promise<void> {
  return command(async () => {
    const { replayDeadLetters } = await import("./collector/replay.ts");
    const { config } = await collectorConfig();
    const result = await replayDeadLetters(localBackend(config, config.endpoint === null ? config.tracePort : null));
    const { sent, kept, otherKey, problems } = result;
    const lines = [`sent ${sent}, kept ${kept} (of another key: ${otherKey})`, ...problems];
    process.stdout.write(`${options.json === true ? JSON.stringify(result) : lines.join("\n")}\n`);
    if (kept > 0) process.exitCode = 1;
  });
}

async function collectorConfig() {
  const [{ collectorSettings }, { TRACE_SETTINGS }, { LOG_SETTINGS }] = await Promise.all([
    import("./collector/settings.ts"),
    import("./traces/settings.ts"),
    import("./base/log-settings.ts"),
  ]);
  const table = { ...collectorSettings, ...TRACE_SETTINGS, ...LOG_SETTINGS } as const;
  return { table, config: await configOf(table, process.env) };
}

/** The embedded tracing backend, started: the collector's backend is an address. */
async function openTraceServer(config: TraceConfig, log: Log): Promise<TraceServer> {
  const [{ createTraceServer }, { systemClock }] = await Promise.all([
    import("./traces/server.ts"),
    import("./base/clock.ts"),
  ]);
  const traces = createTraceServer(config, { clock: systemClock, log, version: VERSION });
  await traces.start();
  log.info("local_trace_store", { url: localUrl(traces.address().port), folder: config.traceDir });
  return traces;
}

const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

/** Without an endpoint, traces stay on this machine, and no sender needs a key. @param port of the store; null leaves the endpoint. */
function localBackend<C extends CollectorConfig>(config: C, port: number | null): C {
  return port === null ? config : { ...config, endpoint: localUrl(port), apiKey: config.apiKey ?? "local" };
}

function serve(options: ServeOptions): Promise<void> {
  return command(async () => {
    const table = await agentTable();
    const env = withOptions(process.env, options);
    const config = await configOf(table, env);
    if (options.printConfig === true) return printConfigOf(table, config);
    delete process.env["HOLDPOINT_API_KEYS"]; // what graphs can read, they can leak
    const log = await openLog(table, config);
    const graphs = await readGraphConfig(options.config ?? config.graphConfig, log);
    await checkAccess(config, graphs);
    const tracing = await openTracing(config, log, null);
    const beside = await besideOf(table, config, env, { traces: null, collector: null });
    const service = await start(config, graphs, log, tracing, beside);
    const stop = async (): Promise<void> => {
      await service.stop();
      await tracing?.stop(); // last: runs tell of their end
    };
    stopOnSignals(stop, log, () => 0);
    service.announce(); // who reads this may send a signal at once
  });
}

async function agentTable() {
  const [{ AGENT_SETTINGS }, { TELEMETRY_SETTINGS }] = await Promise.all([
    import("./agent/settings.ts"),
    import("./telemetry/settings.ts"),
  ]);
  return { ...AGENT_SETTINGS, ...TELEMETRY_SETTINGS } as const;
}

/** Null: runs are not traced, and nothing is loaded for it. @param own the collector of this process, for `dev` */
async function openTracing(config: TelemetryConfig, log: Log, own: string | null): Promise<(Tracing & Service) | null> {
  const { tracesAddress } = await import("./telemetry/settings.ts");
  const isElsewhere = config.otelEndpoint !== null || config.otelTracesEndpoint !== null;
  const address = tracesAddress(own === null || isElsewhere ? config : { ...config, otelTracesEndpoint: own });
  if (address === null) return null;
  const { createTracing } = await import("./telemetry/tracing.ts");
  const captureContent = config.otelCaptureContent ?? own !== null;
  log.info("tracing", { address, content: captureContent });
  const delayMs = own === null ? null : DEV_TRACE_DELAY_MS;
  return createTracing(config, { address, captureContent, version: VERSION, delayMs }, log);
}

/** Who tries things out looks at the trace right after the run. */
const DEV_TRACE_DELAY_MS = 100;

/** Everything in one process, for one person: agent server, collector, trace store, and a run that waits. */
function dev(options: DevOptions): Promise<void> {
  return command(async () => {
    const table = { ...(await collectorConfig()).table, ...(await agentTable()) } as const;
    const env = withOptions(process.env, options);
    const given = await configOf(table, env);
    const config = process.env["TRACES_DIR"] === undefined ? { ...given, traceDir: given.dataDir } : given;
    if (options.printConfig === true) return printConfigOf(table, config);
    delete process.env["HOLDPOINT_API_KEYS"]; // what graphs can read, they can leak
    const log = await openLog(table, config);
    const path = graphConfigPath(config, options);
    const graphs = await readGraphConfig(path, log);
    await checkAccess(config, graphs);
    const running: Service[] = [];
    const stop = async (): Promise<void> => {
      for (let part = running.pop(); part !== undefined; part = running.pop()) await part.stop();
    };
    try {
      const describe = (parts: DevParts): Promise<Beside> => besideOf(table, config, env, parts);
      const started = await startDev({
        config,
        graphs,
        path: resolve(path),
        log,
        anyPort: options.port === undefined,
        running,
        describe,
      });
      stopOnSignals(stop, log, () => 0);
      started.server.announce();
      await welcomeDev(started, config, options, path === SAMPLES);
    } catch (error) {
      await stop();
      throw error;
    }
  });
}

/** What else runs in the process, for the console. */
type DevParts = Pick<Beside, "traces" | "collector">;

async function besideOf<Table extends SettingsTable>(
  table: Table,
  config: Config<Table>,
  env: Env,
  parts: DevParts,
): Promise<Beside> {
  const { describeConfig } = await import("./base/config.ts");
  const settings = describeConfig(table, config, env);
  return { ...parts, settings, versions: { holdpoint: VERSION, node: process.versions.node } };
}

/** The collector of this process, asked at its own port like by anybody else. */
async function besideCollector(url: string, recent: RecentLog): Promise<BesideCollector> {
  const [{ sendSampleSpan }, { randomBytes }] = await Promise.all([
    import("./dev/sample-span.ts"),
    import("node:crypto"),
  ]);
  return {
    url,
    metrics: async () => (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) })).text(),
    problems: () => recent.recent(),
    sendSample: () => sendSampleSpan(url, Date.now(), (count) => randomBytes(count).toString("hex")),
  };
}

const METRICS_TIMEOUT_MS = 5000;
const PROBLEMS_KEPT = 50;

type DevConfig = AgentConfig & TelemetryConfig & CollectorConfig & TraceConfig;

interface StartedDev {
  readonly server: Running;
  readonly collectorUrl: string;
}

/** @param running what is started is put there in order, to be stopped in reverse. */
async function startDev(given: {
  readonly config: DevConfig;
  readonly graphs: GraphsConfig;
  /** The file that names them. */
  readonly path: string;
  readonly log: Log;
  readonly anyPort: boolean;
  readonly running: Service[];
  readonly describe: (parts: DevParts) => Promise<Beside>;
}): Promise<StartedDev> {
  const { config, graphs, log, running } = given;
  const [{ onFreePort }, { runCollector }, { createRecentLog }, { traceRoutes }] = await Promise.all([
    import("./dev/free-port.ts"),
    import("./collector/run.ts"),
    import("./base/recent-log.ts"),
    import("./traces/routes.ts"),
  ]);
  const recent = createRecentLog(log, PROBLEMS_KEPT, Date.now);
  const onPort = <T>(name: string, host: string, port: number, open: (port: number) => Promise<T>): Promise<T> =>
    process.env[name] === undefined ? onFreePort({ host, port }, open, log) : open(port); // what was asked for is meant
  let tracePort: number | null = null;
  let traces: DevParts["traces"] = null;
  let openTraces: readonly HttpRoute[] = [];
  if (config.endpoint === null) {
    const server = await onPort("TRACES_PORT", "127.0.0.1", config.tracePort, (port) =>
      openTraceServer({ ...config, tracePort: port }, log),
    );
    running.push(server);
    tracePort = server.address().port;
    traces = traceRoutes(server.store);
    const isOpen = config.apiKeys === null && graphs.auth === null;
    if (isOpen) openTraces = traces; // for who asks this port and no other
  }
  const collector = await onPort("HTTP_PORT", config.host, config.httpPort, async (httpPort) => {
    const flushIntervalMs =
      process.env["FLUSH_INTERVAL_MS"] === undefined ? DEV_TRACE_DELAY_MS : config.flushIntervalMs;
    const one = runCollector(localBackend({ ...config, httpPort, flushIntervalMs }, tracePort), recent);
    await one.start();
    return one;
  });
  running.push(collector);
  const collectorUrl = localUrl(collector.address().port);
  const tracing = await openTracing(config, log, `${collectorUrl}/v1/traces`);
  if (tracing !== null) running.push(tracing);
  const [{ createFreshModules }, { createHotReload }, { systemClock: clock }] = await Promise.all([
    import("./graphs/fresh-modules.ts"),
    import("./graphs/hot-reload.ts"),
    import("./base/clock.ts"),
  ]);
  const { readGraphsConfig } = await import("./graphs/config-file.ts");
  const modules = createFreshModules(realpathSync(graphs.folder)); // before the first graph is loaded
  const beside = await given.describe({ traces, collector: await besideCollector(collectorUrl, recent) });
  const open = (port: number): Promise<Running> => start({ ...config, port }, graphs, log, tracing, beside, openTraces);
  const server = await (given.anyPort ? onPort("PORT", config.host, config.port, open) : open(config.port));
  running.push(server);
  const { deployed, registerGraphs: onReloaded } = server;
  const readConfig = (): GraphsConfig => readGraphsConfig(given.path, process.env);
  const reload = createHotReload(given.path, graphs, { modules, graphs: deployed, readConfig, onReloaded, clock, log });
  await reload.start();
  running.push(reload);
  return { server, collectorUrl };
}

async function welcomeDev(
  { server, collectorUrl }: StartedDev,
  config: DevConfig,
  options: DevOptions,
  samples: boolean,
): Promise<void> {
  const [{ ensureSample }, { inboxLink, welcome }, { browserCommand, openBrowser }] = await Promise.all([
    import("./dev/sample.ts"),
    import("./dev/welcome.ts"),
    import("./dev/browser.ts"),
  ]);
  const { url } = server;
  const sample = samples ? await ensureSample(url) : null;
  const traces = config.endpoint ?? config.traceDir;
  process.stdout.write(welcome({ version: VERSION, url, collectorUrl, traces, graphs: server.graphs, sample }));
  const { env, platform, stdout } = process;
  const command = browserCommand({ wanted: options.browser, terminal: stdout.isTTY, env, platform });
  if (command !== null && sample?.kind === "waiting") openBrowser(inboxLink(url, sample.sample), command);
}

/** Options win over variables: they become variables of the same meaning, and are checked like them. */
function withOptions(env: NodeJS.ProcessEnv, options: ServeOptions): Record<string, string | undefined> {
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

async function readGraphConfig(path: string, log: Log): Promise<GraphsConfig> {
  const { readGraphsConfig } = await import("./graphs/config-file.ts");
  const graphs = readGraphsConfig(path, process.env);
  for (const remark of graphs.remarks) log.warning("config_key_ignored", { file: path, remark });
  return graphs;
}

/** @throws {ConfigError} when it is not clear who may come in. */
async function checkAccess(config: AgentConfig, graphs: GraphsConfig): Promise<void> {
  const [{ isLoopbackAddress }, { ConfigError }] = await Promise.all([
    import("./http/browser.ts"),
    import("./base/config.ts"),
  ]);
  if (config.role !== "all" && config.databaseUri === null) {
    const reason = "shares the work among processes on DATABASE_URI, which is not set";
    throw new ConfigError([{ name: "HOLDPOINT_ROLE", reason }]);
  }
  if (config.apiKeys !== null && graphs.auth !== null) {
    const reason = "is set, and the configuration file has auth.path: callers authenticate in one way or the other";
    throw new ConfigError([{ name: "HOLDPOINT_API_KEYS", reason }]);
  }
  if (isLoopbackAddress(config.host) || config.unsafeListen || config.apiKeys !== null || graphs.auth !== null) return;
  const reason = `${config.host} can be reached from other machines and nobody has to authenticate; set HOLDPOINT_API_KEYS, name handlers in auth.path of the configuration file, or set HOLDPOINT_ALLOW_UNAUTHENTICATED=true if that is meant`;
  throw new ConfigError([{ name: "HOST", reason }]);
}

/** Null when nobody has to authenticate. */
async function openAccess(config: AgentConfig, graphs: GraphsConfig, log: Log): Promise<Access | null> {
  if (config.apiKeys !== null) {
    for (const { name, weak } of config.apiKeys) if (weak) log.warning("api_key_short", { name });
    const { createKeyAccess } = await import("./agent/api-keys.ts");
    return createKeyAccess(config.apiKeys);
  }
  if (graphs.auth === null) return null;
  const { loadAuth } = await import("./graphs/auth.ts");
  return loadAuth(graphs.auth, graphs.folder, log);
}

const SAMPLES = join(ROOT, "examples", "langgraph.json");

/** The user's own file, wherever it is named; the samples where there is none. */
function graphConfigPath(config: AgentConfig, options: ServeOptions): string {
  const path = options.config ?? config.graphConfig;
  const named = options.config !== undefined || process.env["LANGGRAPH_CONFIG"] !== undefined;
  return !named && !exists(path) ? SAMPLES : path;
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

async function openLog<Table extends SettingsTable>(
  table: Table,
  config: Config<Table> & Pick<AgentConfig, "logLevel" | "logJson">,
): Promise<Log> {
  const [{ createLog }, { secretsOf }] = await Promise.all([import("./base/log.ts"), import("./base/config.ts")]);
  return createLog({
    level: config.logLevel,
    json: config.logJson ?? !process.stderr.isTTY,
    secrets: secretsOf(table, config),
    now: Date.now,
    write: (line) => process.stderr.write(line),
  });
}

/** @throws {Error} when the embedding function does not load. */
async function openStore(
  config: AgentConfig,
  { folder, store }: GraphsConfig,
  storage: Storage,
  log: Log,
): Promise<Store & Service> {
  const [{ createStore }, { systemClock: clock }] = await Promise.all([
    import("./agent/store.ts"),
    import("./base/clock.ts"),
  ]);
  const { index, ...times } = store;
  const embedder = index === null ? null : await (await import("./graphs/embed.ts")).loadEmbedder(index, folder);
  const options = { ...times, itemBytesMax: config.storeItemBytesMax, fields: index?.fields ?? [] };
  return createStore(options, { storage, clock, log, embedder });
}

/** Pages that people look at. */
async function openPages(config: AgentConfig, log: Log): Promise<readonly HttpRoute[]> {
  if (!config.console) return [];
  const [{ createPageBuild }, { pageRoute }] = await Promise.all([
    import("./http/page-build.ts"),
    import("./http/page-files.ts"),
  ]);
  const folder = createPageBuild(
    {
      sources: join(ROOT, "console"),
      besides: [join(ROOT, "package-lock.json")],
      shipped: join(ROOT, "dist", "console"),
      cache: join(ROOT, "node_modules", ".cache", "holdpoint-console"),
      builder: join(ROOT, "console", "build.ts"),
    },
    log,
  );
  return [pageRoute("/console", folder)];
}

/** The page of the API, which reads /openapi.json: where that is not served, it is not either. */
async function openDocs({ disabled }: Surface): Promise<readonly HttpRoute[]> {
  if (disabled.includes("meta")) return [];
  const { pageRoute } = await import("./http/page-files.ts");
  return [pageRoute("/docs", () => Promise.resolve(join(ROOT, "src", "api", "docs-page")))];
}

interface Running extends Service {
  /** With its prefix. */
  readonly url: string;
  readonly graphs: readonly string[];
  readonly deployed: DeployedGraphs;
  readonly registerGraphs: () => Promise<void>;
  readonly announce: () => void;
}

/** What is served, and where: settings win over the file. */
async function readSurface(config: AgentConfig, { http, folder }: GraphsConfig, log: Log): Promise<Surface> {
  let app: LoadedApp | null = null;
  if (http.app !== null) {
    const { loadCustomApp } = await import("./graphs/custom-app.ts");
    app = await loadCustomApp(http.app, folder);
    if (app.hasMiddleware)
      log.warning("custom_middleware", { remark: "it runs for routes of the app, not for others" });
  }
  return { ...http, app, mountPrefix: config.mountPrefix ?? http.mountPrefix };
}

type OpenedStorage = Storage & Service & Dumpable & { readonly boundUnits: () => number };

/** PostgreSQL when there is one, else the data folder. */
async function openStorage(config: AgentConfig, library: string, log: Log): Promise<OpenedStorage> {
  const versions = { holdpoint: VERSION, library };
  if (config.databaseUri !== null) {
    const { createPostgresStorage } = await import("./storage/postgres/storage.ts");
    return createPostgresStorage({ uri: config.databaseUri, poolMax: config.postgresPoolMax, versions, log });
  }
  const { createSqliteStorage } = await import("./storage/sqlite/storage.ts");
  const owner = `process ${process.pid} (holdpoint, started ${new Date().toISOString()})`;
  return createSqliteStorage({ folder: config.dataDir, owner, versions, log });
}

/** What runs and their readers need beside storage. @throws {ConfigError} when there is nothing to share with others. */
async function openEngine(config: AgentConfig, storage: Storage, log: Log): Promise<Engine> {
  const { systemClock: clock } = await import("./base/clock.ts");
  const ports = { storage, clock, log };
  if (config.databaseUri === null) {
    const { createLocalEngine } = await import("./storage/local-engine.ts");
    return createLocalEngine(ports);
  }
  const { createPostgresEngine } = await import("./storage/postgres/engine.ts");
  const [isWorker, stuckMs] = [config.role !== "api", config.jobTimeoutSecs * 1000];
  return createPostgresEngine({ uri: config.databaseUri, isWorker, stuckMs }, ports);
}

function migrate(options: { readonly config?: string }): Promise<void> {
  return command(async () => {
    const [{ AGENT_SETTINGS }, { loadLibrary }] = await Promise.all([
      import("./agent/settings.ts"),
      import("./graphs/library.ts"),
    ]);
    const config = await configOf(AGENT_SETTINGS, process.env);
    if (config.databaseUri === null) {
      const { ConfigError } = await import("./base/config.ts");
      throw new ConfigError([
        { name: "DATABASE_URI", reason: "is not set; an embedded database is migrated at start" },
      ]);
    }
    const { migrateDatabase } = await import("./storage/postgres/migrate.ts");
    const { version: library } = await loadLibrary(dirname(resolve(options.config ?? config.graphConfig)));
    const { from, to } = await migrateDatabase(config.databaseUri, { holdpoint: VERSION, library });
    process.stdout.write(
      from === to ? `The schema is at ${to} already.\n` : `The schema went from ${from} to ${to}.\n`,
    );
  });
}

async function start(
  config: AgentConfig,
  graphsConfig: GraphsConfig,
  log: Log,
  tracing: Tracing | null,
  beside: Beside,
  besides: readonly HttpRoute[] = [],
): Promise<Running> {
  addToEnvironment(graphsConfig.env);

  const [{ loadLibrary }, { createAgentServer }, { createGraphs }] = await Promise.all([
    import("./graphs/library.ts"),
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
  const storage = await openStorage(config, library.version, log);
  await storage.start();
  try {
    const store = await openStore(config, graphsConfig, storage, log);
    const { createTypeReader } = await import("./graphs/type-reader.ts");
    const types = createTypeReader(graphsConfig, config.schemaTimeoutMs, log);
    const graphs = await createGraphs(graphsConfig, library, storage, store, types, tracing);
    const surface = await readSurface(config, graphsConfig, log);
    const server = createAgentServer(config, {
      storage,
      store,
      graphs,
      access: await openAccess(config, graphsConfig, log),
      surface,
      engine: await openEngine(config, storage, log),
      webhooks: graphsConfig.webhooks,
      pages: [...(await openPages(config, log)), ...(await openDocs(surface)), ...besides],
      beside: config.console ? { ...beside, versions: { ...beside.versions, langgraph: library.version } } : null,
      threadTtl: graphsConfig.checkpointer,
      versions,
      log,
      clock: systemClock,
      newId: createIdSource(Date.now, await storage.transaction((tx) => tx.newestRunId())),
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
    const url = urlOf(server.address());
    const names = graphs.list().map(({ graphId }) => graphId);
    const kept = config.databaseUri === null ? { data_dir: config.dataDir } : { storage: "postgres" };
    const announce = (): void => log.info("listening", { url, graphs: names, ...kept, version: VERSION });
    const below = `${url}${surface.mountPrefix}`;
    return {
      name: "holdpoint",
      start: () => Promise.resolve(),
      stop,
      url: below,
      graphs: names,
      deployed: graphs,
      registerGraphs: server.registerGraphs,
      announce,
    };
  } catch (error) {
    await storage.stop();
    throw error;
  }
}

function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The first signal drains, a second one ends at once. */
function stopOnSignals(stop: () => Promise<void>, log: Log, exitCode: () => number): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { signal });
    stop().then(
      () => {
        log.info("stopped");
        process.exit(exitCode());
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
