// Host: the machine and the package, as main.ts reads them for the rest of the code.
import { readFileSync } from "node:fs";
import type { AgentLimits } from "@holdpoint/server/server/limits.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import { readLocalServer, writeLocalServer, type LocalServer } from "../cli/client/local-server.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Config, Env, SettingsTable } from "@holdpoint/base/config/config.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { CollectorLimits } from "@holdpoint/collector/service/limits.ts";

export interface Host {
  /** The variables at the start, for this product's settings. */
  readonly env: Env;
  /**
   * The process's own variables, for graphs. The server removes secrets before a graph loads (graph-environment.ts).
   */
  readonly environment: NodeJS.ProcessEnv;
  readonly processId: number;
  readonly nodeVersion: string;
  readonly platform: NodeJS.Platform;
  readonly isTerminal: { readonly out: boolean; readonly err: boolean };
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly product: Product;
  /** How a shell starts this program: `npx holdpoint`. */
  readonly program: string;
  /** Other limits than those of the product, for tests. */
  readonly limits?: Partial<Limits>;
}

export type Limits = AgentLimits & CollectorLimits;

/** Content and location of package.json. */
export interface Product {
  readonly root: string;
  readonly version: string;
  readonly nodeRequired: string;
  /** Path of the file of a package that is not in the registry. */
  readonly packedAt?: string | undefined;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** @throws {ConfigError} */
export async function readTableConfig<Table extends SettingsTable>(table: Table, env: Env): Promise<Config<Table>> {
  const { readConfig } = await import("@holdpoint/base/config/config.ts");
  return readConfig(env, table, (path) => readFileSync(path, "utf8"));
}

/** The limits that no setting sets. */
export async function readLimits({ limits }: Host): Promise<Limits> {
  const [{ AGENT_LIMITS }, { COLLECTOR_LIMITS }] = await Promise.all([
    import("@holdpoint/server/server/limits.ts"),
    import("@holdpoint/collector/service/limits.ts"),
  ]);
  return { ...AGENT_LIMITS, ...COLLECTOR_LIMITS, ...limits };
}

export async function printTableConfig<Table extends SettingsTable>(
  host: Host,
  table: Table,
  config: Config<Table>,
): Promise<void> {
  const { printConfig } = await import("@holdpoint/base/config/config.ts");
  host.out(`${printConfig(table, config)}\n`);
}

export async function openLog<Table extends SettingsTable>(
  host: Host,
  table: Table,
  config: Config<Table> & Pick<AgentConfig, "logLevel" | "logJson">,
): Promise<Log> {
  const [{ createLog }, { listSecrets }] = await Promise.all([
    import("@holdpoint/base/log/log.ts"),
    import("@holdpoint/base/config/config.ts"),
  ]);
  return createLog({
    level: config.logLevel,
    json: config.logJson ?? !host.isTerminal.err,
    secrets: listSecrets(table, config),
    now: Date.now,
    write: host.err,
  });
}

/** Names the running server to the commands of its project, until it stops. */
export function announced(dataDir: string, server: LocalServer): Service {
  const remove = writeLocalServer(dataDir, server);
  return { name: "server.json", start: () => Promise.resolve(), stop: async () => remove(), stopMs: null };
}

/** The process that serves the data folder of these settings. */
export async function findLocalServer({ env }: Host): Promise<LocalServer | null> {
  const { AGENT_SETTINGS } = await import("@holdpoint/server/server/settings.ts");
  return readLocalServer((await readTableConfig({ dataDir: AGENT_SETTINGS.dataDir }, env)).dataDir);
}

export function isReadable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Every setting of the product, for any part: a machine has one environment for all of them. */
export async function productTables(): Promise<readonly SettingsTable[]> {
  const [agent, telemetry, collector, traces, client] = await Promise.all([
    import("@holdpoint/server/server/settings.ts"),
    import("@holdpoint/server/telemetry/settings.ts"),
    import("@holdpoint/collector/service/settings.ts"),
    import("@holdpoint/collector/traces/settings.ts"),
    import("../cli/client/settings.ts"),
  ]);
  return [
    agent.AGENT_SETTINGS,
    telemetry.TELEMETRY_SETTINGS,
    collector.collectorSettings,
    traces.TRACE_SETTINGS,
    client.CLIENT_SETTINGS,
  ];
}

/** The tables, and the secrets of ours that libraries read, for graph-environment.ts. */
export async function productSecrets(): Promise<{
  readonly tables: readonly SettingsTable[];
  readonly secrets: readonly string[];
}> {
  const { TELEMETRY_SECRETS } = await import("@holdpoint/server/telemetry/settings.ts");
  return { tables: await productTables(), secrets: TELEMETRY_SECRETS };
}

/** Warns of each variable with our prefix that no part reads. */
export async function warnOfUnknown({ env }: Host, log: Log): Promise<void> {
  const { warnOfUnknown: warn } = await import("@holdpoint/base/config/unknown-settings.ts");
  warn(env, await productTables(), log);
}
