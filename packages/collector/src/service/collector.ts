// Collector: all steps connected as one service.
//   receive → redact → decode → (spool) → join → translate → assemble → batch → encode → (spool) → upload
// Invariants:
//   - stop() closes the receiver first, then drains the steps from first to last. It ends within SHUTDOWN_TIMEOUT_MS.
//   - In durable mode undelivered runs stay in the spool. In memory mode they go to the dead letters; without a
//     dead-letter folder they count as lost, and `lost()` reports them. So do spans of a request that is still being
//     read at the end.
//   - The last log line contains the span accounting.
//   - A change of the machine's clock affects no wait and no age: timers are monotonic, ages use a steady clock.
import { type Clock, steady } from "@holdpoint/base/clock.ts";
import { ConfigError } from "@holdpoint/base/config/config.ts";
import type { Service } from "@holdpoint/base/lifecycle.ts";
import type { Keyring } from "@holdpoint/base/keyring.ts";
import type { Log } from "@holdpoint/base/log/log.ts";
import { type CollectorParts, createParts } from "./collector-parts.ts";
import { createDeduplicatingLog } from "@holdpoint/base/log/deduplicating-log.ts";
import { createServers } from "./collector-servers.ts";
import { isHeaderSafe } from "../receive/request-head.ts";
import { checkKeys } from "./check-keys.ts";
import type { CollectorConfig } from "./settings.ts";
import { countPending, type SpanAccounting, sumCounts } from "../shared/span-accounting.ts";
import type { FilePort } from "../spool/disk/file-port.ts";
import type { Spool } from "../spool/port.ts";
import { logStart, logStop } from "./start-stop-log.ts";
import { timeLimit } from "../shared/time-limit.ts";
import type { Backend } from "../upload/backend/port.ts";
import { guardFiles } from "@holdpoint/base/files/file-guard.ts";
import { lockFile } from "@holdpoint/base/files/file-lock.ts";

export interface CollectorPorts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  /** The files of the spool. */
  readonly files: FilePort;
  readonly random: () => number;
  /** Keys of the files; null without encryption. */
  readonly ring: Keyring | null;
}

export interface Collector extends Service {
  address(): { readonly host: string; readonly port: number };
  /** null: GRPC_PORT is not set. */
  grpcAddress(): { readonly host: string; readonly port: number } | null;
  readonly accounting: Readonly<SpanAccounting>;
  /** Acknowledged spans that the collector lost: above 0, main exits with 1. */
  readonly lost: () => number;
}

/** Part of SHUTDOWN_TIMEOUT_MS, reserved for the final writes: at most half of it. */
const FINAL_WRITES_MS = 2000;

/** @throws {ConfigError} when settings contradict each other. */
export function createCollector(config: CollectorConfig, ports: CollectorPorts): Collector {
  checkConfig(config);
  const { backend, clock } = ports;
  const log = createDeduplicatingLog(ports.log, clock);
  const parts = createParts(config, { ...ports, ageClock: steady(clock), log });
  const { accounting, delivery, durable, forwarder, pipeline, queues, spool } = parts;
  let stopping = false;
  let lock: SpoolLock | null = null;
  let stopChecks: () => void = () => undefined;
  const unwritable = (): string | null => {
    const reason = lock?.problem() ?? spool?.failure() ?? null;
    return reason === null ? null : `the spool cannot be written: ${reason}`;
  };
  const servers = createServers(config, { clock, log, parts, isStopping: () => stopping, unwritable });

  async function stop(): Promise<void> {
    stopping = true;
    const finalMs = Math.min(FINAL_WRITES_MS, config.shutdownTimeoutMs / 2);
    const delivering = timeLimit(clock, config.shutdownTimeoutMs - finalMs);
    await servers.stop();
    await durable?.settled(delivering.signal);
    await pipeline.flush();
    await delivery.settled();
    const { signal } = delivering;
    const [, unforwarded = 0] = await Promise.all([queues.drain(signal), forwarder?.stop(signal)]);
    if (unforwarded > 0) log.warning("forward_lost", { requests: unforwarded });
    delivering.cancel();
    stopChecks();
    const left = await queues.close();
    if (spool === null) await delivery.abandon(left);
    if (spool === null) loseRest(accounting, log);
    await spool?.close();
    backend.close();
    lock?.release();
    log.flush();
    logStop(log, accounting, spool === null ? "memory" : "durable");
  }

  return {
    name: "collector",
    stop,
    stopMs: config.shutdownTimeoutMs + FINAL_WRITES_MS,
    async start() {
      if (config.deadLetterDir !== null) await openFolder("DEAD_LETTER_DIR", config.deadLetterDir, ports.files.makeDir);
      if (config.spoolDir !== null) {
        await openFolder("SPOOL_DIR", config.spoolDir, ports.files.makeDir);
        lock = await openFolder("SPOOL_DIR", config.spoolDir, (dir) => lockSpool(dir, clock, log));
      }
      await holding(lock, async () => {
        await checkKeys(config, { ...ports, log });
        await recoverSpool(parts);
      });
      if (spool !== null) stopChecks = checkSegments(spool, clock);
      await forwarder?.start();
      await servers.start();
      logStart(log, config, servers.address(), servers.grpcAddress());
    },
    address: () => servers.address(),
    grpcAddress: () => servers.grpcAddress(),
    accounting,
    lost: () => sumCounts(accounting.lost),
  };
}

