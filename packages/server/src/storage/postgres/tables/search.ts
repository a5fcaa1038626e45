// The search index in PostgreSQL: words of documents as text vectors. Triggers note changed threads in search_queue, in
// the transaction of the change.
// Invariants:
//   - A deleted thread has no documents.
//   - A query is made of words of letters and digits in quotes, so no text is syntax (api/text/search-words.ts:
//     search-words.1).
//   - A noted change stays until its thread is indexed; another server takes it over from one that died.
import { isPrefix } from "@holdpoint/api/text/search-words.ts";
import type { Interrupt } from "../../../model/model.ts";
import type { SearchTx, UnindexedThread } from "../../../ports/ports.ts";
import { threadKey } from "../client/lock-key.ts";
import type { Row } from "../client/pool.ts";
import type { Sql } from "../client/transaction.ts";

/** The text of a tsquery: all words, most of them as prefixes. */
export function searchText(words: readonly string[]): string {
  return words.map((word) => `'${word}'${isPrefix(word) ? ":*" : ""}`).join(" & ");
}

/** Whether the document of a row matches; one parameter, the text. */
export function isMatch(threadId: string, interruptId: string, mark: string): string {
  return `EXISTS (SELECT 1 FROM holdpoint.search_documents AS d
    WHERE d.thread_id = ${threadId} AND d.interrupt_id = ${interruptId} AND d.words @@ ${mark}::tsquery)`;
}

/** @param columns of an interrupt, in the table `i` */
export function searchVerbs(
  db: Sql,
  { columns, readInterrupt }: { readonly columns: string; readonly readInterrupt: (row: Row) => Interrupt },
): SearchTx {
  return {
    async unindexedThreads(limit, { now, claimedUntil }) {
      const rows = await db.change(
        `UPDATE holdpoint.search_queue SET taken_until = $1 WHERE id IN (
           SELECT id FROM holdpoint.search_queue WHERE taken_until < $2 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING id, thread_id`,
        claimedUntil,
        now,
        limit,
      );
      const marks = Map.groupBy(rows, (row) => String(row["thread_id"]));
      return [...marks].map(([threadId, of]) => ({ threadId, marks: of.map((row) => Number(row["id"])) }));
    },
    sweepUnindexed: () => null, // triggers note every thread
    async indexedSeq(threadId) {
      const sql = "SELECT seq FROM holdpoint.search_documents WHERE thread_id = $1 AND interrupt_id = ''";
      return Number((await db.get(sql, threadId))?.["seq"] ?? 0);
    },
    async unindexedItems(threadId, { ids, limit }) {
      const rows = await db.all(
        `SELECT ${columns}, d.thread_id IS NULL AS missing FROM holdpoint.interrupts AS i
           LEFT JOIN holdpoint.search_documents AS d ON d.thread_id = i.thread_id AND d.interrupt_id = i.interrupt_id
         WHERE i.thread_id = $1 AND (d.thread_id IS NULL OR i.state = 'open' OR i.interrupt_id = ANY($2::text[]))
         ORDER BY d.thread_id IS NOT NULL LIMIT $3`,
        threadId,
        ids,
        limit,
      );
      return { items: rows.map(readInterrupt), missing: rows.filter((row) => row["missing"] === true).length };
    },
    async putSearchDocuments({ threadId, updatedAt, seq }, documents) {
      db.hold(threadKey(threadId));
      const found = await db.get("SELECT 1 FROM holdpoint.threads WHERE thread_id = $1", threadId);
      if (found === null) return;
      for (const { interruptId, words } of documents) {
        db.run(
          `INSERT INTO holdpoint.search_documents (thread_id, interrupt_id, updated_at, seq, words)
           VALUES ($1, $2, $3, $4, array_to_tsvector($5::text[]))
           ON CONFLICT (thread_id, interrupt_id) DO UPDATE
             SET updated_at = excluded.updated_at, seq = excluded.seq, words = excluded.words`,
          threadId,
          interruptId,
          updatedAt,
          seq,
          words,
        );
      }
    },
    unindexThread(threadId) {
      deleteDocuments(db, threadId);
      db.run("INSERT INTO holdpoint.search_queue (thread_id) VALUES ($1)", threadId);
    },
    switchSearch(isOn) {
      if (isOn) return db.run(SWITCH_ON);
      db.run("DELETE FROM holdpoint.search_documents");
      db.run("INSERT INTO holdpoint.meta (key, value) VALUES ('search_off', '') ON CONFLICT DO NOTHING");
    },
    indexed(threads: readonly UnindexedThread[]) {
      const marks = threads.flatMap((thread) => thread.marks);
      if (marks.length > 0)
        db.run("DELETE FROM holdpoint.search_queue WHERE id = ANY($1::bigint[])", marks.map(String));
    },
  };
}

const SWITCH_ON = `
  WITH gone AS (DELETE FROM holdpoint.meta WHERE key = 'search_off' RETURNING key)
  INSERT INTO holdpoint.search_queue (thread_id)
    SELECT thread_id FROM holdpoint.threads WHERE EXISTS (SELECT 1 FROM gone)`;

/** The documents of a thread that goes, or whose trail was shortened. */
export function deleteDocuments(db: Sql, threadId: string): void {
  db.run("DELETE FROM holdpoint.search_documents WHERE thread_id = $1", threadId);
}
