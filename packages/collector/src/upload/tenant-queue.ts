// Tenant queue: the upload jobs of one tenant, and the upload cycles that work on them.
import type { Clock } from "@holdpoint/base/clock.ts";
import { createQueue } from "@holdpoint/base/queue.ts";
import type { Body } from "../encode/batch-body.ts";
import { freeBuffer } from "../shared/free-buffer.ts";
import type { SendOutcome } from "./backend/port.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";
import type { UploadJob } from "./upload-job.ts";
import type { UploadSlots } from "./upload-slots.ts";
import { upload, type UploadPolicy, type UploadResult } from "./upload.ts";

export interface TenantQueueOptions extends UploadPolicy {
  readonly inflightMax: number;
  readonly retryCooldownMs: number;
  /** Age at which a job is dead-lettered; Infinity in memory mode. */
  readonly ageMaxMs: number;
}

export interface TenantQueuePorts {
  readonly send: (body: Body, signal: AbortSignal) => Promise<SendOutcome>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onRetry: () => void;
  /** The circuit of a tenant opens for `pauseMs`, or closes (reason null). */
  readonly onCircuit: (tenantId: string, reason: string | null, pauseMs: number) => void;
}

/** Sums over all queues. */
export interface QueueTotals {
  cycles: number;
  waitingRuns: number;
  heldBytes: number;
}

/** Shared by all queues. */
export interface QueueContext {
  readonly options: TenantQueueOptions;
  readonly ports: TenantQueuePorts;
  readonly slots: UploadSlots;
  readonly totals: QueueTotals;
  /** Aborts at shutdown: no cycle starts any more. */
  readonly ended: AbortSignal;
  /** The queue has no jobs, no cycles and a closed circuit: ready for removal. */
  readonly onIdle: (tenantId: string) => void;
  /** A cycle ended, and the next job has started. */
  readonly onCycleEnd: () => void;
}

export interface TenantQueue {
  readonly offer: (job: UploadJob) => void;
  readonly heldBytes: () => number;
  readonly isOpen: () => boolean;
  readonly isFailing: () => boolean;
  /** True when no job can start now: there is none, or the circuit is open. */
  readonly isBlocked: () => boolean;
  readonly endPause: () => void;
  /** Starts as many cycles as the limits allow. */
  readonly pump: () => void;
  readonly jobs: () => UploadJob[];
}

export function createTenantQueue(tenantId: string, context: QueueContext): TenantQueue {
  const { ended, options, ports, totals } = context;
  const cyclesMax = Math.max(1, Math.ceil(options.inflightMax / 2));
  const queue = createQueue<UploadJob>();
  let heldBytes = 0;
  let cycles = 0;
  const circuit = createCircuitBreaker(options.retryCooldownMs, {
    clock: ports.clock,
    onChange: (reason, pauseMs) => ports.onCircuit(tenantId, reason, pauseMs),
    onProbe: pump,
  });

  function count(runs: number, bytes: number, cycleChange: -1 | 0 | 1): void {
    totals.waitingRuns += runs;
    totals.heldBytes += bytes;
    heldBytes += bytes;
    totals.cycles += cycleChange;
    cycles += cycleChange;
  }

  function pump(): void {
    const max = circuit.isFailing() ? 1 : cyclesMax;
    while (!circuit.isOpen() && cycles < max && !ended.aborted) {
      const job = queue.shift();
      if (job === undefined) break;
      count(-job.runs, 0, 1);
      void runCycle(job);
    }
    const idle = queue.length === 0 && cycles === 0 && !circuit.isOpen();
    if (idle && !circuit.isFailing()) context.onIdle(tenantId);
  }

  async function runCycle(job: UploadJob): Promise<void> {
    const result = await uploadJob(job, { ...context, send });
    count(0, -job.heldBytes, -1);
    for (const left of result?.left.toReversed() ?? []) {
      const remainder = job.remainder(left);
      queue.unshift(remainder);
      count(remainder.runs, remainder.heldBytes, 0);
    }
    if (result !== null) updateCircuit(result.failure);
    pump();
    context.onCycleEnd();
  }

  function updateCircuit(failure: UploadResult["failure"]): void {
    if (failure === null) circuit.close();
    else if (ended.aborted) circuit.noteFailure();
    else circuit.open(failure.reason, failure.afterMs);
  }

  /** A request holds its slot only during the transfer, not between two attempts. */
  function send(body: Body, signal: AbortSignal): Promise<SendOutcome> {
    return context.slots.use(circuit.isFailing(), async () => {
      const outcome = await ports.send(body, signal);
      if (outcome.kind === "retry") circuit.noteFailure();
      return outcome;
    });
  }

  return {
    offer(job) {
      queue.push(job);
      count(job.runs, job.heldBytes, 0);
      pump();
    },
    heldBytes: () => heldBytes,
    isOpen: circuit.isOpen,
    isFailing: circuit.isFailing,
    isBlocked: () => queue.length === 0 || circuit.isOpen(),
    endPause: circuit.endPause,
    pump,
    jobs: () => [...queue],
  };
}

/** One cycle. Null: the job ended without an upload. */
async function uploadJob(
  job: UploadJob,
  { options, ports, ended, send }: QueueContext & Pick<TenantQueuePorts, "send">,
): Promise<UploadResult | null> {
  const now = ports.clock.now();
  const body = await job.load();
  if (body === null) return null;
  if (now - job.createdMs > options.ageMaxMs) {
    await job.refused({ body, cause: "too_old", reason: "older than a week" });
    return null;
  }
  const result = await upload(body, options, { ...ports, send }, ended);
  for (const sent of result.delivered) {
    job.delivered(sent);
    freeBuffer(sent.bytes);
  }
  for (const refusal of result.refused) await job.refused(refusal);
  return result;
}
