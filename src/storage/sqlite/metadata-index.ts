// Metadata index: the members of a thread's metadata as rows, so that a search by one reads only what has it.
// The open items of the inbox have rows of their own, in the order in which the inbox is read.
// Invariants:
//   MX1. Text, numbers, booleans and null have a row each; lists and objects have none, and are looked at in the JSON.
//   MX2. A row has at most VALUE_UNITS_MAX units of the value's JSON text; a longer one is compared in the JSON as well.
//   MX3. inbox_metadata has exactly the rows of thread_metadata, for each open item.
import type { SQLInputValue } from "node:sqlite";
import type { Scope } from "../../agent/model.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { Database } from "./database.ts";

const VALUE_UNITS_MAX = 200;

interface IndexedCondition {
  readonly key: string;
  /** The value's JSON text, as the index has it. */
  readonly text: string;
}

/** Null when the index has no row for it. */
export function indexText(value: Json): string | null {
  if (typeof value === "object" && value !== null) return null; // MX1
  return JSON.stringify(value).slice(0, VALUE_UNITS_MAX); // MX2
}

/** Brings the rows of a thread in line with its metadata. */
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

/** MX3, for all open items of a thread. */
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

/** MX3, for one item that has been written. */
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

/** What a scope and a metadata filter ask for: what the index can tell, and the rest as JSON texts to be contained. */
export function metadataConditions(
  scope: Scope,
  metadata: JsonObject | null,
): { readonly indexed: readonly IndexedCondition[]; readonly rest: readonly string[] } {
  const indexed: IndexedCondition[] = [];
  const rest: string[] = [];
  const add = (key: string, value: Json): void => {
    const text = indexText(value);
    if (text !== null) indexed.push({ key, text });
    if (text === null || text.length >= VALUE_UNITS_MAX) rest.push(JSON.stringify(Object.fromEntries([[key, value]])));
  };
  for (const { key, op, value } of scope ?? []) add(key, op === "eq" ? value : [value]);
  for (const [key, value] of Object.entries(metadata ?? {})) add(key, value);
  return { indexed, rest };
}

export interface Candidate<What> {
  readonly what: What;
  /** A query that yields a row for each entry that would be read. */
  readonly probe: readonly [sql: string, ...parameters: SQLInputValue[]];
}

/** Beyond this many entries, one index is as good as another: a page is full long before. */
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
  if (best === null) throw new Error("there is no index to choose from");
  return best.what;
}
