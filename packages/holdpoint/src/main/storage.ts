// Storage of a process: PostgreSQL if configured, else the data folder; the matching engine; and maintenance of a
// database without a running server.
import { dirname, resolve } from "node:path";
import { graphConfigFile } from "@holdpoint/server/model/assistant-defaults.ts";
import type { Engine, Storage } from "@holdpoint/server/ports/ports.ts";
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Dumpable } from "@holdpoint/server/storage/dump/dump.ts";
import type { Versions } from "@holdpoint/server/storage/shared/schema-version.ts";
import { readAddress } from "./database-address.ts";
import { readTableConfig, openLog, type Host, readLimits } from "./host.ts";

export type OpenedStorage = Storage & Service & Dumpable & { readonly boundUnits: () => number };

/** @param library version of LangGraph, recorded beside the data */
export async function openStorage(host: Host, config: AgentConfig, library: string, log: Log): Promise<OpenedStorage> {
  const versions = { holdpoint: host.product.version, library };
  const { openKeys } = await import("@holdpoint/base/config/encryption-keys.ts");
  const keys = await openKeys(config);
  const address = readAddress(config);
  if (address !== null) {
    const { createPostgresStorage } = await import("@holdpoint/server/storage/postgres/storage.ts");
    return createPostgresStorage({ ...address, poolMax: config.postgresPoolMax, versions, log, keys });
  }
  const { createSqliteStorage } = await import("@holdpoint/server/storage/sqlite/storage.ts");
  const owner = `process ${host.processId} (holdpoint, started ${new Date().toISOString()})`;
  return createSqliteStorage({ folder: config.dataDir, owner, versions, log, keys });
}

/** The parts that runs and their readers need beside storage. @throws {ConfigError} without a shared database */
export async function openEngine(config: AgentConfig, storage: Storage, log: Log): Promise<Engine> {
  const { systemClock: clock } = await import("@holdpoint/base/clock.ts");
  const ports = { storage, clock, log };
  const address = readAddress(config);
  if (address === null) {
    const { createLocalEngine } = await import("@holdpoint/server/storage/local/engine.ts");
    return createLocalEngine(ports);
  }
  const { createPostgresEngine } = await import("@holdpoint/server/storage/postgres/engine/engine.ts");
  const [isWorker, servesCalls] = [config.role !== "api", config.role !== "worker"];
  const stuckMs = config.jobTimeoutSecs * 1000;
  return createPostgresEngine({ ...address, isWorker, servesCalls, stuckMs }, ports);
}

/** Opens the database; a data folder only if no server has it. @throws {Error} FolderInUseError */
export async function withStorage<T>(
  host: Host,
  dataDir: string | undefined,
  work: (storage: OpenedStorage, versions: Versions) => Promise<T>,
): Promise<T> {
  const [{ AGENT_SETTINGS }, { libraryVersion }] = await Promise.all([
    import("@holdpoint/server/server/settings.ts"),
    import("@holdpoint/server/graphs/langgraph/library.ts"),
  ]);
  const { databaseUri, databaseDirectUri } = AGENT_SETTINGS;
  const names = [databaseUri, databaseDirectUri].flatMap(({ name, aliases }) => [name, ...aliases]);
  const addresses = names.flatMap((one) => [one, `${one}_FILE`]);
  const noDatabase = Object.fromEntries(addresses.map((one) => [one, undefined]));
  const folder = dataDir === undefined ? {} : { ...noDatabase, HOLDPOINT_DATA_DIR: dataDir };
  const settings = await readTableConfig(AGENT_SETTINGS, { ...host.env, ...folder }); // an explicit folder wins
  const config = { ...(await readLimits(host)), ...settings };
  const library = libraryVersion(dirname(resolve(graphConfigFile(config.graphConfig))));
  const storage = await openStorage(host, config, library, await openLog(host, AGENT_SETTINGS, config));
  await storage.start();
  try {
    return await work(storage, { holdpoint: host.product.version, library });
  } finally {
    await storage.stop();
  }
}

/** @throws {ConfigError} without DATABASE_URI */
export async function migrate(host: Host, options: { readonly config?: string }): Promise<void> {
  const [{ AGENT_SETTINGS }, { loadLibrary }] = await Promise.all([
    import("@holdpoint/server/server/settings.ts"),
    import("@holdpoint/server/graphs/langgraph/library.ts"),
  ]);
  const config = await readTableConfig(AGENT_SETTINGS, host.env);
  const address = readAddress(config);
  if (address === null) {
    const { ConfigError } = await import("@holdpoint/base/config/config.ts");
    throw new ConfigError([{ name: "DATABASE_URI", reason: "is not set; an embedded database is migrated at start" }]);
  }
  const { migrateDatabase } = await import("@holdpoint/server/storage/postgres/schema/migrate.ts");
  const { version: library } = await loadLibrary(
    dirname(resolve(options.config ?? graphConfigFile(config.graphConfig))),
  );
  const { from, to } = await migrateDatabase(address, { holdpoint: host.product.version, library });
  host.out(from === to ? `The schema is already at ${to}.\n` : `Migrated the schema from ${from} to ${to}.\n`);
}
