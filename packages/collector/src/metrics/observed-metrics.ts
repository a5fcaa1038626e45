// Observed metrics: totals and levels that the steps keep, read at each scrape.
import { Counter, Gauge, type Registry } from "prom-client";
import type { DestinationState, Forwarder } from "../forward/forwarder.ts";
import type { KeyLimits } from "../limit/key-limits.ts";
import { LIMIT_REASONS } from "../limit/key-usage.ts";
import type { PipelineStats } from "../pipeline/pipeline.ts";
import type { Redactor } from "../redact/redact.ts";
import { byReason, level, total } from "./scraped-value.ts";
import { countPending, type SpanAccounting } from "../shared/span-accounting.ts";

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
  /** null in memory mode. */
  readonly spoolBytes: (() => number) | null;
}

export function observe(registry: Registry, sources: MetricSources): void {
  registerAccounting(registry, sources.accounting);
  if (sources.forwarder !== null) registerForwarding(registry, sources.forwarder.states);
  if (sources.limits !== null) registerLimits(registry, sources.limits);
  if (sources.redactor !== null) registerRedaction(registry, sources.redactor);
  registerAssembly(registry, sources.assemble);
  registerQueues(registry, sources);
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
    "Spans that are malformed or without usable ids, reported in partial_success.",
    () => accounting.rejected,
  );
  register(`${exporter}_sent_spans_total`, "Spans delivered to the backend.", () => accounting.delivered);
  register(
    `${processor}_filtered_spans_total`,
    "Spans dropped by FILTER_NON_GENAI, a rule or sampling.",
    () => accounting.filtered,
  );
  register(`${processor}_added_spans_total`, "Empty roots of the collector's own.", () => accounting.added);
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
    read: () => countPending(accounting),
  });
}

function registerLimits(registry: Registry, { refused }: Pick<KeyLimits, "refused">): void {
  byReason(registry, {
    name: "otelcol_receiver_over_limit_requests_total",
    help: "Requests refused with 429: their key was over its limit.",
    read: () => refused,
    reasons: LIMIT_REASONS,
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
  show(
    Counter,
    "rejected_items_total",
    "Items that a destination rejected in requests it took.",
    (state) => state.rejectedItems,
  );
  show(Counter, "lost_requests_total", "Requests that went before a destination took them.", ({ lost }) => lost);
  show(Gauge, "queue_size", "Bytes that wait for a destination.", ({ waitingBytes }) => waitingBytes);
  show(Gauge, "queue_requests", "Requests that wait for a destination.", ({ waitingRequests }) => waitingRequests);
  show(Gauge, "paused", "1 while the circuit of a destination is open.", ({ isPaused }) => Number(isPaused));
}

/** Name without its prefix, help, total or level, and the count that a scrape reads. */
type AssemblyRow = readonly [name: string, help: string, kind: typeof total | typeof level, read: keyof PipelineStats];

const ASSEMBLY: readonly AssemblyRow[] = [
  ["waiting_spans", "Spans that wait for their parent.", level, "waiting"],
  ["waiting_log_records", "Log records that wait for their span.", level, "waitingRecords"],
  ["sampled_out_items_total", "Spans and log records of traces that sampling did not keep.", total, "sampledOut"],
  ["sampling_kept_traces_total", "Traces that sampling kept.", total, "keptTraces"],
  ["sampling_dropped_traces_total", "Traces that sampling did not keep.", total, "droppedTraces"],
  [
    "sampling_early_traces_total",
    "Traces that were not kept because too much was waiting for a decision.",
    total,
    "decidedEarly",
  ],
  ["sampling_undecided_traces", "Traces that wait for a decision.", level, "undecidedTraces"],
  ["traces", "Traces in memory.", level, "traces"],
  ["rerooted_spans_total", "Spans sent without their parent.", total, "reRooted"],
  ["evicted_traces_total", "Traces evicted early to stay within a limit.", total, "evicted"],
];

function registerAssembly(registry: Registry, stats: () => PipelineStats): void {
  for (const [name, help, register, count] of ASSEMBLY)
    register(registry, { name: `otelcol_processor_${name}`, help, read: () => stats()[count] });
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
