// Metrics: counters named like those of the OpenTelemetry Collector, on a registry of this collector's own.
// A scrape reads the totals from the span accounting and the steps; the hot path counts in plain numbers.
// Invariant: no label holds a key, a project or any other value that a sender chose (cardinality, secrets).
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { DestinationState, Forwarder } from "./forward/forwarder.ts";
import type { KeyLimits } from "./limit/key-limits.ts";
import { LIMIT_REASONS } from "./limit/key-usage.ts";
import type { PipelineStats } from "./pipeline/pipeline.ts";
import type { Redactor } from "./redact/redact.ts";
import { DROP_REASONS, pendingOf, type SpanAccounting } from "./shared/span-accounting.ts";

/** Values that a scrape reads. */
export interface MetricSources {
  readonly accounting: SpanAccounting;
  /** null: no destination. */
  readonly forwarder: Pick<Forwarder, "states"> | null;
  /** null: no key has limits. */
  readonly limits: Pick<KeyLimits, "refused"> | null;
  /** null: no rule redacts. */
  readonly redactor: Redactor | null;
  readonly assemble: () => PipelineStats;
  readonly queueBytes: () => number;
  readonly queueBytesMax: number;
  readonly waitingRuns: () => number;
  readonly inflight: () => number;
  readonly openCircuits: () => number;
  /** CPU seconds of each worker thread; empty with one worker. */
  readonly threads: () => Promise<readonly number[]>;
  readonly workerRestarts: () => number;
  /** null in memory mode. */
  readonly spoolBytes: (() => number) | null;
}

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
  /** Called once, when all steps exist. */
  readonly observe: (sources: MetricSources) => void;
  readonly show: () => Promise<{ readonly type: string; readonly text: string }>;
}

