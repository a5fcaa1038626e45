// Metrics: counters named like those of the OpenTelemetry Collector, on a registry of this collector's own.
// A scrape reads the totals from the span accounting and the steps; the hot path counts in plain numbers.
// Invariant: no label holds a key, or a value that a sender chose, but those of gen-ai-metrics.ts, which have a bound.
import { Counter, Histogram, Registry } from "prom-client";
import { createGenAiMetrics, type GenAiMetrics } from "./gen-ai-metrics.ts";
import { type MetricSources, observe } from "./observed-metrics.ts";
import type { Prices } from "./prices.ts";

export interface CollectorMetrics {
  readonly onReply: (status: number) => void;
  readonly onGrpcReply: (grpcStatus: number) => void;
  /** A request of a signal that the collector accepts and does not store. */
  readonly onNotStored: (signal: string) => void;
  readonly onUpload: (outcome: string, seconds: number) => void;
  readonly onRetry: () => void;
  readonly onBatch: (runs: number, rawBytes: number, bytes: number) => void;
  readonly onMendedTexts: (count: number) => void;
  readonly onBadRecords: (count: number) => void;
  /** A run goes to the backend. Returns its cost in US dollars. */
  readonly onRun: GenAiMetrics["count"];
  /** Called once, when all steps exist. */
  readonly observe: (sources: MetricSources) => void;
  readonly show: () => Promise<{ readonly type: string; readonly text: string }>;
}

export function createMetrics(prices: Prices): CollectorMetrics {
  const registry = new Registry();
  const genAi = createGenAiMetrics(registry, prices);
  const registers = [registry];
  const uploads = new Histogram({
    name: "otelcol_exporter_upload_seconds",
    help: "Duration of one upload, by outcome.",
    labelNames: ["outcome"],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers,
  });
  const batchRuns = new Histogram({
    name: "otelcol_processor_batch_batch_send_size",
    help: "Runs in a batch.",
    buckets: [1, 10, 50, 100, 500, 1000, 10_000],
    registers,
  });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const rawBytes = counter("otelcol_exporter_batch_uncompressed_bytes_total", "Bytes of batches before compression.");
  const sentBytes = counter("otelcol_exporter_batch_compressed_bytes_total", "Bytes of batches after compression.");
  const retries = counter("otelcol_exporter_retries_total", "Uploads sent again within a cycle.");
  const mended = counter("otelcol_receiver_mended_texts_total", "Texts that were not valid UTF-8.");
  const badRecords = counter("otelcol_exporter_spool_bad_records_total", "Damaged records found in the spool.");
  const notStored = new Counter({
    name: "otelcol_receiver_not_stored_requests_total",
    help: "Exports of metrics and profiles: accepted, and not stored.",
    labelNames: ["signal"],
    registers,
  });

  return {
    onReply: countReplies(registry, { name: "http_server_requests_total", help: "Replies to exports." }),
    onGrpcReply: countReplies(registry, {
      name: "rpc_server_requests_total",
      help: "Replies to exports over gRPC, by gRPC status.",
    }),
    onNotStored: (signal) => notStored.inc({ signal }),
    onUpload: (outcome, seconds) => uploads.observe({ outcome }, seconds),
    onRetry: () => retries.inc(),
    onBatch(runs, raw, bytes) {
      batchRuns.observe(runs);
      rawBytes.inc(raw);
      sentBytes.inc(bytes);
    },
    onMendedTexts: (count) => mended.inc(count),
    onBadRecords: (count) => badRecords.inc(count),
    onRun: genAi.count,
    observe: (sources) => observe(registry, sources),
    show: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}

/** Counts in plain numbers: a labelled counter hashes its labels at every call. */
function countReplies(
  registry: Registry,
  names: { readonly name: string; readonly help: string },
): CollectorMetrics["onReply"] {
  const counts = new Map<number, number>();
  registry.registerMetric(
    new Counter({
      ...names,
      labelNames: ["status"],
      registers: [],
      collect() {
        this.reset();
        for (const [status, count] of counts) this.inc({ status: String(status) }, count);
      },
    }),
  );
  return (status) => void counts.set(status, (counts.get(status) ?? 0) + 1);
}
