// Metadata index: the members of a thread's metadata as rows (../../shared/metadata-filter.ts), and those of the open
// inbox items, in inbox order.
// Invariant sqlite/metadata-index.3: inbox_metadata has exactly the rows of thread_metadata, for each open item.
import type { SQLInputValue } from "node:sqlite";
import type { JsonObject } from "../../../base/json/json.ts";
import { indexText } from "../../shared/metadata-filter.ts";
import type { Database } from "../client/database.ts";

/** Updates the rows of a thread to its metadata. */
export function indexMetadata(db: Database, threadId: string, metadata: JsonObject): void {
  const createdAt = Number(db.get("SELECT created_at FROM threads WHERE thread_id = ?", threadId)?.["created_at"]);
  db.run("DELETE FROM thread_metadata WHERE thread_id = ?", threadId);
  for (const [key, value] of Object.entries(metadata)) {
    const text = indexText(value);
    if (text === null) continue;
    const insert = "INSERT INTO thread_metadata (thread_id, key, value, created_at) VALUES (?, ?, ?, ?)";
    db.run(insert, threadId, key, text, createdAt);
  }
  indexOpenItems(db, threadId);
}

/** sqlite/metadata-index.3, for all open items of a thread. */
export function indexOpenItems(db: Database, threadId: string): void {
  db.run("DELETE FROM inbox_metadata WHERE thread_id = ?", threadId);
  db.run(
    `INSERT INTO inbox_metadata (thread_id, interrupt_id, key, value, created_at)
     SELECT i.thread_id, i.interrupt_id, m.key, m.value, i.created_at
     FROM interrupts AS i JOIN thread_metadata AS m ON m.thread_id = i.thread_id
     WHERE i.thread_id = ? AND i.state = 'open'`,
    threadId,
  );
}

/** sqlite/metadata-index.3, for one new or changed item. */
export function indexItem(
  db: Database,
  {
    threadId,
    interruptId,
    createdAt,
  }: { readonly threadId: string; readonly interruptId: string; readonly createdAt: number },
  open: boolean,
): void {
  if (!open) {
    db.run("DELETE FROM inbox_metadata WHERE thread_id = ? AND interrupt_id = ?", threadId, interruptId);
    return;
  }
  db.run(
    `INSERT OR REPLACE INTO inbox_metadata (thread_id, interrupt_id, key, value, created_at)
     SELECT thread_id, ?, key, value, ? FROM thread_metadata WHERE thread_id = ?`,
    interruptId,
    createdAt,
    threadId,
  );
}

export interface Candidate<What> {
  readonly what: What;
  /** A query with one row for each entry to read. */
  readonly probe: readonly [sql: string, ...parameters: SQLInputValue[]];
}

/** Above this number of entries the choice does not matter: a page fills long before. */
const PROBE_MAX = 1000;

/** The candidate with the fewest entries; the first of equals. */
export function fewest<What>(db: Database, candidates: readonly Candidate<What>[]): What {
  let best: { readonly what: What; readonly count: number } | null = null;
  for (const { what, probe } of candidates) {
    if (candidates.length === 1) return what;
    const [sql, ...parameters] = probe;
    const count = Number(db.get(`SELECT count(*) AS n FROM (${sql} LIMIT ${PROBE_MAX})`, ...parameters)?.["n"]);
    if (best === null || count < best.count) best = { what, count };
  }
  if (best === null) throw new Error("no index to choose from");
  return best.what;
}
