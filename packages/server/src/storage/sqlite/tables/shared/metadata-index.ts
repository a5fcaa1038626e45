// Metadata index: the members of a thread's metadata as rows (../../../shared/metadata-filter.ts), and those of the open
// inbox items, in inbox order.
// Invariant: inbox_metadata has exactly the rows of thread_metadata, for each open item.
import type { SQLInputValue } from "node:sqlite";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { indexText } from "../../../shared/metadata-filter.ts";
import type { Database } from "../../client/database.ts";
import { textIn, type KeptRow } from "../../client/kept-rows.ts";
import { table } from "./rows.ts";

interface Member {
  readonly threadId: string;
  readonly key: string;
  readonly value: string;
  readonly createdAt: number;
}

const MEMBERS = table<Member>("thread_metadata", {
  threadId: ["thread_id", "plain"],
  key: ["key", "plain"],
  value: ["value", "plain"],
  createdAt: ["created_at", "plain"],
});

/** Updates the rows of a thread to its metadata: those of changed members. */
export function indexMetadata(
  db: Database,
  { threadId, before }: { readonly threadId: string; readonly before: KeptRow },
  metadata: JsonObject,
): void {
  const old = indexedMembers(JSON.parse(textIn(before, "metadata")) as JsonObject);
  const now = indexedMembers(metadata);
  const gone = [...old.keys()].filter((key) => !now.has(key));
  const changed = [...now].filter(([key, text]) => old.get(key) !== text);
  if (gone.length > 0) {
    const listed = JSON.stringify(gone);
    db.run(
      "DELETE FROM thread_metadata WHERE thread_id = ? AND key IN (SELECT value FROM json_each(?))",
      threadId,
      listed,
    );
  }
  const createdAt = Number(before["created_at"]);
  MEMBERS.insert(
    db,
    changed.map(([key, value]) => ({ threadId, key, value, createdAt })),
    "INSERT OR REPLACE",
  );
  if (gone.length + changed.length === 0) return;
  const items = db.kept.interrupts.get(threadId);
  if (items?.every((item) => item["state"] !== "open") !== true) indexOpenItems(db, threadId);
}

/** Members with a row in the index, and the text of that row. */
function indexedMembers(metadata: JsonObject): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const [key, value] of Object.entries(metadata)) {
    const text = indexText(value);
    if (text !== null) members.set(key, text);
  }
  return members;
}

/** For all open items of a thread. */
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

/** For one new or changed item. */
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
    const count = countUpToMax(db, probe);
    if (best === null || count < best.count) best = { what, count };
  }
  if (best === null) throw new Error("no index to choose from");
  return best.what;
}

/** A count of PROBE_MAX entries takes as long as the search itself, and is believed for this many searches more. */
const BELIEVED_TIMES = 16;
const BELIEVED_MAX = 1000;
const believed = new WeakMap<Database, Map<string, number>>();

function countUpToMax(db: Database, probe: Candidate<unknown>["probe"]): number {
  const [sql, ...parameters] = probe;
  const left = believed.get(db) ?? new Map<string, number>();
  believed.set(db, left);
  const key = JSON.stringify(probe);
  const times = left.get(key) ?? 0;
  if (times > 0) {
    left.set(key, times - 1);
    return PROBE_MAX;
  }
  const count = Number(db.get(`SELECT count(*) AS n FROM (${sql} LIMIT ${PROBE_MAX})`, ...parameters)?.["n"]);
  if (left.size >= BELIEVED_MAX) left.clear();
  if (count === PROBE_MAX) left.set(key, BELIEVED_TIMES);
  else left.delete(key);
  return count;
}