export function createMetrics(): CollectorMetrics {
  const registry = new Registry();
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
    observe(sources) {
      registerAccounting(registry, sources.accounting);
      if (sources.forwarder !== null) registerForwarding(registry, sources.forwarder.states);
      if (sources.limits !== null) {
        const { refused } = sources.limits;
        byReason(registry, {
          name: "otelcol_receiver_over_limit_requests_total",
          help: "Requests refused with 429: their key was over its limit.",
          read: () => refused,
          reasons: LIMIT_REASONS,
        });
      }
      if (sources.redactor !== null) registerRedaction(registry, sources.redactor);
      registerAssembly(registry, sources.assemble);
      registerQueues(registry, sources);
      registerThreads(registry, sources);
    },
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

function registerAccounting(registry: Registry, accounting: SpanAccounting): void {
  const register = (name: string, help: string, read: () => number): void => total(registry, { name, help, read });
  const receiver = "otelcol_receiver";
  const exporter = "otelcol_exporter";
  const processor = "otelcol_processor";
  register(`${receiver}_received_spans_total`, "Spans of requests that could be decoded.", () => accounting.received);
  register(`${receiver}_accepted_spans_total`, "Spans accepted.", () => accounting.received - accounting.rejected);
  register(
    `${receiver}_rejected_spans_total`,
    "Spans without usable ids, reported in partial_success.",
    () => accounting.rejected,
  );
  register(`${exporter}_sent_spans_total`, "Spans delivered to the backend.", () => accounting.delivered);
  register(
    `${processor}_filtered_spans_total`,
    "Spans dropped by FILTER_NON_GENAI, a rule or sampling.",
    () => accounting.filtered,
  );
  register(`${processor}_duplicate_spans_total`, "Spans received more than once.", () => accounting.duplicates);
  register(
    `${receiver}_received_log_records_total`,
    "Log records of requests that could be decoded.",
    () => accounting.records.received,
  );
  register(`${processor}_joined_log_records_total`, "Log records that joined a span.", () => accounting.records.joined);
  register(
    `${processor}_not_stored_log_records_total`,
    "Log records that are no events about generative AI, or name no span.",
    () => accounting.records.notStored,
  );
  byReason(registry, {
    name: `${exporter}_dead_letter_spans_total`,
    help: "Spans written to DEAD_LETTER_DIR.",
    read: () => accounting.deadLettered,
  });
  byReason(registry, {
    name: `${exporter}_dropped_spans_total`,
    help: "Spans lost. Alert on any value above 0.",
    read: () => accounting.lost,
  });
  level(registry, {
    name: `${exporter}_pending_spans`,
    help: "Spans and log records accepted and not yet delivered, dead-lettered or lost.",
    read: () => pendingOf(accounting),
  });
}

function registerRedaction(registry: Registry, { counts, rules }: Redactor): void {
  registry.registerMetric(
    new Counter({
      name: "otelcol_processor_redacted_values_total",
      help: "Texts and values that a rule of RULES_FILE replaced, hashed or dropped.",
      registers: [],
      labelNames: ["rule"],
      collect() {
        this.reset();
        for (const { index, name } of rules) this.inc({ rule: name }, counts[index] ?? 0);
      },
    }),
  );
}

function registerForwarding(registry: Registry, states: () => readonly DestinationState[]): void {
  const show = (
    Kind: typeof Counter | typeof Gauge,
    name: string,
    help: string,
    read: (state: DestinationState) => number,
  ): void =>
    registry.registerMetric(
      new Kind({
        name: `otelcol_exporter_forward_${name}`,
        help,
        registers: [],
        labelNames: ["destination"],
        collect() {
          this.reset();
          for (const state of states()) this.inc({ destination: state.name }, read(state));
        },
      }),
    );
  show(Counter, "sent_requests_total", "Requests that a destination has taken.", ({ sent }) => sent);
  show(Counter, "refused_requests_total", "Requests that a destination refused for good.", ({ refused }) => refused);
  show(Counter, "lost_requests_total", "Requests that went before a destination took them.", ({ lost }) => lost);
  show(Gauge, "queue_size", "Bytes that wait for a destination.", ({ waitingBytes }) => waitingBytes);
  show(Gauge, "queue_requests", "Requests that wait for a destination.", ({ waitingRequests }) => waitingRequests);
  show(Gauge, "paused", "1 while the circuit of a destination is open.", ({ isPaused }) => Number(isPaused));
}

function registerAssembly(registry: Registry, stats: () => PipelineStats): void {
  const name = (suffix: string): string => `otelcol_processor_${suffix}`;
  level(registry, {
    name: name("waiting_spans"),
    help: "Spans that wait for their parent.",
    read: () => stats().waiting,
  });
  level(registry, {
    name: name("waiting_log_records"),
    help: "Log records that wait for their span.",
    read: () => stats().waitingRecords,
  });
  total(registry, {
    name: name("sampled_out_items_total"),
    help: "Spans and log records of traces that sampling did not keep.",
    read: () => stats().sampledOut,
  });
  total(registry, {
    name: name("sampling_kept_traces_total"),
    help: "Traces that sampling kept.",
    read: () => stats().keptTraces,
  });
  total(registry, {
    name: name("sampling_dropped_traces_total"),
    help: "Traces that sampling did not keep.",
    read: () => stats().droppedTraces,
  });
  total(registry, {
    name: name("sampling_early_traces_total"),
    help: "Traces that were not kept because too much was waiting for a decision.",
    read: () => stats().decidedEarly,
  });
  level(registry, {
    name: name("sampling_undecided_traces"),
    help: "Traces that wait for a decision.",
    read: () => stats().undecidedTraces,
  });
  level(registry, { name: name("traces"), help: "Traces in memory.", read: () => stats().traces });
  total(registry, {
    name: name("rerooted_spans_total"),
    help: "Spans sent without their parent.",
    read: () => stats().reRooted,
  });
  total(registry, {
    name: name("evicted_traces_total"),
    help: "Traces evicted early to stay within a limit.",
    read: () => stats().evicted,
  });
}

function registerQueues(registry: Registry, sources: MetricSources): void {
  const register = (suffix: string, help: string, read: () => number): void =>
    level(registry, { name: `otelcol_exporter_${suffix}`, help, read });
  register("queue_size", "Bytes held in memory.", sources.queueBytes);
  register("queue_capacity", "MAX_QUEUE_BYTES.", () => sources.queueBytesMax);
  register("queue_runs", "Runs in sealed batches that wait for their upload.", sources.waitingRuns);
  register("inflight_uploads", "Uploads in progress.", sources.inflight);
  register("resting_keys", "Keys whose uploads are paused after failures.", sources.openCircuits);
  if (sources.spoolBytes !== null) register("spool_size", "Bytes of the spool on disk.", sources.spoolBytes);
}

function registerThreads(registry: Registry, { threads, workerRestarts }: MetricSources): void {
  total(registry, {
    name: "otelcol_process_worker_restarts_total",
    help: "Worker threads that crashed and started again. Alert on any value above 0.",
    read: workerRestarts,
  });
  registry.registerMetric(
    new Counter({
      name: "otelcol_process_thread_cpu_seconds_total",
      help: "CPU time by thread, from the start of the thread: `receiver`, and `worker-0` on with more than one worker.",
      labelNames: ["thread"],
      registers: [],
      async collect() {
        const { system, user } = process.threadCpuUsage();
        const ofWorkers = await threads();
        this.reset();
        this.inc({ thread: "receiver" }, (user + system) / 1e6);
        for (const [number, seconds] of ofWorkers.entries()) this.inc({ thread: `worker-${number}` }, seconds);
      },
    }),
  );
}

interface Source<Value> {
  readonly name: string;
  readonly help: string;
  readonly read: () => Value;
}

/** A total kept elsewhere, read at each scrape. */
function total(registry: Registry, { read, ...names }: Source<number>): void {
  registry.registerMetric(
    new Counter({
      ...names,
      registers: [],
      collect() {
        this.reset();
        this.inc(read());
      },
    }),
  );
}

function level(registry: Registry, { read, ...names }: Source<number>): void {
  registry.registerMetric(
    new Gauge({
      ...names,
      registers: [],
      collect() {
        this.set(read());
      },
    }),
  );
}

interface Reasons extends Source<Readonly<Record<string, number>>> {
  readonly reasons?: readonly string[];
}

function byReason(registry: Registry, { read, reasons = DROP_REASONS, ...names }: Reasons): void {
  registry.registerMetric(
    new Counter({
      ...names,
      registers: [],
      labelNames: ["reason"],
      collect() {
        this.reset();
        for (const reason of reasons) this.inc({ reason }, read()[reason] ?? 0);
      },
    }),
  );
}
