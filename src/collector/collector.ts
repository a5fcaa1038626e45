// Collector: all parts put together as one service.
//   receive → decode → (spool) → translate → assemble → batch → encode → (spool) → upload
// Invariants:
//   CO1. stop() shuts the door first, then empties the line from front to back, and is over within SHUTDOWN_TIMEOUT_MS.
//   CO2. In durable mode whatever is not delivered by then stays in the spool; in memory mode it goes to the dead letters,
//        and without a folder for them it is counted as lost and `lost()` says so.
//   CO3. The last line of the log balances the books.
//   CO4. Setting the machine's clock changes no wait and no age: timers are monotonic, ages come from a steady clock.
import type { Clock } from "../base/clock.ts";
import { ConfigError } from "../base/config.ts";
import type { Service } from "../base/lifecycle.ts";
import type { Log } from "../base/log.ts";
import { isLoopbackAddress } from "../http/browser.ts";
import { createHttpService, type HttpService } from "../http/server.ts";
import { createAdmission } from "./receive/memory-admission.ts";
import { ASSEMBLE_LIMITS } from "./assemble/assemble.ts";
import type { Backend } from "./upload/backend/port.ts";
import { createBooks, pendingOf, sumOf, type Books } from "./shared/span-accounting.ts";
import { createDeadLetters } from "./upload/dead-letters.ts";
import { createDurableIntake, type DurableIntake } from "./pipeline/durable-intake.ts";
import { createLanes } from "./upload/tenant-queues.ts";
import { createMetrics, type CollectorMetrics } from "./metrics.ts";
import { createPipeline } from "./pipeline/pipeline.ts";
import { createQuietLog } from "./quiet-log.ts";
import { createReceiver, type Intake } from "./receive/http-receiver.ts";
import { isHeaderSafe } from "./receive/request-head.ts";
import { type CollectorConfig, deadLetterDir, decompressedBytesMax } from "./settings.ts";
import type { FilePort } from "./spool/file-port.ts";
import { lockSpool, SpoolInUseError, type SpoolLock } from "./spool/lock.ts";
import { createSpool } from "./spool/spool.ts";
import { steady } from "./steady-clock.ts";
import { createTenants } from "./shared/tenants.ts";
import { createTranslator } from "./translate/translate.ts";

export interface CollectorPorts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  /** What the spool writes through. */
  readonly files: FilePort;
  readonly random: () => number;
}

export interface Collector extends Service {
  address(): { readonly host: string; readonly port: number };
  readonly books: Readonly<Books>;
  /** Spans that were acknowledged and are gone: makes main exit with 1. */
  readonly lost: () => number;
}

const SEGMENT_BYTES_MAX = 32 * 1024 * 1024;
/** Of SHUTDOWN_TIMEOUT_MS, what is kept for writing down the rest. */
const FINAL_WRITES_MS = 2000;
const RETRY_AFTER_SECONDS = 1;
/** One line of the tree log: ids and a few segments of the order. */
const TREE_BYTES_A_RUN = 256;

