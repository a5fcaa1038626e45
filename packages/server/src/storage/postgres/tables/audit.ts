// The audit trail in PostgreSQL, as hash chains: a transaction takes any chain that no other one is writing to, so that
// none waits. There are as many chains as there were transactions at once.
// Invariants:
//   - Rows are append-only. Only deletion of their thread, or their age, removes them; the digest stays.
//   - A chain belongs to one transaction until its commit (holdpoint.append_audit).
import { auditDigest, erasureDigest } from "../../../model/audit/audit-chain.ts";
import type { AuditTx } from "../../../ports/ports.ts";
import type { AuditDialect } from "../../cold/audit-search.ts";
import { type AuditReads, auditReads } from "../../cold/audit.ts";
import { createColdSql } from "../client/cold-sql.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Sql } from "../client/transaction.ts";
import { deleteDocuments, isMatch, searchText } from "./search.ts";

const DIALECT: AuditDialect = {
  matchWords: (words) => ({
    condition: { sql: isMatch("a.thread_id", "coalesce(a.interrupt_id, '')", "?"), values: [searchText(words)] },
    first: null,
    isIndexed: true,
  }),
  oneRow: ({ table, alias, columns, key }) =>
    `LATERAL (SELECT ${columns} FROM holdpoint.${table} AS ${alias} WHERE ${key} LIMIT 1) AS ${alias} ON TRUE`,
};

/** A position that a forged entry repeats must not keep its thread from deletion. */
const deleteWhere = (condition: string): string => `
  WITH gone AS (DELETE FROM holdpoint.audit WHERE ${condition} RETURNING chain, position, seq, digest, thread_id, at),
    kept AS (INSERT INTO holdpoint.audit_deleted (chain, position, seq, digest, thread_id, at)
      SELECT chain, position, seq, digest, thread_id, at FROM gone WHERE chain > 0 ON CONFLICT DO NOTHING)
  SELECT count(*) AS n FROM gone`;

const DELETE_ALL = deleteWhere("thread_id = $1");
const DELETE_OLD = deleteWhere(
  "thread_id = $1 AND at < $2 AND seq < (SELECT max(seq) FROM holdpoint.audit WHERE thread_id = $1)",
);

const NOTE_ERASURE = `
  WITH head AS MATERIALIZED (SELECT h FROM holdpoint.take_audit_head() AS h),
    noted AS (INSERT INTO holdpoint.audit_deleted (chain, position, seq, digest, thread_id, at)
      SELECT (h).chain, (h).count + 1, 0, $2, $1, 0 FROM head)
  SELECT holdpoint.move_audit_head(h, 0, $2) FROM head`;

export function auditVerbs(db: Sql): AuditTx {
  return { ...appendVerbs(db), ...auditReads(createColdSql(db), DIALECT) };
}

function appendVerbs(db: Sql): Omit<AuditTx, keyof AuditReads> {
  return {
    audit(entries) {
      for (const entry of entries) {
        db.hold(threadKey(entry.threadId)); // so that no other server uses the same number
        const { threadId, at, action, by, interruptId, runId, value, via, origin } = entry;
        const digest = auditDigest(entry);
        const cells = db.sealing.sealRow("audit", {
          thread_id: threadId,
          digest,
          origin: origin === undefined ? null : JSON.stringify(origin),
          value: JSON.stringify(value),
        });
        db.run(
          "SELECT holdpoint.append_audit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
          threadId,
          at,
          action,
          by,
          interruptId,
          runId,
          via ?? null,
          cells.origin,
          digest,
          cells.value,
        );
      }
    },
    noteErasedEntry: (entry) => db.run(NOTE_ERASURE, entry.threadId, erasureDigest(entry)),
    async deleteAuditBefore(threadId, before) {
      db.hold(threadKey(threadId));
      const [row] = await db.change(DELETE_OLD, threadId, before);
      const deleted = Number(row?.["n"]);
      if (deleted > 0) {
        db.run("SELECT holdpoint.note_cut_off($1, $2)", threadId, before);
        deleteDocuments(db, threadId); // they have words of the entries
        db.run("INSERT INTO holdpoint.search_queue (thread_id) VALUES ($1)", threadId);
      }
      return deleted;
    },
  };
}

/** The entries of a thread that goes. */
export function deleteAudit(db: Sql, threadId: string): void {
  db.run(DELETE_ALL, threadId);
}
