// Pruning: deletes the old checkpoints of a thread and keeps the rest self-contained
// (../shared/checkpoint-pruning.ts).
import type { PruneTx } from "../../ports/ports.ts";
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
} from "../shared/checkpoint-pruning.ts";
import type { ColdSql, Row } from "./cold-sql.ts";

export function pruneVerbs(sql: ColdSql): PruneTx {
  const { schema } = sql;
  return {
    async pruneThread(threadId, at) {
      sql.holdThread(threadId);
      const kept: Kept[] = [];
      for (const head of keptHeads(await readHeads(sql, threadId))) {
        const line = [head, ...(await listAncestors(sql, threadId, head))];
        const ids = new Set(line.map(({ checkpointId }) => checkpointId));
        for (const one of line) await standAlone(sql, threadId, one, ids);
        kept.push(...line);
      }
      const places = kept.map(({ ns, checkpointId }) => `${checkpointId} ${ns}`);
      const old = `thread_id = ? AND NOT (${sql.isOneOf("checkpoint_id || ' ' || ns")})`;
      for (const name of ["writes", "heads"]) sql.run(`DELETE FROM ${schema}${name} WHERE ${old}`, threadId, places);
      const deleted = await sql.count(`DELETE FROM ${schema}checkpoints WHERE ${old}`, threadId, places);
      sql.dropHeads(threadId);
      await deleteUnusedBlobs(sql, threadId);
      const pruned = "CASE WHEN updated_at > ? THEN updated_at ELSE ? END";
      sql.run(`UPDATE ${schema}threads SET pruned_at = ${pruned} WHERE thread_id = ?`, at, at, threadId);
      return deleted;
    },
  };
}

const openSmall = ({ sealing }: ColdSql, row: Row): string =>
  String(sealing.open("checkpoints", "small", row, row["small"]));

async function readHeads(sql: ColdSql, threadId: string): Promise<readonly Head[]> {
  const rows = await sql.all(
    `SELECT ns, checkpoint_id, c.run_id, c.body, c.small, c.metadata
     FROM ${sql.schema}heads JOIN ${sql.schema}checkpoints AS c USING (thread_id, ns, checkpoint_id) WHERE thread_id = ?`,
    threadId,
  );
  return rows.map((row) => ({
    ns: String(row["ns"]),
    checkpointId: String(row["checkpoint_id"]),
    runId: String(row["run_id"]),
    body: String(row["body"]),
    small: openSmall(sql, { ...row, thread_id: threadId }),
    metadata: sql.fromSearched(String(row["metadata"])),
  }));
}

async function listAncestors(sql: ColdSql, threadId: string, head: Head): Promise<readonly Kept[]> {
  if (rebuiltChannels(head).length === 0) return [];
  const place = [threadId, head.ns];
  const checkpoints = `${sql.schema}checkpoints AS c WHERE c.thread_id = ? AND c.ns = ? AND c.checkpoint_id =`;
  const line = await sql.all(
    `WITH RECURSIVE line (id, parent, depth) AS (
       SELECT c.checkpoint_id, c.parent_id, 0 FROM ${checkpoints} ?
       UNION ALL
       SELECT c.checkpoint_id, c.parent_id, depth + 1 FROM line CROSS JOIN ${checkpoints} line.parent AND depth < ?)
     SELECT c.checkpoint_id, c.body, c.small FROM line CROSS JOIN ${checkpoints} line.id AND depth > 0 ORDER BY depth`,
    ...place,
    head.checkpointId,
    ...place,
    ANCESTORS_MAX,
    ...place,
  );
  const rows = line.map((row) => ({
    ns: head.ns,
    checkpointId: String(row["checkpoint_id"]),
    body: String(row["body"]),
    small: openSmall(sql, { ...row, thread_id: threadId, ns: head.ns }),
  }));
  const stay = new Set(keptAncestors(head, rows));
  return rows.filter(({ checkpointId }) => stay.has(checkpointId));
}

async function standAlone(sql: ColdSql, threadId: string, head: Kept, kept: ReadonlySet<string>): Promise<void> {
  const ids = referencedSteps(head, kept);
  if (ids.length === 0) return;
  const inNamespace = "WHERE thread_id = ? AND ns = ?";
  const rows = await sql.all(
    `SELECT checkpoint_id, small FROM ${sql.schema}checkpoints ${inNamespace} AND ${sql.isOneOf("checkpoint_id")}`,
    threadId,
    head.ns,
    ids,
  );
  const steps = new Map(
    rows.map((row) => [String(row["checkpoint_id"]), openSmall(sql, { ...row, thread_id: threadId, ns: head.ns })]),
  );
  const { body, small: values } = selfContained(head, steps);
  const row = { thread_id: threadId, ns: head.ns, checkpoint_id: head.checkpointId };
  const small = sql.sealing.seal("checkpoints", "small", row, values);
  const place = [threadId, head.ns, head.checkpointId];
  const update = `UPDATE ${sql.schema}checkpoints SET body = ?, small = ? ${inNamespace} AND checkpoint_id = ?`;
  sql.run(update, body, small, ...place);
}

const WRITES_ROW = "thread_id, ns, checkpoint_id, run_id, task_id";

async function deleteUnusedBlobs(sql: ColdSql, threadId: string): Promise<void> {
  const { schema } = sql;
  const readTexts = async (text: string): Promise<readonly string[]> =>
    (await sql.all(text, threadId)).map((row) => String(row["text"]));
  const used = hashesIn(
    await readTexts(`SELECT body AS text FROM ${schema}checkpoints WHERE thread_id = ?`),
    (await sql.all(`SELECT ${WRITES_ROW}, entries FROM ${schema}writes WHERE thread_id = ?`, threadId)).map((row) =>
      String(sql.sealing.open("writes", "entries", row, row["entries"])),
    ),
    await readTexts(`SELECT input AS text FROM ${schema}runs WHERE thread_id = ? AND input LIKE '#%'`),
  );
  sql.run(`DELETE FROM ${schema}blobs WHERE thread_id = ? AND NOT (${sql.isOneOf("hash")})`, threadId, used);
}
