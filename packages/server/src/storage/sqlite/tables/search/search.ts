// The search index in SQLite: words of documents in FTS5, without the texts. Changes of threads are noted in memory, so
// that they cost no statement; threads that a crash left are found by a sweep.
// Invariants:
//   - A deleted thread has no documents.
//   - A thread is up to date if its document has the time of its last change and the number of its newest audit entry.
//     The sweep at start finds all others. It ends at the newest thread of its begin: under load, new threads would
//     keep it going for ever.
import type { Interrupt } from "../../../../model/model.ts";
import type { SearchTx, UnindexedThread } from "../../../../ports/ports.ts";
import type { Database, Row } from "../../client/database.ts";
import { MARKS } from "./search-match.ts";

/** @param columns of an interrupt, in the table `i` */
export function searchVerbs(
  db: Database,
  { columns, readInterrupt }: { readonly columns: string; readonly readInterrupt: (row: Row) => Interrupt },
): SearchTx {
  return {
    unindexedThreads(limit) {
      const ids = [...db.changed.values().take(limit)];
      for (const id of ids) db.changed.delete(id);
      return ids.map(unmarked);
    },
    sweepUnindexed: createSweep(db),
    indexedSeq: (threadId) => Number(findDocument(db, threadId, "")?.["seq"] ?? 0),
    unindexedItems(threadId, { ids, limit }) {
      const rows = db.all(
        `SELECT ${columns}, d.doc_id IS NULL AS missing FROM interrupts AS i
           LEFT JOIN search_documents AS d ON d.thread_id = i.thread_id AND d.interrupt_id = i.interrupt_id
         WHERE i.thread_id = ? AND (d.doc_id IS NULL OR i.state = 'open' OR i.interrupt_id IN (SELECT value FROM json_each(?)))
         ORDER BY d.doc_id IS NOT NULL LIMIT ?`,
        threadId,
        JSON.stringify(ids),
        limit,
      );
      return { items: rows.map(readInterrupt), missing: rows.filter((row) => row["missing"] === 1).length };
    },
    putSearchDocuments({ threadId, updatedAt, seq }, documents) {
      if (db.get("SELECT 1 FROM threads WHERE thread_id = ?", threadId) === null) return;
      for (const { interruptId, kind, words } of documents) {
        db.run(
          `INSERT INTO search_documents (thread_id, interrupt_id, updated_at, seq) VALUES (?, ?, ?, ?)
           ON CONFLICT (thread_id, interrupt_id) DO UPDATE SET updated_at = excluded.updated_at, seq = excluded.seq`,
          threadId,
          interruptId,
          updatedAt,
          seq,
        );
        const id = Number(findDocument(db, threadId, interruptId)?.["doc_id"]);
        db.run(
          "INSERT OR REPLACE INTO search_words (rowid, words) VALUES (?, ?)",
          id,
          [MARKS[kind], ...words].join(" "),
        );
      }
    },
    unindexThread(threadId) {
      deleteDocuments(db, threadId);
      db.changed.add(threadId);
    },
    switchSearch(isOn) {
      if (isOn || db.get("SELECT 1 FROM search_documents LIMIT 1") === null) return;
      db.run("DELETE FROM search_documents");
      db.run("INSERT INTO search_words (search_words) VALUES ('delete-all')");
    },
    indexed: () => undefined, // unindexedThreads() has removed the notes
  };
}

const unmarked = (threadId: string): UnindexedThread => ({ threadId, marks: [] });

function findDocument(db: Database, threadId: string, interruptId: string): Row | null {
  const sql = "SELECT doc_id, seq FROM search_documents WHERE thread_id = ? AND interrupt_id = ?";
  return db.get(sql, threadId, interruptId);
}

function createSweep(db: Database): SearchTx["sweepUnindexed"] {
  let place: number | null = 0;
  let end: number | null = null;
  return (limit) => {
    if (place === null) return null;
    end ??= Number(db.get("SELECT max(rowid) AS newest FROM threads")?.["newest"] ?? 0);
    const rows = db.all(
      `SELECT t.rowid AS place, t.thread_id, d.updated_at IS NOT t.updated_at
         OR d.seq IS NOT coalesce((SELECT max(seq) FROM audit AS a WHERE a.thread_id = t.thread_id), 0) AS is_old
       FROM threads AS t LEFT JOIN search_documents AS d ON d.thread_id = t.thread_id AND d.interrupt_id = ''
       WHERE t.rowid > ? AND t.rowid <= ? ORDER BY t.rowid LIMIT ?`,
      place,
      end,
      limit,
    );
    const last = rows.at(-1)?.["place"];
    place = rows.length < limit || typeof last !== "number" ? null : last;
    const ids = rows.filter((row) => row["is_old"] === 1).map((row) => String(row["thread_id"]));
    return ids.filter((id) => !db.changed.has(id)).map(unmarked);
  };
}

/** The documents of a thread that goes, or whose trail was shortened. */
export function deleteDocuments(db: Database, threadId: string): void {
  const ids = db.all("SELECT doc_id FROM search_documents WHERE thread_id = ?", threadId);
  for (const { doc_id: id } of ids) db.run("DELETE FROM search_words WHERE rowid = ?", Number(id));
  if (ids.length > 0) db.run("DELETE FROM search_documents WHERE thread_id = ?", threadId);
}

/**
 * A deleted document leaves its words in the index until the index merges its parts.
 * @param pages negative to begin
 * @returns whether there is more to merge
 */
export function mergeWords(db: Database, pages: number): boolean {
  const changes = (): number => Number(db.get("SELECT total_changes() AS n")?.["n"]);
  const before = changes();
  db.run("INSERT INTO search_words (search_words, rank) VALUES ('merge', ?)", pages);
  return changes() - before >= 2;
}
