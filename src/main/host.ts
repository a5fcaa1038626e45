// Host: what a process has from the machine and from its package. main.ts reads them; nothing below it does.
import { readFileSync } from "node:fs";
import type { AgentConfig } from "../agent/server/settings.ts";
import { writeLocalServer, type LocalServer } from "../cli/client/local-server.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Config, Env, SettingsTable } from "../base/config/config.ts";
import type { Log } from "../base/log/log.ts";

export interface Host {
  /** The variables as they were at the start: what this product reads. */
  readonly env: Env;
  /** The process's own: what graphs see. Secrets are taken out before one is loaded (graph-environment.ts). */
  readonly environment: NodeJS.ProcessEnv;
  readonly processId: number;
  readonly nodeVersion: string;
  readonly platform: NodeJS.Platform;
  readonly isTerminal: { readonly out: boolean; readonly err: boolean };
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly product: Product;
}

/** What package.json says, and where it is. */
export interface Product {
  readonly root: string;
  readonly version: string;
  readonly nodeWanted: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** What goes on until it is told to stop. */
export interface LastingProcess {
  readonly log: Log;
  readonly stop: () => Promise<void>;
  /** Longest time that stop() may take, whatever hangs: then the process ends all the same. */
  readonly stopMs: number;
  /** How it went, after stop(). */
  readonly exitCode: () => number;
  /** Says that it is ready. Whoever reads this may send a signal at once. */
  readonly announce: () => Promise<void>;
}

/** @throws {ConfigError} */
export async function configOf<Table extends SettingsTable>(table: Table, env: Env): Promise<Config<Table>> {
  const { readConfig } = await import("../base/config/config.ts");
  return readConfig(env, table, (path) => readFileSync(path, "utf8"));
}

export async function printConfigOf<Table extends SettingsTable>(
  host: Host,
  table: Table,
  config: Config<Table>,
): Promise<void> {
  const { printConfig } = await import("../base/config/config.ts");
  host.out(`${printConfig(table, config)}\n`);
}

export async function openLog<Table extends SettingsTable>(
  host: Host,
  table: Table,
  config: Config<Table> & Pick<AgentConfig, "logLevel" | "logJson">,
): Promise<Log> {
  const [{ createLog }, { secretsOf }] = await Promise.all([
    import("../base/log/log.ts"),
    import("../base/config/config.ts"),
  ]);
  return createLog({
    level: config.logLevel,
    json: config.logJson ?? !host.isTerminal.err,
    secrets: secretsOf(table, config),
    now: Date.now,
    write: host.err,
  });
}

/** Names the running server to the commands of its project, until it stops. */
export function announced(dataDir: string, server: LocalServer): Service {
  const remove = writeLocalServer(dataDir, server);
  return { name: "server.json", start: () => Promise.resolve(), stop: async () => remove(), stopMs: null };
}

export function isReadable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Every setting of the product, whichever part of it runs here: a machine has one environment for all of them. */
export async function productTables(): Promise<readonly SettingsTable[]> {
  const [agent, telemetry, collector, traces, client] = await Promise.all([
    import("../agent/server/settings.ts"),
    import("../telemetry/settings.ts"),
    import("../collector/settings.ts"),
    import("../traces/settings.ts"),
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
