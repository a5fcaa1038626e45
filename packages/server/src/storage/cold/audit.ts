// Reads of the audit trail.
import { ACT_TRAILS } from "../../model/audit-actions.ts";
import { erasureDigest } from "../../model/audit/audit-chain.ts";
import type { AuditTx, AuditGaps } from "../../ports/ports.ts";
import { AUDIT_COLUMNS, AUDIT_LINK_COLUMNS, type AuditRow } from "../shared/columns.ts";
import { readAuditedThread, readTrace, toAuditRecord } from "./audit-record.ts";
import { type AuditDialect, searchVerb } from "./audit-search.ts";
import { putMeta } from "./sealing.ts";
import { type ColdSql, type ColdTable, coldTable, readNumber, type Row } from "./cold-sql.ts";

const FORWARDED = "audit forwarded to ";

export type AuditReads = Omit<AuditTx, "audit" | "deleteAuditBefore" | "noteErasedEntry">;

export function auditReads(sql: ColdSql, dialect: AuditDialect): AuditReads {
  const audit = coldTable<AuditRow>(sql, "audit", { ...AUDIT_LINK_COLUMNS, ...AUDIT_COLUMNS });
  const readRecord = (row: Row) => toAuditRecord(audit.read(row));
  return {
    async listComments(threadId, interruptId, { after, limit }) {
      sql.followThread(threadId);
      const comments = "WHERE thread_id = ? AND interrupt_id = ? AND action = 'commented' AND seq > ?";
      const rows = await sql.all(
        `${audit.select} ${comments} ORDER BY seq LIMIT ?`,
        threadId,
        interruptId,
        after,
        limit,
      );
      return rows.map(readRecord);
    },
    async listAudit(threadId, page) {
      sql.followThread(threadId);
      const limit = page?.limit ?? Number.MAX_SAFE_INTEGER;
      const entries = `${audit.select} WHERE thread_id = ? AND seq > ? ORDER BY seq LIMIT ?`;
      return (await sql.all(entries, threadId, page?.after ?? 0, limit)).map(readRecord);
    },
    async forwardedAudit(destination) {
      const row = await sql.get(`SELECT value FROM ${sql.schema}meta WHERE key = ?`, FORWARDED + destination);
      return new Map(row === null ? [] : (JSON.parse(String(row["value"])) as [number, number][]));
    },
    putForwardedAudit: (destination, places) =>
      putMeta(sql, FORWARDED + destination, JSON.stringify([...places]), "UPDATE SET value = excluded.value"),
    ...chainVerbs(sql, audit),
    ...searchVerb(sql, dialect, { columns: audit.chooseColumns("a"), readRecord }),
  };
}

type ChainVerbs = Pick<
  AuditTx,
  "auditHeads" | "auditLinks" | "unchainedAudit" | "auditedThreads" | "auditGaps" | "notedErasures"
>;