function loseRest(accounting: SpanAccounting, log: Log): void {
  const items = countPending(accounting);
  if (items === 0) return;
  accounting.lost.shut_down += items;
  log.error("items_lost", { items, reason: "not processed before the end" });
}

const CHECK_MS = 1000;

/** Looks for deleted segments now and then. @returns ends that */
function checkSegments(spool: Pick<Spool, "checkSegments">, clock: Clock): () => void {
  let stopped = false;
  let cancel: () => void = () => undefined;
  const plan = (): void => {
    if (!stopped) cancel = clock.after(CHECK_MS, () => void spool.checkSegments().finally(plan));
  };
  plan();
  return () => {
    stopped = true;
    cancel();
  };
}

/** Releases the lock if the work fails. */
async function holding(lock: SpoolLock | null, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function recoverSpool({ durable, metrics, spool }: CollectorParts): Promise<void> {
  const recovered = await spool?.recover();
  if (recovered === undefined) return;
  metrics.onBadRecords(recovered.badRecords);
  durable?.resume(recovered);
}

function checkConfig(config: CollectorConfig): void {
  if (config.apiKey !== null && !isHeaderSafe(config.apiKey))
    throw new ConfigError([{ name: "TRACING_API_KEY", reason: "has characters that no header may have (not shown)" }]);
}

/** @throws {ConfigError} with the name of the setting when the folder is not usable. */
async function openFolder<T>(name: string, dir: string, open: (dir: string) => T | Promise<T>): Promise<T> {
  try {
    return await open(dir);
  } catch (error) {
    if (error instanceof SpoolInUseError) throw error;
    const reason = `${dir} cannot be used: ${error instanceof Error ? error.message : "unknown"}`;
    throw new ConfigError([{ name, reason }]);
  }
}

/**
 * One process a spool (file-lock.ts). Deleting the lock file would admit a second process; a guard detects that
 * (file-guard.ts).
 */
interface SpoolLock {
  /** Null while the lock file is in its place; else the reason why writes must stop. */
  readonly problem: () => string | null;
  release(): void;
}

export class SpoolInUseError extends Error {
  constructor(dir: string) {
    super(`another process uses the spool in ${dir}: stop it, or set another SPOOL_DIR`);
    this.name = "SpoolInUseError";
  }
}

/** @throws {SpoolInUseError} */
export function lockSpool(dir: string, clock: Clock, log: Log): SpoolLock {
  const lock = lockFile(`${dir}/lock`);
  if (lock === null) throw new SpoolInUseError(dir);
  const guard = guardFiles([`${dir}/lock`], clock, log);
  return {
    problem: guard.problem,
    release() {
      guard.stop();
      lock.release();
    },
  };
}
