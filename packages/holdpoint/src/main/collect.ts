// Collect: `holdpoint collector` and its tools, each with the backend that the configuration names or with the local
// one.
import { localBackend, localUrl } from "@holdpoint/collector/service/local-backend.ts";
import type { CollectorConfig } from "@holdpoint/collector/service/settings.ts";
import type { TraceConfig } from "@holdpoint/collector/traces/settings.ts";
import { openSql } from "./open-trace-sql.ts";
import { explainInUse } from "./in-use.ts";
import {
  readTableConfig,
  findLocalServer,
  isReadable,
  openLog,
  printTableConfig,
  readLimits,
  warnOfUnknown,
  type Host,
} from "./host.ts";
import type { LongRunningProcess } from "@holdpoint/base/log/long-running-process.ts";

/** @returns null with --print-config */
export async function collect(
  host: Host,
  options: { readonly printConfig?: boolean },
): Promise<LongRunningProcess | null> {
  const { table, config } = await collectorConfig(host);
  if (options.printConfig === true) {
    await printTableConfig(host, table, config);
    return null;
  }
  const log = await openLog(host, table, config);
  await warnOfUnknown(host, log);
  const { startCollectorProcess } = await import("@holdpoint/collector/service/collector-process.ts");
  try {
    return await startCollectorProcess(config, { log, version: host.product.version, openSql });
  } catch (error) {
    throw explainInUse(error, config.dataDir);
  }
}

/** @returns true if every step succeeded */
export async function checkUploads(host: Host, options: { readonly json?: boolean }): Promise<boolean> {
  const { checkCollector } = await import("@holdpoint/collector/commands/check.ts");
  const { config } = await collectorConfig(host);
  const steps = await checkCollector(await reachedBackend(host, config), { isLocal: config.endpoint === null });
  const lines = steps.map(({ name, outcome, detail }) => `${outcome.padEnd(8)} ${name}: ${detail}`);
  host.out(`${options.json === true ? JSON.stringify(steps) : lines.join("\n")}\n`);
  return steps.every(({ outcome }) => outcome !== "failed");
}

/** @returns true if no dead letter is left */
export async function replay(host: Host, options: { readonly json?: boolean }): Promise<boolean> {
  const { replayDeadLetters } = await import("@holdpoint/collector/commands/replay.ts");
  const { config } = await collectorConfig(host);
  const result = await replayDeadLetters(await reachedBackend(host, config));
  const { sent, kept, otherKey, problems } = result;
  const lines = [`sent ${sent}, kept ${kept} (of another key: ${otherKey})`, ...problems];
  host.out(`${options.json === true ? JSON.stringify(result) : lines.join("\n")}\n`);
  return kept === 0;
}

/**
 * The named backend, or the trace store of this project's process: never another one that listens on a usual port.
 * @throws {CliError} without either
 */
async function reachedBackend<C extends CollectorConfig & TraceConfig>(host: Host, config: C): Promise<C> {
  if (config.endpoint !== null) return config;
  const byPort = (host.env["TRACES_PORT"] ?? "") === "" ? null : localUrl(config.tracePort);
  const found = (await findLocalServer(host))?.tracesUrl ?? byPort;
  if (found !== null) return localBackend(config, found);
  const { CliError, EXIT } = await import("../cli/errors/cli-error.ts");
  throw new CliError(
    `TRACING_ENDPOINT is not set, and no trace store runs in this project: start one with ${host.program} dev, or name one with TRACES_PORT`,
    EXIT.unavailable,
  );
}

/** @throws {CliError} for an argument that is no file */
async function checkFile(path: string): Promise<void> {
  if (isReadable(path)) return;
  const { CliError, EXIT } = await import("../cli/errors/cli-error.ts");
  throw new CliError(`cannot read ${path}`, EXIT.usage);
}

/** Prints where each attribute of the spans in a file goes. */
export async function explain(host: Host, path: string, options: { readonly json?: boolean }): Promise<void> {
  const [{ explainFile, explainedText }, { printable }] = await Promise.all([
    import("@holdpoint/collector/commands/explain.ts"),
    import("../cli/output/sanitize.ts"),
  ]);
  await checkFile(path);
  const { config } = await collectorConfig(host);
  const spans = await explainFile(path, config);
  host.out(`${options.json === true ? JSON.stringify(spans) : printable(explainedText(spans))}\n`);
}

/** Checks RULES_FILE, or prints the JSON Schema of its format. */
export async function rules(
  host: Host,
  file: string | undefined,
  options: { readonly schema?: boolean },
): Promise<void> {
  const { readRules, rulesJsonSchema, rulesText } = await import("@holdpoint/collector/service/rules-file.ts");
  if (options.schema === true) return host.out(`${JSON.stringify(rulesJsonSchema(), null, 2)}\n`);
  if (file !== undefined) await checkFile(file);
  const { config } = await collectorConfig(host);
  const rulesFile = file ?? config.rulesFile;
  host.out(`${rulesFile ?? "RULES_FILE is not set"}: ${rulesText(readRules({ ...config, rulesFile }))}\n`);
}

/** Prints a redacted file, or with --dry-run what the rules find in it. */
export async function redact(
  host: Host,
  path: string,
  options: { readonly dryRun?: boolean; readonly json?: boolean; readonly signal?: string },
): Promise<void> {
  const [{ findingsText, redactFile }, { printable }] = await Promise.all([
    import("@holdpoint/collector/commands/redact.ts"),
    import("../cli/output/sanitize.ts"),
  ]);
  await checkFile(path);
  const { config } = await collectorConfig(host);
  const signal = options.signal === "logs" || options.signal === "metrics" ? options.signal : "traces";
  const { body, findings } = await redactFile(path, config, signal);
  if (options.dryRun !== true) host.out(body.toString());
  else host.out(`${options.json === true ? JSON.stringify(findings) : printable(findingsText(findings))}\n`);
}

export async function collectorConfig(host: Host) {
  const [{ collectorSettings }, { TRACE_SETTINGS }, { LOG_SETTINGS }] = await Promise.all([
    import("@holdpoint/collector/service/settings.ts"),
    import("@holdpoint/collector/traces/settings.ts"),
    import("@holdpoint/base/config/log-settings.ts"),
  ]);
  const table = { ...collectorSettings, ...TRACE_SETTINGS, ...LOG_SETTINGS } as const;
  return { table, config: { ...(await readLimits(host)), ...(await readTableConfig(table, host.env)) } };
}
