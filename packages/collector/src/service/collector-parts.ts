// Collector parts: the steps of the collector, created from the settings from the last step (upload) to the first
// (intake).
import type { Clock } from "@holdpoint/base/clock.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { ASSEMBLE_LIMITS } from "../assemble/trace-table.ts";
import { createForwarder, type Forwarder } from "../forward/forwarder.ts";
import { createKeyLimits, type KeyLimits } from "../limit/key-limits.ts";
import { JOIN_LIMITS } from "../logs/join-table.ts";
import { createMetrics, type CollectorMetrics } from "../metrics/metrics.ts";
import { countReceived, createDurableIntake, type DurableIntake } from "../pipeline/durable-intake.ts";
import { createDelivery, type DeliveryStep } from "../pipeline/delivery.ts";
import { createPipeline, type Pipeline, type PipelineOptions } from "../pipeline/pipeline.ts";
import type { Intake } from "../receive/accept.ts";
import { createAdmission, type Admission } from "../receive/memory-admission.ts";
import { readPrices } from "../metrics/prices.ts";
import { readRules, chooseRedaction, type Rules } from "./rules-file.ts";
import { type CollectorConfig, deadLetterDir } from "./settings.ts";
import { createSpanAccounting, type SpanAccounting } from "../shared/span-accounting.ts";
import { createTenants, type Tenants } from "../shared/tenants.ts";
import type { TraceRun } from "../shared/trace-run.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import type { Spool } from "../spool/port.ts";
import { createSpool } from "../spool/spool.ts";
import { logCircuit } from "./start-stop-log.ts";
import { createTranslator } from "../translate/translate.ts";
import type { Backend } from "../upload/backend/port.ts";
import { createDeadLetters } from "../upload/dead-letters.ts";
import { createTenantQueues, type TenantQueues } from "../upload/tenant-queues.ts";

export interface PartsPorts {
  readonly backend: Backend;
  /** Wall time follows the machine's clock. */
  readonly clock: Clock;
  /** Wall time advances steadily: for ages. */
  readonly ageClock: Clock;
  readonly log: Log;
  readonly files: FilePort;
  readonly random: () => number;
  readonly ring: Keyring | null;
}

export interface CollectorParts {
  readonly rules: Rules;
  /** null: no destination. */
  readonly forwarder: Forwarder | null;
  /** null: no key has limits. */
  readonly limits: KeyLimits | null;
  readonly accounting: SpanAccounting;
  readonly metrics: CollectorMetrics;
  readonly tenants: Tenants;
  readonly queues: TenantQueues;
  /** null in memory mode. */
  readonly spool: Spool | null;
  readonly pipeline: Pipeline;
  readonly delivery: DeliveryStep;
  readonly admission: Admission;
  /** null in memory mode. */
  readonly durable: DurableIntake | null;
  readonly intake: Intake;
}

const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
/** One line of the tree log: ids and a few segments of the order. */
const TREE_BYTES_A_RUN = 256;

/** @throws {ConfigError} when the rules file has a fault. */
export function createParts(config: CollectorConfig, ports: PartsPorts): CollectorParts {
  const { clock, log } = ports;
  const rules = readRules(config);
  const accounting = createSpanAccounting();
  const metrics = createMetrics(readPrices(config.pricesFile));
  const limits = rules.limits === null ? null : createKeyLimits(rules.limits, ports);
  const tenants = createTenants();
  const queues = createQueues(config, ports, metrics);
  const spool = config.spoolDir === null ? null : openSpool(config, config.spoolDir, { ...ports, accounting, tenants });
  const delivery = openDelivery(config, { ...ports, accounting, metrics, queues, spool });
  const onRun = (run: TraceRun): void => {
    const usd = metrics.onRun(run);
    if (usd > 0) limits?.spend(run.tenant, usd);
  };
  const pipeline = createIngest(config, { ...ports, accounting, delivery, onRun, rules, spool });
  const heldBytes = (): number => pipeline.heldBytes() + delivery.heldBytes() + queues.heldBytes();
  const admission = createAdmission({
    bytesMax: config.queueBytesMax,
    heldBytes,
    countHeldBytes: (tenantId) => pipeline.countHeldBytes(tenantId) + queues.countHeldBytes(tenantId),
  });
  const intakeLimits = { spoolBytesMax: config.spoolBytesMax, feedBytesMax: config.queueBytesMax * 0.75 };
  const durable: DurableIntake | null =
    spool === null
      ? null
      : createDurableIntake(intakeLimits, { spool, pipeline, delivery, accounting, log, clock, heldBytes });
  const forwarder = rules.forward.length === 0 ? null : createForwarding(config, rules.forward, ports);
  metrics.observe({
    accounting,
    forwarder,
    limits,
    redactor: rules.redactor,
    assemble: pipeline.stats,
    queueBytes: () => admission.transitBytes() + heldBytes(),
    queueBytesMax: config.queueBytesMax,
    waitingRuns: queues.waitingRuns,
    inflight: queues.inflight,
    openCircuits: queues.openCircuits,
    spoolBytes: spool === null ? null : spool.bytes,
  });
  const intake = durable?.take ?? memoryIntake(accounting, pipeline);
  return {
    rules,
    forwarder,
    limits,
    accounting,
    metrics,
    tenants,
    queues,
    spool,
    pipeline,
    delivery,
    admission,
    durable,
    intake,
  };
}

