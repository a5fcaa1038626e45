// Queue: graphile-worker delivers jobs, each of which says "check this thread"; the claim itself reads the rows.
// It does not use graphile-worker's named queues: fetching a job locks every free named queue. With one per thread each
// fetch would cost as much as there are threads, and hide all of them from the other workers meanwhile. The thread's
// status allows one run per thread at a time, and a unique index enforces it.
// The pieces:
//   job-slots.ts   the slots of fetches, and the state of the queue
//   job-pool.ts    graphile-worker's pool, and its replacement
//   job-repair.ts  runs without a job, and jobs without a process
//   queue.ts       the port over them
// Invariants:
//   engine/queue.1. A job is fetched only into a slot reserved for it: no job waits in a busy process while another is
//        idle.
//   engine/queue.2. A job is complete after the check of its thread. The claim is the run's row, not the job.
//   engine/queue.3. A free slot goes to the queue first, until a fetch finds it empty: new runs do not overtake waiting
//        ones.
//   engine/queue.4. A lost job (its worker died at the wrong moment) is created again: a check for claimable runs
//        without a job runs periodically, and soon after a failure here. Therefore graphile-worker does not retry a
//        failed job; its pauses grow with every failure.
//   engine/queue.5. A pool whose first query fails never finds a job: it caches that failure as the ids of its tasks.
//        So a new pool starts after the database is reachable, and one with a cached failure gives way to the next.
//   engine/queue.6. Stopping has a limit: graphile-worker tries up to twenty times to mark jobs as complete, with
//        pauses of up to 30 seconds. A job left unmarked is one job too many, which does no harm.
//   engine/queue.7. The queue keeps track of delivered jobs. A job that is locked for this process but was not
//        delivered was lost with the reply to its fetch. After a failed fetch the check for such jobs runs each second,
//        otherwise with engine/queue.4.
//   engine/queue.8. A pool that begins to end is replaced after END_MS at the latest. When it fails to mark jobs twice
//        at the same time, graphile-worker counts them wrongly, and the end of its pool never comes.
//   engine/queue.9. A run that enters an empty queue is claimed at its notice, in a free slot, without the fetch of its
//        job, which then has no effect. A lost notice costs the time of the fetch.
//   engine/queue.10. A fetch in an empty queue gives way to the claim at the notice, which would wait for its work.
import type { Queue } from "../../../agent/ports/ports.ts";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import { startPool } from "./job-pool.ts";
import { repairSoon } from "./job-repair.ts";
import { type JobQueue, type QueuePorts, openGates } from "./job-slots.ts";

const STOP_MS = 2000;

export function createJobQueue(ports: QueuePorts): Queue {
  const queue: JobQueue = {
    ports,
    consumer: null,
    workers: null,
    stopping: false,
    reserved: [],
    gates: [],
    maybeMore: true,
    stopRepair: () => undefined,
    handedOut: new Set(),
    claims: new Set(),
    suspectUntil: -Infinity,
    toUnlock: new Set(),
  };
  return {
    next: () => null, // a job brings the slot its next run
    wake: () => undefined, // the job itself wakes an idle process
    slotFree: () => openGates(queue),
    mayStartDirectly: () => mayOvertake(queue),
    async start(consumer) {
      queue.consumer = consumer;
      ports.onQueued((threadId) => claimAtNotice(queue, threadId));
      startPool(queue);
      repairSoon(queue); // a restored or migrated database has no jobs
    },
    stop: () => stopQueue(queue),
  };
}

/** engine/queue.3. */
function mayOvertake({ consumer, maybeMore, gates, stopping }: JobQueue): boolean {
  return consumer !== null && !stopping && !maybeMore && gates.length === 0;
}

/** engine/queue.9. */
function claimAtNotice(queue: JobQueue, threadId: string): void {
  const slot = mayOvertake(queue) ? (queue.consumer?.reserve() ?? null) : null;
  if (slot === null) return;
  const claim = slot
    .claim((tx, by) => tx.claimPendingRun(by, null, threadId))
    .catch((error: unknown) => {
      queue.ports.log.debug("claim_failed", { reason: describeError(error).message });
      repairSoon(queue); // engine/queue.4
    })
    .finally(() => queue.claims.delete(claim));
  queue.claims.add(claim);
}

async function stopQueue(queue: JobQueue): Promise<void> {
  const { log } = queue.ports;
  queue.stopping = true;
  queue.stopRepair();
  openGates(queue);
  const jobsStopped = Promise.resolve(queue.workers?.gracefulShutdown()).catch((error: unknown) =>
    log.debug("job_runner_stop_failed", { reason: describeError(error).message }),
  );
  const stopped = Promise.all([jobsStopped, ...queue.claims]);
  // engine/queue.6
  if (!(await settlesWithin(stopped, STOP_MS))) log.warning("jobs_not_stopped", { after_ms: STOP_MS });
  queue.consumer = null;
}
