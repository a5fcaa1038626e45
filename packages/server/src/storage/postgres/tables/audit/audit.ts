// The audit trail in PostgreSQL, as hash chains: a transaction takes any chain that no other one is writing to, so that
// none waits. There are as many chains as there were transactions at once.
// Invariants:
//   postgres/audit.1. Rows are append-only. Only deletion of their thread, or their age, removes them; the digest stays.
//   postgres/audit.2. A chain belongs to one transaction until its commit (holdpoint.append_audit).
import { auditDigest, type AuditHead } from "../../../../model/audit/audit-chain.ts";
import type { AuditRecord, AuditTx } from "../../../../ports/ports.ts";
import { gapsIn, selectGaps } from "../../../shared/audit-gaps.ts";
import { readAuditedThread, readTrace, toAuditRecord } from "../../../shared/audit-record.ts";
import { AUDIT_COLUMNS, AUDIT_LINK_COLUMNS, type AuditRow } from "../../../shared/columns.ts";
import { threadKey } from "../../client/lock-key.ts";
import type { Row } from "../../client/pool.ts";
import type { Sql } from "../../client/transaction.ts";
import { table } from "../shared/rows.ts";
import { deleteDocuments } from "../search/search.ts";
import { searchVerb } from "./audit-search.ts";

const AUDIT = table<AuditRow>("audit", { ...AUDIT_LINK_COLUMNS, ...AUDIT_COLUMNS, value: ["value", "value"] });

const COLUMNS = AUDIT.chooseColumns("a");

/** postgres/audit.1. A position that a forged entry repeats must not keep its thread from deletion. */
const deleteWhere = (condition: string): string => `
  WITH gone AS (DELETE FROM holdpoint.audit WHERE ${condition} RETURNING chain, position, seq, digest, thread_id, at),
    kept AS (INSERT INTO holdpoint.audit_deleted (chain, position, seq, digest, thread_id, at)
      SELECT chain, position, seq, digest, thread_id, at FROM gone WHERE chain > 0 ON CONFLICT DO NOTHING)
  SELECT count(*) AS n FROM gone`;

const DELETE_ALL = deleteWhere("thread_id = $1");
const DELETE_OLD = deleteWhere(
  "thread_id = $1 AND at < $2 AND seq < (SELECT max(seq) FROM holdpoint.audit WHERE thread_id = $1)",
);

export function auditVerbs(db: Sql): AuditTx {
  return { ...appendVerbs(db), ...chainVerbs(db), ...searchVerb(db, COLUMNS, readRecord) };
}

function appendVerbs(db: Sql): Pick<AuditTx, "audit" | "deleteAuditBefore" | "listComments" | "listAudit"> {
  return {
    audit(entries) {
      for (const entry of entries) {
        db.hold(threadKey(entry.threadId)); // so that no other server uses the same number
        const { threadId, at, action, by, interruptId, runId, value, via, origin } = entry;
        db.run(
          "SELECT holdpoint.append_audit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
          threadId,
          at,
          action,
          by,
          interruptId,
          runId,
          via ?? null,
          origin === undefined ? null : JSON.stringify(origin),
          auditDigest(entry),
          JSON.stringify(value),
        );
      }
    },
    async deleteAuditBefore(threadId, before) {
      db.hold(threadKey(threadId));
      const [row] = await db.change(DELETE_OLD, threadId, before);
      const deleted = Number(row?.["n"]);
      if (deleted > 0) {
        db.run("SELECT holdpoint.note_cut_off($1, $2)", threadId, before); // audit-chain.4
        deleteDocuments(db, threadId); // they have words of the entries
        db.run("INSERT INTO holdpoint.search_queue (thread_id) VALUES ($1)", threadId);
      }
      return deleted;
    },
    async listComments(threadId, interruptId, { after, limit }) {
      db.follow(threadKey(threadId));
      const rows = await db.all(
        `SELECT ${AUDIT.columns} FROM holdpoint.audit
         WHERE thread_id = $1 AND interrupt_id = $2 AND action = 'commented' AND seq > $3 ORDER BY seq LIMIT $4`,
        threadId,
        interruptId,
        after,
        limit,
      );
      return rows.map(readRecord);
    },
    async listAudit(threadId, page) {
      db.follow(threadKey(threadId));
      const rows = await db.all(
        `SELECT ${AUDIT.columns} FROM holdpoint.audit WHERE thread_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
        threadId,
        page?.after ?? 0,
        page?.limit ?? null,
      );
      return rows.map(readRecord);
    },
  };
}

type ChainVerbs = Pick<AuditTx, "auditHeads" | "auditLinks" | "unchainedAudit" | "auditedThreads" | "auditGaps">;

function chainVerbs(db: Sql): ChainVerbs {
  return {
    async auditHeads() {
      const rows = await db.all("SELECT chain, count, hash FROM holdpoint.audit_heads ORDER BY chain");
      return rows.map((row): AuditHead => ({
        chain: Number(row["chain"]),
        count: Number(row["count"]),
        hash: String(row["hash"]),
      }));
    },
    async auditLinks(chain, after, limit) {
      const page = "WHERE chain = $1 AND position > $2 ORDER BY position LIMIT $3";
      const rows = await db.all(`SELECT ${AUDIT.columns} FROM holdpoint.audit ${page}`, chain, after, limit);
      // Second, so that an entry that is deleted meanwhile is in one of them.
      const gone = await db.all(
        `SELECT position, seq, digest, thread_id, at FROM holdpoint.audit_deleted ${page}`,
        chain,
        after,
        limit,
      );
      const deleted = new Set(gone.map((row) => Number(row["position"])));
      const live = rows.map((row) => {
        const { position, seq, digest, previous } = AUDIT.read(row);
        return { position, seq, digest, entry: { previous, content: readRecord(row) }, gone: null };
      });
      return [...live.filter(({ position }) => !deleted.has(position)), ...gone.map(readTrace)]
        .toSorted((left, right) => left.position - right.position)
        .slice(0, limit);
    },
    async unchainedAudit() {
      return Number(
        (
          await db.get(
            "SELECT count(*) AS n FROM holdpoint.audit WHERE chain NOT IN (SELECT chain FROM holdpoint.audit_heads)",
          )
        )?.["n"],
      );
    },
    async auditedThreads(threadIds) {
      const sql = `SELECT thread_id, created_at,
          (SELECT max(at) FROM holdpoint.audit_deleted AS d WHERE d.thread_id = t.thread_id AND d.seq = 0) AS cut_off
        FROM holdpoint.threads AS t WHERE thread_id = ANY($1::text[])`;
      return (await db.all(sql, threadIds)).map(readAuditedThread);
    },
    async auditGaps(threadId, limit) {
      return gapsIn(await db.all(selectGaps("holdpoint.", ["$1", "$2"]), threadId, limit), limit);
    },
  };
}

/** The entries of a thread that goes (postgres/audit.1). */
export function deleteAudit(db: Sql, threadId: string): void {
  db.run(DELETE_ALL, threadId);
}

const readRecord = (row: Row): AuditRecord => toAuditRecord(AUDIT.read(row));
