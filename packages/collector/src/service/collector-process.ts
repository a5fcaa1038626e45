// Collector process: the collector as a process of its own, with the trace store beside it when no backend is named.
import { systemClock } from "@holdpoint/base/clock.ts";
import { stopPart } from "@holdpoint/base/lifecycle.ts";
import { openKeyring } from "@holdpoint/base/config/encryption-keys.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { LongRunningProcess } from "@holdpoint/base/log/long-running-process.ts";
import type { TraceSql } from "../traces/postgres/sql.ts";
import type { TraceServer } from "../traces/server.ts";
import type { TraceConfig } from "../traces/settings.ts";
import type { TraceStore } from "../traces/store.ts";
import { localBackend, localUrl } from "./local-backend.ts";
import { runCollector } from "./open-collector.ts";
import type { CollectorConfig } from "./settings.ts";

/** Margin over the collector's own limit: a write that the disk does not finish, the local store. */
const STOP_SPARE_MS = 3000;

export interface CollectorProcessPorts {
  readonly log: Log;
  /** Version of the product, for `/info` of the trace store. */
  readonly version: string;
  /** Opens DATABASE_URI. */
  readonly openSql?: (config: TraceConfig, log: Log) => Promise<TraceSql>;
}

/** @throws {Error} also if another process has the folder of the trace store */
export async function startCollectorProcess(
  config: CollectorConfig & TraceConfig,
  ports: CollectorProcessPorts,
): Promise<LongRunningProcess> {
  const { log } = ports;
  const traces = config.endpoint === null ? await openTraceServer(config, ports) : null;
  const backend = localBackend(config, traces === null ? null : localUrl(traces.address().port));
  const collector = runCollector(backend, log, await openKeyring(config));
  await collector.start();
  return {
    log,
    async stop() {
      try {
        await stopPart(collector);
      } finally {
        if (traces !== null) await stopPart(traces); // last: the collector's final uploads still reach their backend
      }
    },
    stopMs: config.shutdownTimeoutMs + STOP_SPARE_MS,
    exitCode: () => (collector.lost() > 0 ? 1 : 0),
    announce: () => Promise.resolve(), // it reports its own end, with its limits
  };
}

/** The embedded tracing backend, started: the collector's backend is a URL. */
export async function openTraceServer(
  config: TraceConfig,
  ports: CollectorProcessPorts & { readonly queries?: boolean },
): Promise<TraceServer> {
  const { log, version, queries = true } = ports;
  const { createTraceServer } = await import("../traces/server.ts");
  const ring = await openKeyring(config);
  const store = await createSharedStore(config, ports, ring);
  const shared = store === null ? {} : { store };
  const traces = createTraceServer(config, { clock: systemClock, log, ring, version, queries, ...shared });
  await traces.start();
  const place = store === null ? { folder: config.dataDir } : { database: "PostgreSQL" };
  log.info("local_trace_store", { url: localUrl(traces.address().port), ...place });
  return traces;
}

/** Null without a database: the store is a file. */
async function createSharedStore(
  config: TraceConfig,
  { log, openSql }: CollectorProcessPorts,
  ring: Keyring | null,
): Promise<TraceStore | null> {
  if (config.databaseUri === null) return null;
  if (openSql === undefined) throw new Error("DATABASE_URI needs the program `holdpoint collector`");
  const { createSharedTraceStore } = await import("../traces/postgres/store.ts");
  return createSharedTraceStore(() => openSql(config, log), config, { clock: systemClock, log, ring });
}
