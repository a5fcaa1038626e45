// Open Holdpoint: the agent server inside another program, put together for createHoldpoint.
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { stopPart } from "@holdpoint/base/lifecycle.ts";
import type { Limits } from "../main/host.ts";

export interface HoldpointOptions {
  /** Graphs by id: compiled or not, or a function that makes one. This or `config`. */
  readonly graphs?: Readonly<Record<string, object>>;
  /** Path of a langgraph.json. This or `graphs`. */
  readonly config?: string;
  /** Folder of the embedded database. One process at a time may use it. Default: `./.holdpoint`. */
  readonly dataDir?: string;
  /** PostgreSQL as postgres://user:password@host/database, instead of the folder. */
  readonly databaseUri?: string;
  /** The path in front of all addresses, as `fetch` and `listener` see them: `/agents`. */
  readonly basePath?: string;
  /** With `graphs`: the folder that LangGraph is looked up from. Default: the working directory. */
  readonly folder?: string;
  /** Settings of docs/reference/configuration.md by name: `{ N_JOBS_PER_WORKER: 4 }`. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Takes the lines of the log, JSON each. Default: warnings and errors on stderr. */
  readonly log?: (line: string) => void;
}

export interface Holdpoint {
  /** A web request in, a web response out: for Hono, Next, the SDK's `callerOptions.fetch`, and tests. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** For Express and `http.createServer`. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  readonly graphs: readonly string[];
  /** Runs in progress get BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS to end; the next start resumes the others. */
  readonly close: () => Promise<void>;
}

/** @throws {Error} with the reason; nothing is left open then. @param limits of tests */
export async function openHoldpoint(
  options: HoldpointOptions,
  limits: Readonly<Record<string, number>> = {}, // the declarations of the package name no type of another package
): Promise<Holdpoint> {
  try {
    return await open(options, limits);
  } catch (error) {
    throw await withOptionNames(error);
  }
}

async function open(options: HoldpointOptions, limits: Partial<Limits>): Promise<Holdpoint> {
  const [
    { startAgentServer },
    { agentTable, openLocalServices, checkRole },
    { checkAuthentication },
    { readTableConfig, openLog, readLimits, warnOfUnknown },
    { openTracing },
  ] = await Promise.all([
    import("../main/agent-server.ts"),
    import("../main/serve.ts"),
    import("../main/access.ts"),
    import("../main/host.ts"),
    import("../main/tracing.ts"),
  ]);
  const host = { ...(await buildHost(options)), limits };
  const table = await agentTable();
  const config = { ...(await readLimits(host)), ...(await readTableConfig(table, host.env)) };
  const log = await openLog(host, table, config);
  await warnOfUnknown(host, log);
  const graphs = await readGraphs(options);
  await checkRole(config);
  await checkAuthentication(config, graphs, true);
  for (const remark of graphs.remarks) log.warning("config_key_ignored", { remark });
  const described = { table, config, env: host.env, graphs, traces: null, collector: null };
  const localServices = await openLocalServices(host, described);
  const tracing = await openTracing(host, config, log, null);
  const server = await startAgentServer(host, {
    config,
    graphs,
    log,
    tracing,
    localServices,
    routes: [],
    origins: [],
    embedded: true,
  });
  const listener = server.listener ?? unreachable();
  const { createLoopback } = await import("@holdpoint/base/http/server/loopback-client.ts");
  let closing: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    try {
      await stopPart(server);
    } finally {
      if (tracing !== null) await stopPart(tracing); // last: runs report their end
    }
  };
  return {
    fetch: createLoopback(listener, { keepsHost: true }),
    listener: mounted(listener, server.url),
    graphs: server.graphs,
    close: () => (closing ??= stop()),
  };
}

/** Settings that options of their own set. */
const OPTIONS: Readonly<Record<string, string>> = {
  HOLDPOINT_DATA_DIR: "dataDir",
  DATABASE_URI: "databaseUri",
  MOUNT_PREFIX: "basePath",
};

/** The program sets options, not variables. */
async function withOptionNames(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || error.name === "GraphLoadError") return error; // its words are the graph's own
  const table = await (await import("../main/serve.ts")).agentTable();
  const names = new Map(
    Object.values(table).flatMap(({ name, aliases }) =>
      [name, ...aliases].map((one) => [one, OPTIONS[name] ?? `settings.${name}`] as const),
    ),
  );
  error.message = error.message.replace(/(?<![\w.])[A-Z][A-Z0-9_]+(?!\w)/g, (word) => names.get(word) ?? word);
  return error;
}

async function buildHost(options: HoldpointOptions) {
  const { readProduct } = await import("../main/product.ts");
  const given = Object.entries(options.settings ?? {}).map(([name, value]) => [name, String(value)] as const);
  return {
    env: {
      LOG_JSON: "true",
      ...(options.log === undefined ? { LOG_LEVEL: "warning" } : {}),
      ...Object.fromEntries(given),
      ...(options.dataDir === undefined ? {} : { HOLDPOINT_DATA_DIR: options.dataDir }),
      ...(options.databaseUri === undefined ? {} : { DATABASE_URI: options.databaseUri }),
      ...(options.basePath === undefined || options.basePath === "" ? {} : { MOUNT_PREFIX: options.basePath }),
    },
    environment: process.env,
    processId: process.pid,
    nodeVersion: process.versions.node,
    platform: process.platform,
    isTerminal: { out: false, err: false },
    out: () => undefined,
    err: options.log ?? ((line: string) => void process.stderr.write(line)),
    product: readProduct(),
    program: "holdpoint",
  };
}

async function readGraphs({ graphs, config, folder = process.cwd() }: HoldpointOptions) {
  const { givenGraphsConfig, readGraphsConfig } = await import("@holdpoint/server/graphs/config/langgraph-json.ts");
  if (config !== undefined && graphs === undefined) return readGraphsConfig(config, process.env);
  if (graphs !== undefined && config === undefined && Object.keys(graphs).length > 0)
    return givenGraphsConfig(graphs, resolve(folder));
  throw new TypeError(
    `createHoldpoint takes either graphs, as { agent: graph }, or config, as ${join(".", "langgraph.json")}`,
  );
}

/** A framework that mounts handlers takes the mount path off the URL, and keeps the whole in `originalUrl`. */
function mounted(listener: Holdpoint["listener"], prefix: string): Holdpoint["listener"] {
  if (prefix === "") return listener;
  return (request, response) => {
    const { originalUrl } = request as { readonly originalUrl?: unknown };
    if (typeof originalUrl === "string") request.url = originalUrl;
    listener(request, response);
  };
}

function unreachable(): never {
  throw new Error("an embedded server has a listener");
}
