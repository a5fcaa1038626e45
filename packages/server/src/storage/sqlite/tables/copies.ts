// Copies of threads in SQLite. A transaction holds the event loop, so large values are copied ahead, a few at a time.
// Invariants:
//   - Nothing reads a value without its thread, and the copy's thread comes with all other rows in one
//     transaction. Values never change, so those copied ahead stay right.
//   sqlite/copies.2. `meta` names each unfinished copy. The next start deletes its values.
import type { SQLInputValue } from "node:sqlite";
import { COPIED_COLUMNS, resealed, type ThreadCopy } from "../../shared/thread-copy.ts";
import type { CopyTx } from "../../../ports/ports.ts";
import type { Database } from "../client/database.ts";
import { indexOpenItems } from "./shared/metadata-index.ts";

/** One transaction copies values of so many bytes, or one larger value. */
const SLICE_BYTES = 2 * 1024 * 1024;
const SLICE_ROWS = 256;

const nameCopyNote = (threadId: string): string => `copy:${threadId}`;

export function copyVerbs(db: Database): CopyTx {
  return {
    copyValuesAhead(from, to, after) {
      const rows = db
        .all(
          "SELECT hash, octet_length(data) AS bytes FROM blobs WHERE thread_id = ? AND hash > ? ORDER BY hash LIMIT ?",
          from,
          after ?? "",
          SLICE_ROWS,
        )
        .map(({ hash, bytes }) => ({ hash: String(hash), bytes: Number(bytes) }));
      if (rows.length === 0) return null;
      const slice = fitting(rows);
      if (after === null) {
        if (slice.length === rows.length && rows.length < SLICE_ROWS) return null; // copyThreadData copies so few
        db.run("INSERT INTO meta (key, value) VALUES (?, '')", nameCopyNote(to)); // sqlite/copies.2
        return "";
      }
      for (const hash of slice) copyRows(db, { table: "blobs", from, to, columns: "hash, data" }, "AND hash = ?", hash);
      return slice.at(-1) ?? null;
    },
    copyThreadData(from, to) {
      for (const [table, columns] of COPIED_COLUMNS) {
        const copy = { table, from, to, columns };
        if (table !== "blobs") copyRows(db, copy);
        else copyRows(db, copy, "AND hash NOT IN (SELECT hash FROM blobs WHERE thread_id = ?)", to);
      }
      db.run("DELETE FROM meta WHERE key = ?", nameCopyNote(to));
      db.changed.add(to);
      db.kept.heads.delete(to);
      db.kept.interrupts.delete(to);
      indexOpenItems(db, to);
    },
    abandonCopy(to) {
      if (db.get("SELECT key FROM meta WHERE key = ?", nameCopyNote(to)) !== null) drop(db, to); // a finished copy has no note
    },
  };
}

/** Without sealed values the database copies alone: they are bound to their thread. */
function copyRows(db: Database, copy: ThreadCopy, also = "", ...values: readonly string[]): void {
  const { table: name, from, to, columns } = copy;
  const chosen = `FROM ${name} WHERE thread_id = ? ${also}`;
  if (db.sealing.ring === null) {
    db.run(`INSERT INTO ${name} (thread_id, ${columns}) SELECT ?, ${columns} ${chosen}`, to, from, ...values);
    return;
  }
  const { insert, cells } = resealed(db.sealing, copy);
  for (const row of db.all(`SELECT thread_id, ${columns} ${chosen}`, from, ...values))
    db.run(`INSERT INTO ${name} ${insert("?")}`, ...(cells(row) as SQLInputValue[]));
}

/** sqlite/copies.2. */
export function dropUnfinishedCopies(db: Database): void {
  const unfinished = db.all("SELECT key FROM meta WHERE key >= 'copy:' AND key < 'copy;'");
  for (const { key } of unfinished) drop(db, String(key).slice(nameCopyNote("").length));
}

/** The note goes last: a crash in between leaves it. */
function drop(db: Database, threadId: string): void {
  db.run("DELETE FROM blobs WHERE thread_id = ?", threadId);
  db.run("DELETE FROM meta WHERE key = ?", nameCopyNote(threadId));
}

function fitting(rows: readonly { readonly hash: string; readonly bytes: number }[]): readonly string[] {
  const hashes: string[] = [];
  let total = 0;
  for (const { hash, bytes } of rows) {
    total += bytes;
    if (hashes.length > 0 && total > SLICE_BYTES) break;
    hashes.push(hash);
  }
  return hashes;
}
