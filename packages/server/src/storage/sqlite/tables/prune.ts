// Pruning in SQLite: deletes the old checkpoints of a thread and keeps the rest self-contained
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
import type { Database } from "../client/database.ts";

export function pruneVerbs(db: Database): PruneTx {
  return {
    pruneThread(threadId, at) {
      const kept: Kept[] = [];
      for (const head of keptHeads(readHeads(db, threadId))) {
        const line = [head, ...listAncestors(db, threadId, head)];
        const ids = new Set(line.map(({ checkpointId }) => checkpointId));
        for (const one of line) standAlone(db, threadId, one, ids);
        kept.push(...line);
      }
      const list = JSON.stringify(kept.map(({ ns, checkpointId }) => [ns, checkpointId]));
      const notKept = `thread_id = ? AND (ns, checkpoint_id) NOT IN
        (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(?))`;
      const deleted = db.run(`DELETE FROM checkpoints WHERE ${notKept}`, threadId, list);
      db.run(`DELETE FROM writes WHERE ${notKept}`, threadId, list);
      db.run(`DELETE FROM heads WHERE ${notKept}`, threadId, list);
      db.kept.heads.delete(threadId);
      deleteUnusedBlobs(db, threadId);
      db.run("UPDATE threads SET pruned_at = max(?, updated_at) WHERE thread_id = ?", at, threadId);
      return deleted;
    },
  };
}

function readHeads(db: Database, threadId: string): readonly Head[] {
  return db
    .all(
      "SELECT ns, checkpoint_id, run_id, body, small, metadata FROM checkpoints NATURAL JOIN heads WHERE thread_id = ?",
      threadId,
    )
    .map((row) => ({
      ns: String(row["ns"]),
      checkpointId: String(row["checkpoint_id"]),
      runId: String(row["run_id"]),
      body: String(row["body"]),
      small: String(row["small"]),
      metadata: String(row["metadata"]),
    }));
}

/** checkpoint-pruning.4. */
function listAncestors(db: Database, threadId: string, head: Head): readonly Kept[] {
  if (rebuiltChannels(head).length === 0) return [];
  const line = db.all(
    `WITH RECURSIVE line (id, depth) AS (
       VALUES (?, 0)
       UNION ALL
       SELECT c.parent_id, depth + 1 FROM line CROSS JOIN checkpoints AS c
         ON c.thread_id = ? AND c.ns = ? AND c.checkpoint_id = line.id WHERE c.parent_id IS NOT NULL AND depth < ?)
     SELECT c.checkpoint_id, c.body, c.small FROM line CROSS JOIN checkpoints AS c
       ON c.thread_id = ? AND c.ns = ? AND c.checkpoint_id = line.id WHERE depth > 0 ORDER BY depth`,
    head.checkpointId,
    threadId,
    head.ns,
    ANCESTORS_MAX,
    threadId,
    head.ns,
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
function standAlone(db: Database, threadId: string, head: Kept, kept: ReadonlySet<string>): void {
  const query = "SELECT small FROM checkpoints WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?";
  const steps = new Map(
    referencedSteps(head, kept).map((id) => [id, String(db.get(query, threadId, head.ns, id)?.["small"])]),
  );
  if (steps.size === 0) return;
  const { body, small } = selfContained(head, steps);
  db.run(
    "UPDATE checkpoints SET body = ?, small = ? WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?",
    body,
    small,
    threadId,
    head.ns,
    head.checkpointId,
  );
}

/** checkpoint-pruning.3. */
function deleteUnusedBlobs(db: Database, threadId: string): void {
  const texts = (sql: string): readonly string[] => db.all(sql, threadId).map((row) => String(row["text"]));
  const used = hashesIn(
    texts("SELECT body AS text FROM checkpoints WHERE thread_id = ?"),
    texts("SELECT entries AS text FROM writes WHERE thread_id = ?"),
    texts("SELECT input AS text FROM runs WHERE thread_id = ? AND input LIKE '#%'"),
  );
  db.run(
    "DELETE FROM blobs WHERE thread_id = ? AND hash NOT IN (SELECT value FROM json_each(?))",
    threadId,
    JSON.stringify(used),
  );
}
