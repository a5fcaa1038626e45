// Job pool: graphile-worker's pool of fetches, each with a slot, and its replacement when it ends.
import { EventEmitter } from "node:events";
import { runTaskList, type WorkerEventMap } from "graphile-worker";
import { describeError } from "../../../base/api-error.ts";
import { settlesWithin } from "../../../base/lifecycle.ts";
import { JOBS_SCHEMA, jobsLogger } from "../schema/graphile-schema.ts";
import { AGAIN_MS, repairSoon, suspectLostJobs } from "./job-repair.ts";
import { type JobQueue, releaseSlot, reserveSlot } from "./job-slots.ts";

/** Concurrent fetches: each lasts only as long as a claim. */
const FETCHES_MAX = 4;
/** Poll interval for jobs without a notice, mostly delayed ones. */
const POLL_MS = 1000;
/** One statement marks the jobs that complete within this time. */
const DONE_WAITS_MS = 10;
/** Time for the end of a pool. */
const END_MS = 2000;

interface ThreadCheck {
  readonly thread: string;
  readonly due: number | null;
}

export function startPool(queue: JobQueue): void {
  if (queue.stopping) return;
  const { pool, log, onPool } = queue.ports;
  const events: EventEmitter = new EventEmitter();
  const options = {
    schema: JOBS_SCHEMA,
    events,
    logger: jobsLogger(log),
    forbiddenFlags: () => reserveSlot(queue),
    noHandleSignals: true,
    concurrency: FETCHES_MAX,
    pollInterval: POLL_MS,
    preset: { worker: { completeJobBatchDelay: DONE_WAITS_MS } },
  };
  followFetches(queue, events, () => made.gracefulShutdown());
  const made = runTaskList(options, { run: (payload) => checkThread(queue, payload as ThreadCheck) }, pool());
  queue.workers = made;
  onPool(made.id);
  let isReplaced = false;
  const again = (error: unknown): void => {
    if (!isReplaced) replacePool(queue, made.id, error);
    isReplaced = true;
  };
  const ended = made.promise.then(again, again);
  events.on("pool:gracefulShutdown", () => {
    void settlesWithin(ended, END_MS).then((isEnded) => {
      if (!isEnded) again(new Error(`its end took more than ${END_MS} ms`)); // engine/queue.8
    });
  });
}

/** @param endPool engine/queue.5 */
function followFetches(queue: JobQueue, events: EventEmitter, endPool: () => unknown): void {
  const on = <Name extends keyof WorkerEventMap>(name: Name, listener: (event: WorkerEventMap[Name]) => void): void =>
    void events.on(name, listener);
  let works = false;
  on("job:start", ({ job }) => {
    works = true;
    queue.handedOut.add(job.id);
  });
  on("job:complete", ({ job }) => void queue.handedOut.delete(job.id));
  on("worker:getJob:empty", () => {
    works = true;
    releaseSlot(queue);
  });
  on("worker:getJob:error", () => {
    releaseSlot(queue);
    suspectLostJobs(queue);
    if (!works) Promise.resolve(endPool()).catch(() => undefined); // engine/queue.5; its own promise reports it
    works = true; // once is enough
  });
}

/** A pool ends when it cannot mark a job as complete, or never does. A new one continues in its place. */
function replacePool(queue: JobQueue, poolId: string, error: unknown): void {
  if (queue.stopping) return;
  const reason = error === undefined ? "ended" : describeError(error).message;
  queue.ports.log.warning("jobs_restarted", { reason });
  for (const slot of queue.reserved.splice(0)) slot.release();
  queue.toUnlock.add(poolId);
  startPoolSoon(queue);
  repairSoon(queue);
}

function startPoolSoon(queue: JobQueue): void {
  const { clock, pool } = queue.ports;
  const start = (): void => startPool(queue);
  const retry = (): void => startPoolSoon(queue);
  if (!queue.stopping) clock.after(AGAIN_MS, () => void pool().query("SELECT 1").then(start, retry)); // engine/queue.5
}

async function checkThread(queue: JobQueue, { thread, due }: ThreadCheck): Promise<void> {
  const { clock, log } = queue.ports;
  queue.maybeMore = true;
  const slot = queue.reserved.pop() ?? queue.consumer?.reserve() ?? null;
  // The job of a delayed run arrives when it is due by the database's clock, which may be ahead of ours.
  const dueBy = (): number | null => (due === null ? null : Math.max(clock.now(), due));
  try {
    if (slot === null) repairSoon(queue);
    else await slot.claim((tx, claim) => tx.claimPendingRun(claim, dueBy(), thread)); // engine/queue.2
  } catch (error) {
    log.debug("claim_failed", { reason: describeError(error).message });
    if (queue.workers !== null) queue.toUnlock.add(queue.workers.id);
    repairSoon(queue); // engine/queue.4
  }
}
