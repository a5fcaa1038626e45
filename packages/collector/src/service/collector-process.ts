// Collector process: the collector as a process of its own, with the trace store beside it when no backend is named.
import { systemClock } from "@holdpoint/base/clock.ts";
import { stopPart } from "@holdpoint/base/lifecycle.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import type { LongRunningProcess } from "@holdpoint/base/modules/long-running-process.ts";
import type { TraceServer } from "../traces/server.ts";
import type { TraceConfig } from "../traces/settings.ts";
import { localBackend, localUrl } from "./local-backend.ts";
import { runCollector } from "./open-collector.ts";
import type { CollectorConfig } from "./settings.ts";

/** Margin over the collector's own limit: a write that the disk does not finish, the local store. */
const STOP_SPARE_MS = 3000;

export interface CollectorProcessPorts {
  readonly log: Log;
  /** Version of the product, for `/info` of the trace store. */
  readonly version: string;
}

/** @throws {Error} also if another process has the folder of the trace store */
export async function startCollectorProcess(
  config: CollectorConfig & TraceConfig,
  { log, version }: CollectorProcessPorts,
): Promise<LongRunningProcess> {
  const traces = config.endpoint === null ? await openTraceServer(config, { log, version }) : null;
  const collector = runCollector(localBackend(config, traces === null ? null : localUrl(traces.address().port)), log);
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
  { log, version, queries = true }: CollectorProcessPorts & { readonly queries?: boolean },
): Promise<TraceServer> {
  const { createTraceServer } = await import("../traces/server.ts");
  const traces = createTraceServer(config, { clock: systemClock, log, version, queries });
  await traces.start();
  log.info("local_trace_store", { url: localUrl(traces.address().port), folder: config.dataDir });
  return traces;
}
