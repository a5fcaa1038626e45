// Start and stop log: the log lines of the collector's start, its stop, and the circuits of its tenants.
import type { Log } from "@holdpoint/base/log/log.ts";
import { isLoopbackAddress } from "@holdpoint/base/http/server/loopback-host.ts";
import { type CollectorConfig, deadLetterDir } from "./settings.ts";
import { countPending, type SpanAccounting, sumCounts } from "../shared/span-accounting.ts";

/** `reason` null: the circuit closed. */
export function logCircuit(log: Log, tenant: string, reason: string | null, pauseMs: number): void {
  if (reason === null) log.info("uploads_resumed", { tenant: tenant.slice(0, 8) });
  else log.warning("uploads_paused", { tenant: tenant.slice(0, 8), reason, pause_ms: Math.round(pauseMs) });
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** `grpc` null: GRPC_PORT is not set. */
export function logStart(log: Log, config: CollectorConfig, { host, port }: Address, grpc: Address | null): void {
  log.info("collector_started", {
    address: `http://${host}:${port}/v1/traces`,
    ...(grpc === null ? {} : { grpc_address: `${grpc.host}:${grpc.port}` }),
    endpoint: config.endpoint,
    mode: config.spoolDir === null ? "memory" : "durable",
    crash_loses: config.spoolDir === null ? `at most ${config.queueBytesMax} bytes of acknowledged spans` : "nothing",
    ...(config.spoolDir === null ? {} : { spool_dir: config.spoolDir, spool_max_bytes: config.spoolBytesMax }),
    dead_letter_dir: deadLetterDir(config) ?? "none: rejected runs are lost",
    batch_size: config.batchSize,
    flush_interval_ms: config.flushIntervalMs,
    max_queue_bytes: config.queueBytesMax,
    max_body_bytes: config.bodyBytesMax,
  });
  if (!isLoopbackAddress(config.host) && config.apiKey !== null && config.ingestToken === null)
    log.warning("open_relay", {
      reason:
        "TRACING_API_KEY is set and INGEST_TOKEN is not: any client that can reach this address uploads with your key",
    });
}

export function logStop(log: Log, accounting: SpanAccounting, mode: "memory" | "durable"): void {
  log.info("collector_stopped", {
    received: accounting.received,
    added: accounting.added,
    delivered: accounting.delivered,
    pending: countPending(accounting),
    rejected: accounting.rejected,
    filtered: accounting.filtered,
    duplicates: accounting.duplicates,
    log_records: accounting.records.received,
    log_records_joined: accounting.records.joined,
    log_records_not_stored: accounting.records.notStored,
    dead_lettered: sumCounts(accounting.deadLettered),
    lost: sumCounts(accounting.lost),
    mode,
  });
}
