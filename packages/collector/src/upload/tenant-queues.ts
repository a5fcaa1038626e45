// Tenant queues: one queue per tenant between sealing and upload, so that a failing tenant delays no other.
// Invariants:
//   - The jobs of a queue start in the order of their arrival.
//   - A queue whose cycle ended without delivery opens its circuit: for 30 seconds, doubled each time up to
//     COOLDOWN_MS_MAX, or for the delay that the backend requested. Then it admits one cycle at a time until one
//     succeeds.
//   - A queue never holds more than half of the slots; all failing queues together never hold more than a quarter.
//   - Every run of a job has one outcome: delivered, refused, or back in the queue.
import { createTenantQueue, type QueueContext, type QueueTotals, type TenantQueue } from "./tenant-queue.ts";
import type { TenantQueueOptions, TenantQueuePorts } from "./tenant-queue.ts";
import type { UploadJob } from "./upload-job.ts";
import { createUploadSlots } from "./upload-slots.ts";

export interface TenantQueues {
  readonly offer: (job: UploadJob) => void;
  readonly heldBytes: () => number;
  readonly countHeldBytes: (tenantId: string) => number;
  readonly waitingRuns: () => number;
  readonly inflight: () => number;
  /** Number of tenants whose circuit is open. */
  readonly openCircuits: () => number;
  readonly isFailing: (tenantId: string) => boolean;
  /** Ends all pauses for one more cycle. Resolves when no job can start and no cycle runs, or at the signal. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  /** Ends all cycles and returns the remaining jobs. */
  readonly close: () => Promise<UploadJob[]>;
}

export function createTenantQueues(options: TenantQueueOptions, ports: TenantQueuePorts): TenantQueues {
  const queues = new Map<string, TenantQueue>();
  const ended = new AbortController();
  const slots = createUploadSlots(options.inflightMax);
  const totals: QueueTotals = { cycles: 0, waitingRuns: 0, heldBytes: 0 };
  const watchers = new Set<() => void>();
  const context: QueueContext = {
    options,
    ports,
    slots,
    totals,
    ended: ended.signal,
    onIdle: (tenantId) => queues.delete(tenantId),
    onCycleEnd: () => watchers.forEach((check) => check()),
  };

  function findQueue(tenantId: string): TenantQueue {
    let queue = queues.get(tenantId);
    if (queue === undefined) {
      queue = createTenantQueue(tenantId, context);
      queues.set(tenantId, queue);
    }
    return queue;
  }

  const isIdle = (): boolean => totals.cycles === 0 && [...queues.values()].every((queue) => queue.isBlocked());

  /** Resolves when `condition` holds after a cycle, or at the signal. */
  function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition() && !signal.aborted) return;
        watchers.delete(check);
        signal.removeEventListener("abort", check);
        resolve();
      };
      watchers.add(check);
      signal.addEventListener("abort", check);
      check();
    });
  }

  return {
    offer: (job) => findQueue(job.tenantId).offer(job),
    heldBytes: () => totals.heldBytes,
    countHeldBytes: (tenantId) => queues.get(tenantId)?.heldBytes() ?? 0,
    waitingRuns: () => totals.waitingRuns,
    inflight: slots.inUse,
    openCircuits: () => [...queues.values()].filter((queue) => queue.isOpen()).length,
    isFailing: (tenantId) => queues.get(tenantId)?.isFailing() ?? false,
    async drain(signal) {
      for (const queue of queues.values()) {
        queue.endPause();
        queue.pump();
      }
      await until(isIdle, signal);
    },
    async close() {
      ended.abort();
      for (const queue of queues.values()) queue.endPause();
      slots.releaseAll();
      await until(() => totals.cycles === 0, NEVER);
      return [...queues.values()].flatMap((queue) => queue.jobs());
    },
  };
}

const NEVER = new AbortController().signal;
