// Metrics: what happened, in the OpenTelemetry Collector's words, on a registry of this collector's own.
// Totals are read from the books and the parts when somebody asks; the hot path counts in plain numbers.
// Invariant: no label holds a key, a project or anything else that a sender chose (cardinality, secrets).
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { AssembleStats } from "./assemble/assemble.ts";
import { type Books, DROP_REASONS, pendingOf } from "./shared/span-accounting.ts";

export interface MetricSources {
  readonly books: Books;
  readonly assemble: () => AssembleStats;
  readonly queueBytes: () => number;
  readonly queueBytesMax: number;
  readonly waitingRuns: () => number;
  readonly inflight: () => number;
  readonly restingKeys: () => number;
  /** null in memory mode. */
  readonly spoolBytes: (() => number) | null;
}

export interface CollectorMetrics {
  readonly onReply: (status: number, spans: number) => void;
  readonly onUpload: (outcome: string, seconds: number) => void;
  readonly onRetry: () => void;
  readonly onBatch: (runs: number, rawBytes: number, bytes: number) => void;
  readonly onMendedTexts: (count: number) => void;
  readonly onBadRecords: (count: number) => void;
  readonly show: () => Promise<{ readonly type: string; readonly text: string }>;
}

export function createMetrics(sources: MetricSources): CollectorMetrics {
  const registry = new Registry();
  const registers = [registry];
  const { books } = sources;

  /** A total that lives elsewhere: read when asked for. */
  const total = (name: string, help: string, read: () => number): void => {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
    );
  };
  const level = (name: string, help: string, read: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };
  const byReason = (name: string, help: string, read: () => Readonly<Record<string, number>>): void => {
    registry.registerMetric(
      new Counter({
        name,
        help,
        registers: [],
        labelNames: ["reason"],
        collect() {
          this.reset();
          for (const reason of DROP_REASONS) this.inc({ reason }, read()[reason] ?? 0);
        },
      }),
    );
  };

  total("otelcol_receiver_received_spans_total", "Spans of requests that could be read.", () => books.received);
  total("otelcol_receiver_accepted_spans_total", "Spans taken.", () => books.received - books.rejected);
  total(
    "otelcol_receiver_rejected_spans_total",
    "Spans without usable ids, told in partial_success.",
    () => books.rejected,
  );
  total("otelcol_exporter_sent_spans_total", "Spans that the backend has.", () => books.delivered);
  total("otelcol_processor_filtered_spans_total", "Spans left out by FILTER_NON_GENAI.", () => books.filtered);
  total("otelcol_processor_duplicate_spans_total", "Spans that came again.", () => books.duplicates);
  byReason(
    "otelcol_exporter_dead_letter_spans_total",
    "Spans given up and written to DEAD_LETTER_DIR.",
    () => books.deadLettered,
  );
  byReason("otelcol_exporter_dropped_spans_total", "Spans lost. Anything but 0 is worth an alarm.", () => books.lost);
  level("otelcol_exporter_pending_spans", "Spans taken and not yet delivered, given up or lost.", () =>
    pendingOf(books),
  );
  level("otelcol_exporter_queue_size", "Bytes held in memory.", sources.queueBytes);
  level("otelcol_exporter_queue_capacity", "MAX_QUEUE_BYTES.", () => sources.queueBytesMax);
  level("otelcol_exporter_queue_runs", "Runs in sealed batches that wait for their upload.", sources.waitingRuns);
  level("otelcol_exporter_inflight_uploads", "Uploads under way.", sources.inflight);
  level("otelcol_exporter_resting_keys", "Keys whose uploads rest after failures.", sources.restingKeys);
  level("otelcol_processor_waiting_spans", "Spans that wait for their parent.", () => sources.assemble().waiting);
  level("otelcol_processor_traces", "Traces remembered.", () => sources.assemble().traces);
  total(
    "otelcol_processor_rerooted_spans_total",
    "Spans sent without their parent.",
    () => sources.assemble().reRooted,
  );
  total(
    "otelcol_processor_evicted_traces_total",
    "Traces forgotten early to stay within a limit.",
    () => sources.assemble().evicted,
  );
  const { spoolBytes } = sources;
  if (spoolBytes !== null) level("otelcol_exporter_spool_size", "Bytes of the spool on disk.", spoolBytes);

  /** Plain numbers on the hot path: a labelled counter hashes its labels at every call. */
  const replyCounts = new Map<number, number>();
  registry.registerMetric(
    new Counter({
      name: "http_server_requests_total",
      help: "Replies to exports.",
      labelNames: ["status"],
      registers: [],
      collect() {
        this.reset();
        for (const [status, count] of replyCounts) this.inc({ status: String(status) }, count);
      },
    }),
  );
  const uploads = new Histogram({
    name: "otelcol_exporter_upload_seconds",
    help: "Time of one upload, by what became of it.",
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
  const mended = counter("otelcol_receiver_mended_texts_total", "Texts that were no valid UTF-8.");
  const badRecords = counter("otelcol_exporter_spool_bad_records_total", "Damaged records found in the spool.");

  return {
    onReply: (status) => void replyCounts.set(status, (replyCounts.get(status) ?? 0) + 1),
    onUpload: (outcome, seconds) => uploads.observe({ outcome }, seconds),
    onRetry: () => retries.inc(),
    onBatch(runs, raw, bytes) {
      batchRuns.observe(runs);
      rawBytes.inc(raw);
      sentBytes.inc(bytes);
    },
    onMendedTexts: (count) => mended.inc(count),
    onBadRecords: (count) => badRecords.inc(count),
    show: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  };
}
