// Pruning in PostgreSQL: deletes the old checkpoints of a thread, so that what is left stands alone (../pruning.ts, PR1 to PR3).
import type { PruneTx } from "../../agent/ports.ts";
import { hashesIn, headsThatStay, standingAlone, stepsReferredTo, type Head } from "../pruning.ts";
import { threadKey } from "./lock-key.ts";
import type { Sql } from "./session.ts";

export function pruneVerbs(db: Sql): PruneTx {
  return {
    async pruneThread(threadId, at) {
      db.hold(threadKey(threadId));
      const kept = headsThatStay(await headsOf(db, threadId));
      for (const head of kept) await standAlone(db, threadId, head);
      const places = [kept.map(({ ns }) => ns), kept.map(({ checkpointId }) => checkpointId)] as const;
      const notKept = `thread_id = $1 AND NOT EXISTS
        (SELECT 1 FROM unnest($2::text[], $3::text[]) AS kept (ns, id) WHERE kept.ns = old.ns AND kept.id = old.checkpoint_id)`;
      for (const name of ["writes", "heads"])
        db.run(`DELETE FROM holdpoint.${name} AS old WHERE ${notKept}`, threadId, ...places);
      const deleted = await db.count(`DELETE FROM holdpoint.checkpoints AS old WHERE ${notKept}`, threadId, ...places);
      await deleteUnusedBlobs(db, threadId);
      const sql = "UPDATE holdpoint.threads SET pruned_at = greatest($1, updated_at) WHERE thread_id = $2";
      db.run(sql, at, threadId);
      return deleted;
    },
  };
}

async function headsOf(db: Sql, threadId: string): Promise<readonly Head[]> {
  const rows = await db.all(
    `SELECT ns, checkpoint_id, c.run_id, c.body, c.small
     FROM holdpoint.heads JOIN holdpoint.checkpoints AS c USING (thread_id, ns, checkpoint_id) WHERE thread_id = $1`,
    threadId,
  );
  return rows.map((row) => ({
    ns: String(row["ns"]),
    checkpointId: String(row["checkpoint_id"]),
    runId: String(row["run_id"]),
    body: String(row["body"]),
    small: String(row["small"]),
  }));
}

/** PR2. */
async function standAlone(db: Sql, threadId: string, head: Head): Promise<void> {
  const ids = stepsReferredTo(head);
  if (ids.length === 0) return;
  const rows = await db.all(
    `SELECT checkpoint_id, small FROM holdpoint.checkpoints
     WHERE thread_id = $1 AND ns = $2 AND checkpoint_id = ANY($3::text[])`,
    threadId,
    head.ns,
    ids,
  );
  const { body, small } = standingAlone(
    head,
    new Map(rows.map((row) => [String(row["checkpoint_id"]), String(row["small"])])),
  );
  db.run(
    `UPDATE holdpoint.checkpoints SET body = $1, small = $2 WHERE thread_id = $3 AND ns = $4 AND checkpoint_id = $5`,
    body,
    small,
    threadId,
    head.ns,
    head.checkpointId,
  );
}

/** PR3. */
async function deleteUnusedBlobs(db: Sql, threadId: string): Promise<void> {
  const texts = async (sql: string): Promise<readonly string[]> =>
    (await db.all(sql, threadId)).map((row) => String(row["text"]));
  const used = hashesIn(
    await texts("SELECT body AS text FROM holdpoint.checkpoints WHERE thread_id = $1"),
    await texts("SELECT entries AS text FROM holdpoint.writes WHERE thread_id = $1"),
    await texts("SELECT input AS text FROM holdpoint.runs WHERE thread_id = $1 AND input LIKE '#%'"),
  );
  db.run("DELETE FROM holdpoint.blobs WHERE thread_id = $1 AND hash <> ALL($2::text[])", threadId, used);
}
