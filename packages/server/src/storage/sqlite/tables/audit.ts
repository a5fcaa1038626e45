// The audit trail in SQLite, as one hash chain: a transaction is alone, so all entries share it.
// Invariants:
//   - Rows are append-only. Only deletion of their thread, or their age, removes them; the digest stays.
//   - The kept head is that of the table: an undone write drops it.
import {
  auditDigest,
  auditHash,
  cutOffDigest,
  erasureDigest,
  type AuditHead,
} from "../../../model/audit/audit-chain.ts";
import type { AuditEntry } from "../../../model/model.ts";
import type { AuditTx } from "../../../ports/ports.ts";
import { AUDIT_COLUMNS, AUDIT_LINK_COLUMNS, type AuditRow } from "../../shared/columns.ts";
import { type AuditReads, auditReads } from "../../cold/audit.ts";
import { createColdSql } from "../client/cold-sql.ts";
import type { Database, Row } from "../client/database.ts";
import { table } from "./shared/rows.ts";
import { deleteDocuments } from "./search/search.ts";
import type { AuditDialect } from "../../cold/audit-search.ts";
import { isMatch, buildMatch } from "./search/search-match.ts";

const AUDIT = table<AuditRow>("audit", { ...AUDIT_LINK_COLUMNS, ...AUDIT_COLUMNS });

const CHAIN = 1;

const SET_HEAD = `INSERT INTO audit_heads (chain, count, hash) VALUES (?, ?, ?)
  ON CONFLICT (chain) DO UPDATE SET count = excluded.count, hash = excluded.hash`;

/**
 * The digests of entries that go. A condition follows. A position that a forged entry repeats must not
 * keep its thread from deletion.
 */
const KEEP_DIGESTS = `INSERT OR IGNORE INTO audit_deleted (chain, position, seq, digest, thread_id, at)
  SELECT chain, position, seq, digest, thread_id, at FROM audit WHERE chain > 0 AND thread_id = ?`;

const NOTE_CUT_OFF = `INSERT INTO audit_deleted (chain, position, seq, digest, thread_id, at) VALUES (?, ?, 0, ?, ?, ?)`;

export function auditVerbs(db: Database): AuditTx {
  return { ...appendVerbs(db), ...auditReads(createColdSql(db), createDialect(db)) };
}

function appendVerbs(db: Database): Omit<AuditTx, keyof AuditReads> {
  let kept: AuditHead | null = null;
  db.kept.onDrop(() => (kept = null));
  const setHead = (head: AuditHead): void => {
    db.run(SET_HEAD, CHAIN, head.count, head.hash);
    kept = head;
  };
  return {
    audit(entries) {
      if (entries.length === 0) return;
      let head = kept ?? readHead(db);
      const numbers = new Map<string, number>();
      const rows = entries.map((entry) => {
        const seq = (numbers.get(entry.threadId) ?? lastSeq(db, entry)) + 1;
        numbers.set(entry.threadId, seq);
        const link = { position: head.count + 1, seq, digest: auditDigest(entry) };
        const row = { ...entry, ...link, chain: CHAIN, previous: head.hash };
        head = { chain: CHAIN, count: link.position, hash: auditHash(head.hash, link) };
        return row;
      });
      AUDIT.insert(db, rows);
      setHead(head);
      for (const [threadId, seq] of numbers) {
        db.kept.audited.set(threadId, seq);
        db.changed.add(threadId);
      }
    },
    noteErasedEntry(entry) {
      const head = kept ?? readHead(db);
      const link = { position: head.count + 1, seq: 0, digest: erasureDigest(entry) };
      db.run(NOTE_CUT_OFF, CHAIN, link.position, link.digest, entry.threadId, 0);
      setHead({ chain: CHAIN, count: link.position, hash: auditHash(head.hash, link) });
    },
    deleteAuditBefore(threadId, before) {
      const old = "at < ? AND seq < (SELECT max(seq) FROM audit WHERE thread_id = ?)";
      db.run(`${KEEP_DIGESTS} AND ${old}`, threadId, before, threadId);
      const deleted = db.run(`DELETE FROM audit WHERE thread_id = ? AND ${old}`, threadId, before, threadId);
      if (deleted > 0) {
        const head = kept ?? readHead(db);
        const link = { position: head.count + 1, seq: 0, digest: cutOffDigest({ threadId, at: before }) };
        db.run(NOTE_CUT_OFF, CHAIN, link.position, link.digest, threadId, before);
        setHead({ chain: CHAIN, count: link.position, hash: auditHash(head.hash, link) });
        deleteDocuments(db, threadId); // they have words of the entries
        db.changed.add(threadId);
      }
      return deleted;
    },
  };
}

/** The entries of a thread that is about to go. */
export function keepDigests(db: Database, threadId: string): void {
  db.run(KEEP_DIGESTS, threadId);
}

function lastSeq(db: Database, { threadId }: AuditEntry): number {
  const known = db.kept.audited.get(threadId);
  if (known !== undefined) return known;
  const last = db.get("SELECT max(seq) AS seq FROM audit WHERE thread_id = ?", threadId)?.["seq"];
  return typeof last === "number" ? last : 0;
}

function readHead(db: Database): AuditHead {
  const row = db.get("SELECT chain, count, hash FROM audit_heads WHERE chain = ?", CHAIN);
  if (row !== null) return toHead(row);
  // Rows without a head: the next verification finds that it is missing.
  const last = db.get("SELECT max(position) AS count FROM audit WHERE chain = ?", CHAIN);
  return { chain: CHAIN, count: Number(last?.["count"] ?? 0), hash: "" };
}

function toHead(row: Row): AuditHead {
  return { chain: Number(row["chain"]), count: Number(row["count"]), hash: String(row["hash"]) };
}

/** The threads of a few matching documents; with many, each entry of the window is looked up among them. */
const FOUND = `(SELECT DISTINCT d.thread_id FROM search_words AS w CROSS JOIN search_documents AS d ON d.doc_id = w.rowid
  WHERE w.search_words MATCH ?) AS f CROSS JOIN`;
const IS_FOUND = isMatch("a.thread_id", "coalesce(a.interrupt_id, '')");

function createDialect(db: Database): AuditDialect {
  return {
    matchWords(words) {
      const { text = "", isFew = false } = buildMatch(db, words, null) ?? {};
      const values = [text];
      return { condition: { sql: IS_FOUND, values }, first: isFew ? { sql: FOUND, values } : null, isIndexed: isFew };
    },
    oneRow: ({ table, alias, key }) => `${table} AS ${alias} ON ${key}`,
  };
}
