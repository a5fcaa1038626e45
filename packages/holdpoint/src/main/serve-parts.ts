// Serve parts: the trace store and the collector in the process of `holdpoint serve`.
// Invariants:
//   - A server without these settings loads neither.
//   - In the process of a server, the store takes uploads on its port and answers no queries there: these have to pass
//     the server's authentication.
import type { AgentConfig } from "@holdpoint/server/server/settings.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { localUrl } from "@holdpoint/collector/service/local-backend.ts";
import { collectorConfig } from "./collect.ts";
import type { Host } from "./host.ts";
import { collectorAt, type ProcessParts } from "./remote-parts.ts";
import { DEV_TRACE_DELAY_MS, type OwnCollector } from "./tracing.ts";

export type ServeParts = ProcessParts & { readonly own: OwnCollector | null };

/** @param running receives the started services in order @throws {ConfigError} */
export async function startServeParts(
  host: Host,
  config: AgentConfig,
  log: Log,
  running: Service[],
): Promise<ServeParts> {
  if (config.traces !== "on") return { traces: null, collector: null, own: null };
  const { config: given } = await collectorConfig(host);
  await checkParts(given.endpoint);
  const { startCollector, startTraceStore } = await import("./dev-parts.ts");
  const collecting = {
    ...given,
    host: "127.0.0.1",
    dataDir: config.dataDir,
    databaseUri: config.databaseUri,
    databaseDirectUri: config.databaseDirectUri,
    databasePasswordCommand: config.databasePasswordCommand,
    flushIntervalMs: host.env["FLUSH_INTERVAL_MS"] === undefined ? DEV_TRACE_DELAY_MS : given.flushIntervalMs,
  };
  const parts = { config: collecting, log, running, queries: false };
  const store = await startTraceStore(host, parts);
  const { port, recent } = await startCollector(host, parts, store === null ? null : localUrl(store.port));
  const url = localUrl(port);
  return {
    traces: store?.routes ?? null,
    collector: collectorAt(url, given.ingestToken, () => recent.recent()),
    own: { address: `${url}/v1/traces`, token: given.ingestToken },
  };
}

/** @throws {ConfigError} */
async function checkParts(endpoint: string | null): Promise<void> {
  if (endpoint === null) return;
  const { ConfigError } = await import("@holdpoint/base/config/config.ts");
  const reason = "is set, and so is TRACES=on: the traces would go there, not into the trace store";
  throw new ConfigError([{ name: "TRACING_ENDPOINT", reason }]);
}
