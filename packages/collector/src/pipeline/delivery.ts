// Delivery: the second half of the pipeline: takes sealed batches, appends them to the spool when there is one, and
// offers them to their tenant queues. Runs with an invalid place go to the dead letters instead.
import type { Log } from "@holdpoint/base/log/log.ts";
import type { Body } from "../encode/batch-body.ts";
import type { SpanAccounting } from "../shared/span-accounting.ts";
import type { SpanOrigin } from "../shared/span-origin.ts";
import type { PlaceLines, Spool, StoredBatch } from "../spool/port.ts";
import type { DeadLetters } from "../upload/dead-letters.ts";
import type { TenantQueues } from "../upload/tenant-queues.ts";
import type { UploadJob } from "../upload/upload-job.ts";
import { createDeadLettering } from "./dead-lettering.ts";
import { createUploadJobs } from "./upload-jobs.ts";

export interface SealedBatch {
  readonly body: Body;
  readonly places: PlaceLines;
  /** `origins[i]`: the spooled spans of run i. Empty in memory mode. */
  readonly origins: readonly (readonly SpanOrigin[])[];
}

/** One run whose place breaks a rule of dotted-order.ts. */
export interface MisplacedRun {
  readonly body: Body;
  readonly reason: string;
  readonly origins: readonly SpanOrigin[];
}

/** The part that the steps before it use. */
export interface Delivery {
  /** Resolves when the batch is in its tenant queue. */
  readonly deliver: (batch: SealedBatch) => Promise<void>;
  /** Resolves when the run is in the dead letters. */
  readonly reject: (run: MisplacedRun) => Promise<void>;
}

export interface DeliveryPorts {
  readonly log: Log;
  readonly accounting: SpanAccounting;
  readonly queues: Pick<TenantQueues, "offer" | "isFailing">;
  /** null in memory mode. */
  readonly spool: Spool | null;
  /** null without a configured dead-letter folder. */
  readonly deadLetters: DeadLetters | null;
  readonly onBatch: (runs: number, rawBytes: number, bytes: number) => void;
}

export interface DeliveryStep extends Delivery {
  /** Offers the pending runs of a batch of an earlier process. */
  readonly resend: (batch: StoredBatch) => void;
  /** Bytes of batches on their way to the spool. */
  readonly heldBytes: () => number;
  /** Resolves when every batch is in its queue. */
  readonly settled: () => Promise<void>;
  /** Dead-letters the jobs that shutdown leaves undelivered. */
  readonly abandon: (jobs: readonly UploadJob[]) => Promise<void>;
}

export function createDelivery(ports: DeliveryPorts): DeliveryStep {
  const { accounting, log, queues, spool } = ports;
  const deadLetter = createDeadLettering(ports);
  const jobs = createUploadJobs({ accounting, log, spool, deadLetter });
  const active = new Set<Promise<void>>();
  let spoolingBytes = 0;

  function track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => active.delete(tracked));
    active.add(tracked);
    return tracked;
  }

  async function toSpool(to: Spool, { body, places, origins }: SealedBatch): Promise<void> {
    spoolingBytes += body.bytes.length;
    try {
      const stored = await to.appendBatch({ body, places, covers: origins.flat() });
      queues.offer(jobs.inSpool(stored, queues.isFailing(body.tenant.id) ? null : body));
    } catch (error) {
      log.warning("batch_not_spooled", { reason: error instanceof Error ? error.message : "unknown" });
      queues.offer(jobs.inMemory(body, origins));
    } finally {
      spoolingBytes -= body.bytes.length;
    }
  }

  async function toDeadLetters({ body, origins, reason }: MisplacedRun): Promise<void> {
    if (!(await deadLetter({ body, cause: "misplaced", reason }))) return;
    for (const { request, index } of origins) spool?.requestDone(request, [index]);
  }

  return {
    deliver(batch) {
      const { body } = batch;
      ports.onBatch(body.offsets.length, body.rawBytes, body.bytes.length);
      if (spool !== null) return track(toSpool(spool, batch));
      queues.offer(jobs.inMemory(body, []));
      return DONE;
    },
    reject: (run) => track(toDeadLetters(run)),
    resend: (batch) => jobs.recovered(batch).forEach((job) => queues.offer(job)),
    heldBytes: () => spoolingBytes,
    async settled() {
      while (active.size > 0) await Promise.all(active);
    },
    async abandon(left) {
      for (const job of left) {
        const body = await job.load();
        if (body !== null) await job.refused({ body, cause: "shut_down", reason: "not delivered before the end" });
      }
    },
  };
}

const DONE = Promise.resolve();
