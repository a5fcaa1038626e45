// Queue: its part inside a transaction, namely the job "check this thread" and the list of workers.
// Invariants:
//   tables/queue.1. A claimable run has a job from the same commit on. An extra job does no harm.
//   tables/queue.2. Jobs of one tenant queue behind each other: the n-th waiting job has priority n, so a tenant with
//        few waiting runs gets its turn among those of one with many. Runs that resume a pause come first.
//   tables/queue.3. A claim in a worker's name locks its row for reference; its removal locks the row for writing. A
//        claim before the removal is requeued, one after it fails.
import type { RunRequest } from "../../../agent/model/model.ts";
import type { QueueTx } from "../../../agent/ports/ports.ts";
import { wholeRequest } from "../../shared/stored-request.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";

type Asked = Pick<RunRequest, "user" | "goesFirst">;

/** Runs that share a place in the queue: those of one identity; without authentication, all. */
export function tenantOf(user: Asked["user"]): string {
  const identity = user?.["identity"];
  return typeof identity === "string" ? identity : "";
}

export function queueVerbs(db: Sql): QueueTx {
  const queue = (threadId: string, runId: string, dueAt: number | null, { user, goesFirst }: Asked): void => {
    // tables/queue.1, tables/queue.2
    db.run("SELECT holdpoint.queue_run($1, $2, $3, $4, $5)", threadId, runId, dueAt, tenantOf(user), goesFirst);
  };
  return {
    queueRun: ({ threadId, runId, dueAt, request }) => queue(threadId, runId, dueAt, request),
    async queueNext(threadId) {
      db.hold(threadKey(threadId));
      const next = await db.get(
        `SELECT run_id, request FROM holdpoint.runs
         WHERE thread_id = $1 AND status = 'pending' AND status IN ('pending', 'running') AND due_at IS NULL
         ORDER BY urgent DESC, queue_key LIMIT 1`,
        threadId,
      );
      if (next === null) return;
      const request = wholeRequest(JSON.parse(String(next["request"])) as Partial<RunRequest>);
      queue(threadId, String(next["run_id"]), null, request);
    },
    addWorker(workerId, jobsLockedAs = null) {
      db.run(
        `INSERT INTO holdpoint.workers (worker_id, jobs_locked_as) VALUES ($1, $2)
         ON CONFLICT (worker_id) DO UPDATE SET jobs_locked_as = excluded.jobs_locked_as`,
        workerId,
        jobsLockedAs,
      );
    },
    async deadWorker(leaseMs, { only = null, except = null } = {}) {
      const where = `WHERE beat_at < clock_timestamp() - $1 * interval '1 millisecond'
        AND ($2::text IS NULL OR worker_id = $2) AND worker_id IS DISTINCT FROM $3::text ORDER BY beat_at LIMIT 1`;
      const sql = `SELECT worker_id FROM holdpoint.workers ${where}`;
      if ((await db.get(sql, leaseMs, only, except)) === null) return null; // rarely any, and a read locks nothing
      const [dead] = await db.change(`${sql} FOR UPDATE SKIP LOCKED`, leaseMs, only, except); // tables/queue.3
      return dead === undefined ? null : String(dead["worker_id"]);
    },
    removeWorker(workerId) {
      db.run(
        `SELECT holdpoint_jobs.force_unlock_workers(ARRAY[jobs_locked_as]) FROM holdpoint.workers WHERE worker_id = $1`,
        workerId,
      );
      db.run("DELETE FROM holdpoint.workers WHERE worker_id = $1", workerId);
    },
  };
}
