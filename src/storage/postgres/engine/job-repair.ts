// Job repair: the check for claimable runs without a job, and for jobs that no process works on (engine/queue.4,
// engine/queue.7).
import { describeError } from "../../../base/api-error.ts";
import { isConnectionLost } from "../client/errors.ts";
import { JOBS_SCHEMA } from "../schema/graphile-schema.ts";
import type { JobQueue } from "./job-slots.ts";

/** Pause before the next try after a failure. */
export const AGAIN_MS = 1000;
const REPAIR_MS = 30_000;
/** After a failed fetch: the database may still execute it. */
const SUSPECT_MS = 10_000;

export function repairSoon(queue: JobQueue): void {
  repairIn(queue, AGAIN_MS);
}

/** engine/queue.7: after a failed fetch. */
export function suspectLostJobs(queue: JobQueue): void {
  queue.suspectUntil = queue.ports.clock.monotonic() + SUSPECT_MS;
  repairSoon(queue);
}

function repairIn(queue: JobQueue, delayMs: number): void {
  queue.stopRepair();
  if (!queue.stopping) queue.stopRepair = queue.ports.clock.after(delayMs, () => void repair(queue));
}

async function repair(queue: JobQueue): Promise<void> {
  const { pool, clock, log } = queue.ports;
  let again = clock.monotonic() < queue.suspectUntil ? AGAIN_MS : REPAIR_MS;
  try {
    await findLost(queue);
    await unlock(queue);
    await pool().query(REPAIR); // engine/queue.4
  } catch (error) {
    log[isConnectionLost(error) ? "debug" : "warning"]("repair_failed", { reason: describeError(error).message });
    again = AGAIN_MS;
  }
  repairIn(queue, again);
}

async function findLost({ ports, workers, handedOut, toUnlock }: JobQueue): Promise<void> {
  if (workers === null) return;
  const { rowCount } = await ports.pool().query(LOST, [workers.id, [...handedOut]]);
  if (rowCount !== 0) toUnlock.add(workers.id);
}

async function unlock({ ports, toUnlock }: JobQueue): Promise<void> {
  if (toUnlock.size === 0) return;
  const ids = [...toUnlock];
  await ports.pool().query(`SELECT ${JOBS_SCHEMA}.force_unlock_workers($1)`, [ids]); // a second job does no harm
  for (const id of ids) toUnlock.delete(id);
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