function createForwarding(config: CollectorConfig, destinations: Rules["forward"], ports: PartsPorts): Forwarder {
  const { forwardBytesMax, queueBytesMax, spoolDir } = config;
  return createForwarder(
    {
      ...config,
      destinations,
      redaction: chooseRedaction(config),
      bytesMax: spoolDir === null ? Math.min(forwardBytesMax, queueBytesMax) : forwardBytesMax,
    },
    ports,
  );
}

function createQueues(config: CollectorConfig, ports: PartsPorts, metrics: CollectorMetrics): TenantQueues {
  const { ageClock, backend, clock, log, random } = ports;
  return createTenantQueues(
    {
      ...config,
      inflightMax: config.inflightUploadsMax,
      ageMaxMs: config.spoolDir === null ? Infinity : config.spoolAgeMaxMs,
    },
    {
      clock: ageClock,
      random,
      onRetry: metrics.onRetry,
      onCircuit: (tenant, reason, pauseMs) => logCircuit(log, tenant, reason, pauseMs),
      async send(body, signal) {
        const started = clock.monotonic();
        const outcome = await backend.send(body, signal);
        metrics.onUpload(outcome.kind, (clock.monotonic() - started) / 1000);
        return outcome;
      },
    },
  );
}

function openSpool(
  config: CollectorConfig,
  dir: string,
  { accounting, ageClock, files, log, ring, tenants }: PartsPorts & Pick<CollectorParts, "accounting" | "tenants">,
): Spool {
  return createSpool(
    {
      dir,
      segmentBytesMax: Math.min(SEGMENT_BYTES_MAX, Math.max(65_536, config.spoolBytesMax / 16)),
      // A small spool remembers fewer places, so that they never fill it.
      treeSegmentBytesMax: Math.min(SEGMENT_BYTES_MAX / 4, Math.max(65_536, config.spoolBytesMax / 32)),
      treeRunsKept: Math.min(ASSEMBLE_LIMITS.nodesMax, Math.floor(config.spoolBytesMax / 16 / TREE_BYTES_A_RUN)),
      treeAgeMs: config.spanTtlMs,
    },
    { files, clock: ageClock, log, ring, accounting: () => accounting, buildTenant: tenants.of },
  );
}

function openDelivery(
  config: CollectorConfig,
  ports: PartsPorts & Pick<CollectorParts, "accounting" | "metrics" | "queues" | "spool">,
): DeliveryStep {
  const letters = deadLetterDir(config);
  const deadLetters = letters === null ? null : createDeadLetters(letters, ports.clock.now, ports.ring);
  return createDelivery({ ...ports, deadLetters, onBatch: ports.metrics.onBatch });
}

function createIngest(
  config: CollectorConfig,
  ports: PartsPorts &
    Pick<CollectorParts, "accounting" | "delivery" | "rules" | "spool"> & { readonly onRun: (run: TraceRun) => void },
): Pipeline {
  const translate = createTranslator({
    filterNonGenAi: config.filterNonGenai,
    project: config.project ?? "",
    explain: config.explainAttributes === true,
    drop: ports.rules.drop,
  });
  return createPipeline(pipelineOptions(config, ports.rules), {
    ...ports,
    clock: ports.ageClock,
    translate,
    backendLimits: ports.backend.limits,
    marks: ports.spool,
  });
}

function pipelineOptions(config: CollectorConfig, { sample }: Rules): PipelineOptions {
  const { orphanTimeoutMs, queueBytesMax, spanTtlMs } = config;
  return {
    ...config,
    sample: sample === null ? null : { rules: sample, waitingBytesMax: queueBytesMax / 4 },
    join: {
      ...JOIN_LIMITS,
      spanTtlMs,
      orphanTimeoutMs,
      waitingBytesMax: Math.min(JOIN_LIMITS.waitingBytesMax, queueBytesMax / 4),
      keptBytesMax: Math.min(JOIN_LIMITS.keptBytesMax, queueBytesMax / 8),
    },
    assemble: {
      ...ASSEMBLE_LIMITS,
      spanTtlMs,
      orphanTimeoutMs,
      waitingBytesMax: Math.min(ASSEMBLE_LIMITS.waitingBytesMax, queueBytesMax / 2),
    },
  };
}

/** The intake of memory mode: acknowledges a request when its spans are in the pipeline. */
function memoryIntake(accounting: SpanAccounting, pipeline: Pipeline): Intake {
  return async ({ context, items, signal }) => {
    countReceived(accounting, items, signal);
    const fed = pipeline.feed(items, context, null);
    if (fed !== undefined) await fed;
    return "taken";
  };
}
