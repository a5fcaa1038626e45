// Queue: the place of waiting runs in the line (../../shared/line.ts), and the list of workers.
// Invariants:
//   - A claimable run has a place from the same commit on: the rows are the queue.
//   - A claim in a worker's name locks its row for reference; its removal locks the row for writing. A claim before the
//     removal is requeued, one after it fails.
import type { QueueTx } from "../../../ports/ports.ts";
import { placeSql } from "../../shared/line.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";

export const QUEUE_NEXT = `
  UPDATE holdpoint.runs AS r SET place = ${placeSql("holdpoint.runs", "greatest")} WHERE r.place IS NULL AND r.run_id = (
    WITH own AS MATERIALIZED (
      SELECT run_id, status, due_at, urgent, queue_key FROM holdpoint.runs
      WHERE thread_id = $1 AND status IN ('pending', 'running'))
    SELECT run_id FROM own WHERE status = 'pending' AND due_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM own AS other WHERE other.status = 'running')
      AND NOT EXISTS (SELECT 1 FROM holdpoint.threads AS t WHERE t.thread_id = $1 AND t.status = 'interrupted')
    ORDER BY urgent DESC, queue_key LIMIT 1)`;

export function queueVerbs(db: Sql): QueueTx {
  return {
    queueNext(threadId) {
      db.hold(threadKey(threadId));
      db.run(QUEUE_NEXT, threadId);
    },
    addWorker(workerId) {
      db.run("INSERT INTO holdpoint.workers (worker_id) VALUES ($1)", workerId);
    },
    async deadWorker(leaseMs, { only = null, except = null } = {}) {
      const where = `WHERE beat_at < clock_timestamp() - $1 * interval '1 millisecond'
        AND ($2::text IS NULL OR worker_id = $2) AND worker_id IS DISTINCT FROM $3::text ORDER BY beat_at LIMIT 1`;
      const sql = `SELECT worker_id FROM holdpoint.workers ${where}`;
      if ((await db.get(sql, leaseMs, only, except)) === null) return null; // rarely any, and a read locks nothing
      const [dead] = await db.change(`${sql} FOR UPDATE SKIP LOCKED`, leaseMs, only, except);
      return dead === undefined ? null : String(dead["worker_id"]);
    },
    removeWorker(workerId) {
      db.run("DELETE FROM holdpoint.workers WHERE worker_id = $1", workerId);
    },
  };
}