function chainVerbs(sql: ColdSql, audit: ColdTable<AuditRow>): ChainVerbs {
  const { schema } = sql;
  const selectLinks = buildLinks(schema, audit.columns.split(", "));
  return {
    async auditHeads() {
      const rows = await sql.all(`SELECT chain, count, hash FROM ${schema}audit_heads ORDER BY chain`);
      return rows.map((row) => ({
        chain: Number(row["chain"]),
        count: Number(row["count"]),
        hash: String(row["hash"]),
      }));
    },
    async auditLinks(chain, after, limit) {
      const page = [chain, after, limit];
      const rows = await sql.all(selectLinks, ...page, ...page);
      return rows
        .map((row) => {
          if (row["is_gone"] === 1) return readTrace(row);
          const entry = audit.read(row);
          const { position, seq, digest, previous } = entry;
          return { position, seq, digest, entry: { previous, content: toAuditRecord(entry) }, gone: null };
        })
        .toSorted((left, right) => left.position - right.position)
        .slice(0, limit);
    },
    unchainedAudit: () =>
      readNumber(
        sql,
        `SELECT count(*) AS n FROM ${schema}audit WHERE chain NOT IN (SELECT chain FROM ${schema}audit_heads)`,
      ),
    async auditedThreads(threadIds) {
      const trails = ACT_TRAILS.map((trail) => `('${trail}', 0)`).join(", ");
      const threads = `SELECT t.thread_id, t.created_at,
          (SELECT max(at) FROM ${schema}audit_deleted AS d WHERE d.thread_id = t.thread_id AND d.seq = 0) AS cut_off
        FROM (SELECT thread_id, created_at FROM ${schema}threads WHERE ${sql.isOneOf("thread_id")}
          UNION ALL VALUES ${trails}) AS t`;
      return (await sql.all(threads, threadIds)).map(readAuditedThread);
    },
    async notedErasures(entries) {
      const noted = new Set<string>();
      for (const entry of entries) {
        const note = `SELECT 1 AS found FROM ${schema}audit_deleted AS d JOIN ${schema}audit_heads AS h ON h.chain = d.chain
          WHERE d.thread_id = ? AND d.seq = 0 AND d.digest = ? AND d.position <= h.count LIMIT 1`;
        if ((await sql.get(note, entry.threadId, erasureDigest(entry))) !== null) noted.add(erasureDigest(entry));
      }
      return noted;
    },
    auditGaps: async (threadId, limit) => gapsIn(await sql.all(selectGaps(schema), threadId, limit), limit),
  };
}

/** One statement, so that an entry that is deleted meanwhile is in one of both tables. */
function buildLinks(schema: string, columns: readonly string[]): string {
  const left = new Set(["chain", "position", "seq", "digest", "thread_id", "at"]);
  const page = "WHERE chain = ? AND position > ? ORDER BY position LIMIT ?";
  const all = columns.join(", ");
  const known = columns.map((column) => (left.has(column) ? column : `NULL AS ${column}`)).join(", ");
  return `SELECT ${all}, 0 AS is_gone FROM (SELECT ${all} FROM ${schema}audit ${page}) AS live
    UNION ALL
    SELECT ${known}, 1 AS is_gone FROM (SELECT ${[...left].join(", ")} FROM ${schema}audit_deleted ${page}) AS gone`;
}

/**
 * Gaps in the numbers of a thread's entries. A deleted entry explains its number, and so do traces of an earlier thread
 * with the same id, but those never make a gap: only numbers up to the newest entry count. Values: thread id, limit.
 */
const selectGaps = (schema: "" | "holdpoint."): string => `
  WITH page AS (
    SELECT thread_id, max(seq) AS newest FROM ${schema}audit WHERE thread_id > ?
    GROUP BY thread_id ORDER BY thread_id LIMIT ?
  ), numbers AS (
    SELECT a.thread_id, a.seq FROM ${schema}audit AS a JOIN page ON page.thread_id = a.thread_id
    UNION SELECT d.thread_id, d.seq FROM ${schema}audit_deleted AS d
      JOIN page ON page.thread_id = d.thread_id AND d.seq BETWEEN 1 AND page.newest
  ), steps AS (
    SELECT thread_id, seq, lag(seq, 1, 0) OVER (PARTITION BY thread_id ORDER BY seq) AS known FROM numbers
  )
  SELECT page.thread_id, steps.known, steps.seq FROM page
    LEFT JOIN steps ON steps.thread_id = page.thread_id AND steps.seq > steps.known + 1
    ORDER BY page.thread_id, steps.seq`;

/** @param rows of selectGaps */
function gapsIn(rows: readonly Readonly<Record<string, unknown>>[], limit: number): AuditGaps {
  const threads = new Set(rows.map((row) => String(row["thread_id"])));
  const gaps = rows
    .filter((row) => row["seq"] !== null)
    .map((row) => ({
      threadId: String(row["thread_id"]),
      first: Number(row["known"]) + 1,
      last: Number(row["seq"]) - 1,
    }));
  return { gaps, next: threads.size < limit ? null : ([...threads].at(-1) ?? null) };
}
