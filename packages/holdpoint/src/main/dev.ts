// Dev: `holdpoint dev`: agent server, collector and trace store in one process, for one person, with a paused sample
// run.
import { join, resolve } from "node:path";
import { graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import { stopPart, type Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { CliError, EXIT } from "../cli/errors/cli-error.ts";
import { browserCommand, openBrowser } from "../dev/browser.ts";
import { findPending } from "../dev/pending.ts";
import { inboxLink, welcome as welcomeText } from "../dev/welcome.ts";
import { collectorConfig } from "./collect.ts";
import { type DevConfig, type StartedParts, startParts } from "./dev-parts.ts";
import { explainInUse } from "./in-use.ts";
import {
  readTableConfig,
  isReadable,
  openLog,
  printTableConfig,
  readLimits,
  warnOfUnknown,
  type Host,
} from "./host.ts";
import type { LongRunningProcess } from "@holdpoint/base/log/long-running-process.ts";
import {
  agentTable,
  openLocalServices,
  checkAccess,
  readGraphConfig,
  STOP_SPARE_MS,
  withOptions,
  type ServeOptions,
} from "./serve.ts";
import { DEV_TRACE_DELAY_MS } from "./tracing.ts";

export interface DevOptions extends ServeOptions {
  readonly browser: boolean;
  /** Allow the hosted Studio. */
  readonly studio?: boolean;
  /** URLs of other pages to allow. */
  readonly origin?: readonly string[];
}

/** @returns null with --print-config @throws {ConfigError} */
export async function dev(host: Host, options: DevOptions): Promise<LongRunningProcess | null> {
  const origins = chooseOrigins(options);
  const table = { ...(await collectorConfig(host)).table, ...(await agentTable()) } as const;
  const env = withOptions(host.env, options);
  const given = { ...(await readLimits(host)), ...(await readTableConfig(table, env)) };
  const config: DevConfig = {
    ...given,
    flushIntervalMs: host.env["FLUSH_INTERVAL_MS"] === undefined ? DEV_TRACE_DELAY_MS : given.flushIntervalMs,
  };
  if (options.printConfig === true) {
    await printTableConfig(host, table, config);
    return null;
  }
  const loud = await openLog(host, table, config);
  const isQuiet = host.isTerminal.err && host.env["LOG_LEVEL"] === undefined;
  let welcomed = false;
  const log = isQuiet ? quietLog(loud, () => welcomed) : loud; // the welcome says what has started
  await warnOfUnknown(host, log);
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
      partsLog: isQuiet ? quietLog(loud, () => false) : loud,
      anyPort: options.port === undefined,
      origins,
      running,
      describe: (parts, ports) =>
        openLocalServices(host, { table, config: { ...config, ...ports }, env, graphs, ...parts }),
    });
    const announce = async (): Promise<void> => {
      started.server.announce();
      await welcome(host, started, { config, options, samples: path === findSamples(host) });
      welcomed = true;
    };
    const stopMs = config.shutdownGraceSecs * 1000 + config.shutdownTimeoutMs + STOP_SPARE_MS;
    return { log, stop, stopMs, exitCode: () => 0, announce };
  } catch (error) {
    await stop();
    throw explainInUse(error, config.dataDir);
  }
}

/** Keeps information back while a person reads the welcome. Warnings and errors always pass. */
function quietLog(log: Log, speaks: () => boolean): Log {
  return {
    ...log,
    debug: (event, fields) => void (speaks() && log.debug(event, fields)),
    info: (event, fields) => void (speaks() && log.info(event, fields)),
  };
}

/** Prints the addresses and what waits, and opens the sample if there is a browser. */
async function welcome(
  { env, platform, isTerminal, out, product, program }: Host,
  { server, collectorUrl, moved }: StartedParts,
  dev: { readonly config: DevConfig; readonly options: DevOptions; readonly samples: boolean },
): Promise<void> {
  const { config, options, samples } = dev;
  const { url, failed } = server;
  const pending = await findPending(url, samples);
  const isFound = options.dataDir === undefined && env["HOLDPOINT_DATA_DIR"] === undefined; // by a command in this folder
  out(
    welcomeText({
      version: product.version,
      url,
      console: config.console,
      collectorUrl,
      traces: config.endpoint ?? config.dataDir,
      graphs: server.deployed.list().map(({ graphId, fingerprint }) => {
        return { graphId, takesMessages: "messages" in (fingerprint.channels[""] ?? {}) };
      }),
      failed,
      moved,
      pages: [...(options.studio === true ? [`${STUDIO}/studio/?baseUrl=${url}`] : []), ...(options.origin ?? [])],
      pending,
      command: (words) => `${program} ${words}${isFound ? "" : ` --url ${url}`}`,
    }),
  );
  const command = browserCommand({ wanted: options.browser, terminal: isTerminal.out, env, platform });
  if (command !== null && samples && pending.kind === "waiting") openBrowser(inboxLink(url, pending.item), command);
}

const STUDIO = "https://smith.langchain.com";

/** Third-party pages that this start allows to call the server. @throws {CliError} if one is not the URL of a page */
function chooseOrigins({ studio, origin = [] }: DevOptions): readonly string[] {
  return [...(studio === true ? [STUDIO] : []), ...origin.map(parseOrigin)];
}

/** A full name: no wildcard, no pattern, http or https. */
function parseOrigin(page: string): string {
  const url = URL.canParse(page) ? new URL(page) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && !url.host.includes("*")) return url.origin;
  throw new CliError("--origin is not the address of a page, such as https://example.com", EXIT.usage);
}

const findSamples = ({ product }: Host): string => join(product.root, "examples", "langgraph.json");

/** The user's own file, wherever it is; the samples if there is none. */
function graphConfigPath(host: Host, config: AgentConfig, options: ServeOptions): string {
  const file = graphConfigFile(config.graphConfig);
  const path = options.config ?? file;
  const named = options.config !== undefined || host.env["LANGGRAPH_CONFIG"] === file;
  return !named && !isReadable(path) ? findSamples(host) : path;
}