/** @throws {ConfigError} when settings do not fit together. */
export function createCollector(config: CollectorConfig, ports: CollectorPorts): Collector {
  checkConfig(config);
  const { backend, clock } = ports;
  const log = createQuietLog(ports.log, clock);
  const ages = steady(clock); // CO4
  const books = createBooks();
  const tenants = createTenants();
  const letters = deadLetterDir(config);
  let stopping = false;
  let lock: SpoolLock | null = null;
  const metricsHolder: { current: CollectorMetrics | null } = { current: null };
  const onMetric = (): CollectorMetrics | null => metricsHolder.current;

  const lanes = createLanes(
    {
      ...config,
      inflightMax: config.inflightUploadsMax,
      ageMaxMs: config.spoolDir === null ? Infinity : config.spoolAgeMaxMs,
    },
    {
      clock: ages,
      random: ports.random,
      onRetry: () => onMetric()?.onRetry(),
      onProgress: () => durable?.pump(),
      onRest: (tenant, reason, restMs) => logRest(log, tenant, reason, restMs),
      async send(body, signal) {
        const started = clock.monotonic();
        const outcome = await backend.send(body, signal);
        onMetric()?.onUpload(outcome.kind, (clock.monotonic() - started) / 1000);
        return outcome;
      },
    },
  );
  const spool =
    config.spoolDir === null
      ? null
      : createSpool(
          {
            dir: config.spoolDir,
            segmentBytesMax: Math.min(SEGMENT_BYTES_MAX, Math.max(65_536, config.spoolBytesMax / 16)),
            // A small spool remembers fewer places, so that they never fill it.
            treeSegmentBytesMax: Math.min(SEGMENT_BYTES_MAX / 4, Math.max(65_536, config.spoolBytesMax / 32)),
            treeRunsKept: Math.min(ASSEMBLE_LIMITS.nodesMax, Math.floor(config.spoolBytesMax / 16 / TREE_BYTES_A_RUN)),
            treeAgeMs: config.spanTtlMs,
          },
          { files: ports.files, clock: ages, log, books: () => books, tenantOf: tenants.of },
        );
  const pipeline = createPipeline(
    {
      ...config,
      assemble: {
        ...ASSEMBLE_LIMITS,
        spanTtlMs: config.spanTtlMs,
        orphanTimeoutMs: config.orphanTimeoutMs,
        waitingBytesMax: Math.min(ASSEMBLE_LIMITS.waitingBytesMax, config.queueBytesMax / 2),
      },
    },
    {
      clock: ages,
      log,
      books,
      lanes,
      spool,
      translate: createTranslator({
        filterNonGenAi: config.filterNonGenai,
        genericOtel: config.genericOtelEnabled,
        project: config.project ?? "",
      }),
      backendLimits: backend.limits,
      deadLetters: letters === null ? null : createDeadLetters(letters, clock.now),
      onBatch: (runs, rawBytes, bytes) => onMetric()?.onBatch(runs, rawBytes, bytes),
    },
  );
  const admission = createAdmission({
    bytesMax: config.queueBytesMax,
    heldBytes: () => pipeline.heldBytes() + lanes.heldBytes(),
    heldBytesOf: (tenantId) => pipeline.heldBytesOf(tenantId) + lanes.heldBytesOf(tenantId),
  });
  const heldBytes = (): number => admission.transitBytes() + pipeline.heldBytes() + lanes.heldBytes();
  const durable: DurableIntake | null =
    spool === null
      ? null
      : createDurableIntake(
          {
            spoolBytesMax: config.spoolBytesMax,
            feedBytesMax: config.queueBytesMax * 0.75,
            bodyBytesMax: config.bodyBytesMax,
          },
          { spool, pipeline, books, log, clock, heldBytes: () => pipeline.heldBytes() + lanes.heldBytes() },
        );
  const metrics = createMetrics({
    books,
    assemble: pipeline.stats,
    queueBytes: heldBytes,
    queueBytesMax: config.queueBytesMax,
    waitingRuns: lanes.waiting,
    inflight: lanes.inflight,
    restingKeys: lanes.resting,
    spoolBytes: spool === null ? null : spool.bytes,
  });
  metricsHolder.current = metrics;

  const unwritable = (): string | null => {
    const reason = lock?.problem() ?? spool?.failure() ?? null;
    return reason === null ? null : `the spool cannot be written: ${reason}`;
  };
  const inMemory: Intake = async ({ decoded, context }) => {
    books.received += decoded.spans.length + decoded.rejected;
    books.rejected += decoded.rejected;
    await pipeline.feed(decoded.spans, context, null);
    return "taken";
  };
  const http = createHttpService({
    name: "collector",
    host: config.host,
    port: config.httpPort,
    limits: { drainMs: Math.min(10_000, config.shutdownTimeoutMs / 2), requestTimeoutMs: 300_000 },
    listener: createReceiver(
      {
        apiKey: config.apiKey,
        ingestToken: config.ingestToken,
        bodyBytesMax: config.bodyBytesMax,
        decompressedBytesMax: decompressedBytesMax(config),
        hosts: { loopback: isLoopbackAddress(config.host), allowed: config.allowedHosts },
        corsOrigins: (config.corsOrigins ?? "").split(",").map((origin) => origin.trim()),
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
      {
        clock,
        log,
        admission,
        tenants: tenants.of,
        intake: async (request) => {
          if (request.decoded.mendedTexts > 0) metrics.onMendedTexts(request.decoded.mendedTexts);
          if (durable === null) return inMemory(request);
          return unwritable() === null ? durable.take(request) : "unwritable";
        },
        notReady: () => (stopping ? "the collector is stopping" : unwritable()),
        metrics: metrics.show,
        onReply: metrics.onReply,
      },
    ),
  });

  async function start(): Promise<void> {
    if (config.deadLetterDir !== null) await openFolder("DEAD_LETTER_DIR", config.deadLetterDir, ports.files.makeDir);
    if (config.spoolDir !== null && spool !== null && durable !== null) {
      await openFolder("SPOOL_DIR", config.spoolDir, ports.files.makeDir);
      lock = await openFolder("SPOOL_DIR", config.spoolDir, (dir) => lockSpool(dir, clock, log));
      try {
        const recovered = await spool.recover();
        metrics.onBadRecords(recovered.badRecords);
        durable.resume(recovered);
      } catch (error) {
        lock.release();
        throw error;
      }
    }
    await http.start();
    logStart(config, http, log, letters);
  }

  async function stop(): Promise<void> {
    stopping = true; // CO1
    const deadline = new AbortController();
    const cancel = clock.after(Math.max(0, config.shutdownTimeoutMs - FINAL_WRITES_MS), () => deadline.abort());
    await http.stop();
    await durable?.settle(deadline.signal);
    await pipeline.flush();
    await lanes.drain(deadline.signal);
    cancel();
    const left = await lanes.empty();
    if (spool === null) await pipeline.giveUp(left); // CO2
    await spool?.close();
    backend.close();
    lock?.release();
    log.flush();
    log.info("collector_stopped", { ...booksLine(books), mode: spool === null ? "memory" : "durable" }); // CO3
  }

  const stopMs = config.shutdownTimeoutMs + FINAL_WRITES_MS;
  return {
    name: "collector",
    start,
    stop,
    stopMs,
    address: () => http.address(),
    books,
    lost: () => sumOf(books.lost),
  };
}

function checkConfig(config: CollectorConfig): void {
  if (config.apiKey !== null && !isHeaderSafe(config.apiKey))
    throw new ConfigError([{ name: "TRACING_API_KEY", reason: "has characters that no header may have (not shown)" }]);
}

/** @throws {ConfigError} with the name of the setting when the folder cannot be used. */
async function openFolder<T>(name: string, dir: string, open: (dir: string) => T | Promise<T>): Promise<T> {
  try {
    return await open(dir);
  } catch (error) {
    if (error instanceof SpoolInUseError) throw error;
    const reason = `${dir} cannot be used: ${error instanceof Error ? error.message : "unknown"}`;
    throw new ConfigError([{ name, reason }]);
  }
}

function logRest(log: Log, tenant: string, reason: string | null, restMs: number): void {
  if (reason === null) log.info("uploads_recovered", { tenant: tenant.slice(0, 8) });
  else log.warning("uploads_rest", { tenant: tenant.slice(0, 8), reason, rest_ms: Math.round(restMs) });
}

function logStart(config: CollectorConfig, http: HttpService, log: Log, letters: string | null): void {
  const { host, port } = http.address();
  log.info("collector_started", {
    address: `http://${host}:${port}/v1/traces`,
    endpoint: config.endpoint,
    mode: config.spoolDir === null ? "memory" : "durable",
    crash_loses: config.spoolDir === null ? `at most ${config.queueBytesMax} bytes of acknowledged spans` : "nothing",
    ...(config.spoolDir === null ? {} : { spool_dir: config.spoolDir, spool_max_bytes: config.spoolBytesMax }),
    dead_letter_dir: letters ?? "none: what is given up is lost",
    batch_size: config.batchSize,
    flush_interval_ms: config.flushIntervalMs,
    max_queue_bytes: config.queueBytesMax,
    max_body_bytes: config.bodyBytesMax,
    max_decompressed_bytes: decompressedBytesMax(config),
  });
  const open = !isLoopbackAddress(config.host);
  if (open && config.apiKey !== null && config.ingestToken === null)
    log.warning("open_relay", {
      reason: "TRACING_API_KEY is set and INGEST_TOKEN is not: whoever reaches this address sends with your key",
    });
}

function booksLine(books: Books): Readonly<Record<string, number>> {
  return {
    received: books.received,
    delivered: books.delivered,
    pending: pendingOf(books),
    rejected: books.rejected,
    filtered: books.filtered,
    duplicates: books.duplicates,
    dead_lettered: sumOf(books.deadLettered),
    lost: sumOf(books.lost),
  };
}
