// Queue: graphile-worker delivers jobs, each of which says "check this thread"; the claim itself reads the rows.
// It does not use graphile-worker's named queues: fetching a job locks every free named queue. With one per thread each
// fetch would cost as much as there are threads, and hide all of them from the other workers meanwhile. The thread's
// status allows one run per thread at a time, and a unique index enforces it.
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
import { EventEmitter } from "node:events";
import { runTaskList, type WorkerEventMap, type WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { Queue, QueueConsumer, Slot } from "../../../agent/ports/ports.ts";
import type { Clock } from "../../../base/clock.ts";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import type { Log } from "../../../base/log/log.ts";
import { isConnectionLost } from "../client/errors.ts";
import { JOBS_SCHEMA, jobsLogger } from "../schema/graphile-schema.ts";

export interface QueuePorts {
  readonly pool: () => Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Names the pool whose id locks the jobs, for the worker that takes over. */
  readonly onPool: (poolId: string) => void;
}

/** Concurrent fetches: each lasts only as long as a claim. */
const FETCHES_MAX = 4;
/** Poll interval for jobs without a notice, mostly delayed ones. */
const POLL_MS = 1000;
/** One statement marks the jobs that complete within this time. */
const DONE_WAITS_MS = 10;
const AGAIN_MS = 1000;
const STOP_MS = 2000;
const REPAIR_MS = 30_000;
/** After a failed fetch: the database may still execute it. */
const SUSPECT_MS = 10_000;
/** Signals graphile-worker to fetch nothing. */
const NONE = ["none"];

interface Look {
  readonly thread: string;
  readonly due: number | null;
}

export function createJobQueue({ pool, clock, log, onPool }: QueuePorts): Queue {
  let consumer: QueueConsumer | null = null;
  let workers: WorkerPool | null = null;
  let stopping = false;
  /** Slots reserved for fetches in progress. */
  const reserved: Slot[] = [];
  /** Fetches that wait for a slot. */
  let gates: ((flags: string[] | null) => void)[] = [];
  let maybeMore = true;
  let stopRepair: () => void = () => undefined;
  /** Jobs that graphile-worker delivered and that are not complete. */
  const handedOut = new Set<string>();
  let suspectUntil = -Infinity;
  /** Pools whose jobs to unlock: one that ended, or ours after it failed to mark a job as complete. */
  const toUnlock = new Set<string>();

  const gate = (): string[] | null | Promise<string[] | null> => {
    if (stopping || consumer === null) return NONE;
    const slot = consumer.reserve();
    if (slot === null) return new Promise((resolve) => gates.push(resolve)); // engine/queue.1
    reserved.push(slot);
    return null;
  };
  const openGates = (): void => {
    while (gates.length > 0) {
      const slot = stopping ? null : (consumer?.reserve() ?? null);
      if (slot === null && !stopping) return;
      if (slot !== null) reserved.push(slot);
      gates.shift()?.(slot === null ? NONE : null);
    }
  };
  const emptyHanded = (): void => {
    maybeMore = false;
    reserved.pop()?.release();
  };

  /** The job of a delayed run arrives when it is due by the database's clock, which may be ahead of ours. */
  const dueBy = (due: number | null): number | null => (due === null ? null : Math.max(clock.now(), due));

  const look = async ({ thread, due }: Look): Promise<void> => {
    maybeMore = true;
    const slot = reserved.pop() ?? consumer?.reserve() ?? null;
    try {
      if (slot === null) repairSoon();
      else await slot.claim((tx, claim) => tx.claimPendingRun(claim, dueBy(due), thread)); // engine/queue.2
    } catch (error) {
      log.debug("claim_failed", { reason: describeError(error).message });
      if (workers !== null) toUnlock.add(workers.id);
      repairSoon(); // engine/queue.4
    }
  };

  const run = (): void => {
    if (stopping) return;
    const events: EventEmitter = new EventEmitter();
    const on = <Name extends keyof WorkerEventMap>(name: Name, listener: (event: WorkerEventMap[Name]) => void): void =>
      void events.on(name, listener);
    let works = false;
    const fetched = (): void => void (works = true);
    on("job:start", fetched);
    on("worker:getJob:empty", fetched);
    on("worker:getJob:empty", emptyHanded);
    on("worker:getJob:error", emptyHanded);
    on("worker:getJob:error", suspect);
    on("job:start", ({ job }) => void handedOut.add(job.id));
    on("job:complete", ({ job }) => void handedOut.delete(job.id));
    on("worker:getJob:error", () => {
      // engine/queue.5
      if (!works) Promise.resolve(made.gracefulShutdown()).catch(() => undefined); // its own promise reports it
      works = true; // once is enough
    });
    const options = {
      schema: JOBS_SCHEMA,
      events,
      logger: jobsLogger(log),
      forbiddenFlags: gate,
      noHandleSignals: true,
      concurrency: FETCHES_MAX,
      pollInterval: POLL_MS,
      preset: { worker: { completeJobBatchDelay: DONE_WAITS_MS } },
    };
    const made = runTaskList(options, { run: (payload) => look(payload as Look) }, pool());
    workers = made;
    onPool(made.id);
    // It ends when it cannot mark a job as complete. A new one continues in its place.
    const again = (error: unknown): void => {
      if (stopping) return;
      log.warning("jobs_restarted", { reason: error === undefined ? "ended" : describeError(error).message });
      for (const slot of reserved.splice(0)) slot.release();
      toUnlock.add(made.id);
      runSoon();
      repairSoon();
    };
    made.promise.then(again, again);
  };

  const runSoon = (): void => {
    if (!stopping) clock.after(AGAIN_MS, () => void pool().query("SELECT 1").then(run, runSoon)); // engine/queue.5
  };

  const unlock = async (): Promise<void> => {
    if (toUnlock.size === 0) return;
    const ids = [...toUnlock];
    await pool().query(`SELECT ${JOBS_SCHEMA}.force_unlock_workers($1)`, [ids]); // a second job does no harm
    for (const id of ids) toUnlock.delete(id);
  };
  /** engine/queue.7. */
  const suspect = (): void => {
    suspectUntil = clock.monotonic() + SUSPECT_MS;
    repairSoon();
  };
  const findLost = async (): Promise<void> => {
    if (workers === null) return;
    const { rowCount } = await pool().query(LOST, [workers.id, [...handedOut]]);
    if (rowCount !== 0) toUnlock.add(workers.id);
  };
  const repair = async (): Promise<void> => {
    let again = clock.monotonic() < suspectUntil ? AGAIN_MS : REPAIR_MS;
    try {
      await findLost();
      await unlock();
      await pool().query(REPAIR); // engine/queue.4
    } catch (error) {
      log[isConnectionLost(error) ? "debug" : "warning"]("repair_failed", { reason: describeError(error).message });
      again = AGAIN_MS;
    }
    repairIn(again);
  };
  const repairIn = (delayMs: number): void => {
    stopRepair();
    if (!stopping) stopRepair = clock.after(delayMs, () => void repair());
  };
  const repairSoon = (): void => repairIn(AGAIN_MS);

  return {
    next: () => null, // a job brings the slot its next run
    wake: () => undefined, // the job itself wakes an idle process
    slotFree: openGates,
    mayStartDirectly: () => consumer !== null && !maybeMore && gates.length === 0, // engine/queue.3
    async start(given) {
      consumer = given;
      run();
      repairSoon(); // a restored or migrated database has no jobs
    },
    async stop() {
      stopping = true;
      stopRepair();
      openGates();
      const stopped = Promise.resolve(workers?.gracefulShutdown()).catch((error: unknown) =>
        log.debug("job_runner_stop_failed", { reason: describeError(error).message }),
      );
      // engine/queue.6
      if (!(await settlesWithin(stopped, STOP_MS))) log.warning("jobs_not_stopped", { after_ms: STOP_MS });
      consumer = null;
    },
  };
}

/** engine/queue.7. A reply still in flight is not lost. A later one delivers the job twice, which does no harm. */
const LOST = `
  SELECT 1 FROM ${JOBS_SCHEMA}.jobs
  WHERE locked_by = $1 AND locked_at < now() - interval '500 milliseconds' AND id <> ALL($2::bigint[]) LIMIT 1`;

/** Any number unused elsewhere in the database. In SQL it is decimal: PostgreSQL 15 knows no other form. */
const REPAIR_LOCK = 0x686f6c65;

/** First claimable runs of threads without a job; one server at a time checks. */
const REPAIR = `
  WITH lost AS (
    SELECT DISTINCT ON (r.thread_id) r.thread_id, r.run_id, r.due_at, r.urgent
    FROM holdpoint.runs AS r
    WHERE pg_try_advisory_xact_lock(${REPAIR_LOCK}) AND r.status = 'pending'
      AND (r.due_at IS NULL OR r.due_at < extract(epoch FROM now()) * 1000)
      AND NOT EXISTS (SELECT 1 FROM holdpoint.runs AS o WHERE o.thread_id = r.thread_id AND o.status = 'running')
      AND NOT EXISTS (SELECT 1 FROM holdpoint.threads AS t WHERE t.thread_id = r.thread_id AND t.status = 'interrupted')
      AND NOT EXISTS (SELECT 1 FROM ${JOBS_SCHEMA}.jobs AS j WHERE split_part(j.key, '/', 1) = r.run_id AND j.attempts < j.max_attempts
                      AND (j.locked_at IS NULL OR j.locked_at > now() - interval '1 minute'))
    ORDER BY r.thread_id, r.urgent DESC, r.queue_key LIMIT 1000
  )
  SELECT holdpoint.queue_run(l.thread_id, l.run_id, l.due_at, coalesce(w.tenant, ''), l.urgent = 1)
  FROM lost AS l LEFT JOIN holdpoint.waiting AS w USING (run_id)`;
