// Pruning in PostgreSQL: deletes the old checkpoints of a thread and keeps the rest self-contained
// (../../shared/checkpoint-pruning.ts, checkpoint-pruning.1 to checkpoint-pruning.4).
import type { PruneTx } from "../../../ports/ports.ts";
import {
  ANCESTORS_MAX,
  keptAncestors,
  hashesIn,
  keptHeads,
  rebuiltChannels,
  selfContained,
  referencedSteps,
  type Head,
  type Kept,
} from "../../shared/checkpoint-pruning.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";
import { fromJsonText } from "../client/text-encoding.ts";

export function pruneVerbs(db: Sql): PruneTx {
  return {
    async pruneThread(threadId, at) {
      db.hold(threadKey(threadId));
      const kept: Kept[] = [];
      for (const head of keptHeads(await readHeads(db, threadId))) {
        const line = [head, ...(await listAncestors(db, threadId, head))];
        const ids = new Set(line.map(({ checkpointId }) => checkpointId));
        for (const one of line) await standAlone(db, threadId, one, ids);
        kept.push(...line);
      }
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

async function readHeads(db: Sql, threadId: string): Promise<readonly Head[]> {
  const rows = await db.all(
    `SELECT ns, checkpoint_id, c.run_id, c.body, c.small, c.metadata
     FROM holdpoint.heads JOIN holdpoint.checkpoints AS c USING (thread_id, ns, checkpoint_id) WHERE thread_id = $1`,
    threadId,
  );
  return rows.map((row) => ({
    ns: String(row["ns"]),
    checkpointId: String(row["checkpoint_id"]),
    runId: String(row["run_id"]),
    body: String(row["body"]),
    small: String(row["small"]),
    metadata: fromJsonText(String(row["metadata"])),
  }));
}

/** checkpoint-pruning.4. */
async function listAncestors(db: Sql, threadId: string, head: Head): Promise<readonly Kept[]> {
  if (rebuiltChannels(head).length === 0) return [];
  const line = await db.all(
    `WITH RECURSIVE line (id, depth) AS (
       SELECT $1::text COLLATE "C", 0
       UNION ALL
       SELECT c.parent_id COLLATE "C", depth + 1 FROM line JOIN holdpoint.checkpoints AS c
         ON c.thread_id = $2 AND c.ns = $3 AND c.checkpoint_id = line.id WHERE c.parent_id IS NOT NULL AND depth < $4)
     SELECT c.checkpoint_id, c.body, c.small FROM line JOIN holdpoint.checkpoints AS c
       ON c.thread_id = $2 AND c.ns = $3 AND c.checkpoint_id = line.id WHERE depth > 0 ORDER BY depth`,
    head.checkpointId,
    threadId,
    head.ns,
    ANCESTORS_MAX,
  );
  const rows = line.map((row) => ({
    ns: head.ns,
    checkpointId: String(row["checkpoint_id"]),
    body: String(row["body"]),
    small: String(row["small"]),
  }));
  const stay = new Set(keptAncestors(head, rows));
  return rows.filter(({ checkpointId }) => stay.has(checkpointId));
}

/** checkpoint-pruning.2. */
async function standAlone(db: Sql, threadId: string, head: Kept, kept: ReadonlySet<string>): Promise<void> {
  const ids = referencedSteps(head, kept);
  if (ids.length === 0) return;
  const rows = await db.all(
    `SELECT checkpoint_id, small FROM holdpoint.checkpoints
     WHERE thread_id = $1 AND ns = $2 AND checkpoint_id = ANY($3::text[])`,
    threadId,
    head.ns,
    ids,
  );
  const { body, small } = selfContained(
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

/** checkpoint-pruning.3. */
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
