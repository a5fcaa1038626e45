// Seal batch: compresses a full batch, appends it to the spool when there is one, and offers it to its tenant queue.
// Runs with an invalid place go to the dead letters instead.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log/log.ts";
import { type Body, compress } from "../encode/batch-body.ts";
import { encodeRun } from "../encode/encode-run.ts";
import { BOUNDARY } from "../encode/multipart.ts";
import type { TraceRun } from "../shared/trace-run.ts";
import type { Spool } from "../spool/port.ts";
import type { BackendLimits } from "../upload/backend/port.ts";
import type { TenantQueues } from "../upload/tenant-queues.ts";
import type { OpenBatch } from "./batch.ts";
import type { DeadLetter } from "./dead-lettering.ts";
import type { UploadJobs } from "./upload-jobs.ts";

export interface SealPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly queues: Pick<TenantQueues, "offer" | "isFailing">;
  readonly backendLimits: () => BackendLimits;
  readonly spool: Spool | null;
  readonly jobs: UploadJobs;
  readonly deadLetter: DeadLetter;
  readonly onBatch: (runs: number, rawBytes: number, bytes: number) => void;
}

export interface Sealer {
  readonly seal: (batch: OpenBatch) => void;
  /** Dead-letters one run whose place breaks the rule `fault` of dotted-order.ts. */
  readonly rejectRun: (run: TraceRun, fault: string) => void;
  /** Uncompressed bytes of batches during sealing. */
  readonly heldBytes: () => number;
  /** Resolves when every sealed batch is in its queue. */
  readonly settled: () => Promise<void>;
}

export function createSealer(ports: SealPorts, zstdLevel: number): Sealer {
  const { deadLetter, jobs, queues, spool } = ports;
  const sealing = new Set<Promise<void>>();
  let sealingBytes = 0;

  function track(work: Promise<void>, onEnd: () => void): void {
    const tracked = work.finally(() => {
      onEnd();
      sealing.delete(tracked);
    });
    sealing.add(tracked);
  }

  async function offer(batch: OpenBatch, compressed: Body | Promise<Body>, rawBytes: number): Promise<void> {
    const body = compressed instanceof Promise ? await compressed : compressed;
    batch.writer.release();
    ports.onBatch(batch.runs.length, rawBytes, body.bytes.length);
    if (spool === null) return queues.offer(jobs.inMemory(body, []));
    try {
      const stored = await spool.appendBatch({ body, places: batch.runs, covers: batch.origins.flat() });
      queues.offer(jobs.inSpool(stored, queues.isFailing(body.tenant.id) ? null : body));
    } catch (error) {
      ports.log.warning("batch_not_spooled", { reason: error instanceof Error ? error.message : "unknown" });
      queues.offer(jobs.inMemory(body, batch.origins)); // pipeline.2
    }
  }

  async function deadLetterRun(run: TraceRun, reason: string): Promise<void> {
    const body = await encodeRun(run, { createdMs: ports.clock.now(), encoding: "identity", zstdLevel });
    await deadLetter({ body, cause: "misplaced", reason });
    for (const { request, index } of run.span.origins) spool?.requestDone(request, [index]);
  }

  return {
    seal(batch) {
      const { tenant, createdMs, writer } = batch;
      const rawBytes = writer.bytes();
      const { offsets } = writer;
      const raw = { tenant, createdMs, boundary: BOUNDARY, bytes: writer.close(), rawBytes, offsets, first: 0 };
      const body = compress(raw, ports.backendLimits().encoding, zstdLevel);
      sealingBytes += rawBytes;
      track(offer(batch, body, rawBytes), () => (sealingBytes -= rawBytes));
    },
    rejectRun: (run, fault) => track(deadLetterRun(run, `its place breaks ${fault}`), () => undefined),
    heldBytes: () => sealingBytes,
    async settled() {
      while (sealing.size > 0) await Promise.all(sealing);
    },
  };
}
