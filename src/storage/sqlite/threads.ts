// Threads in SQLite: rows, the conditional update, search, deletion, copies.
// Invariants:
//   TH1. A filter's keys and values are bound, never part of the SQL text.
//   TH2. Deleting a thread deletes every row that carries its id.
import type { SQLInputValue } from "node:sqlite";
import type { Thread } from "../../agent/model.ts";
import type { ThreadQuery, Tx } from "../../agent/ports.ts";
import type { Database } from "./database.ts";
import { addMetadataConditions } from "./metadata-filter.ts";
import { table } from "./rows.ts";

const THREADS = table<Thread>("threads", {
  threadId: ["thread_id", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  metadata: ["metadata", "json"],
  config: ["config", "json"],
  status: ["status", "plain"],
  pause: ["pause", "plain"],
  graphId: ["graph_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  overlay: ["overlay", "plain"],
  error: ["error", "json"],
  ttlMs: ["ttl_ms", "plain"],
  onCompletion: ["on_completion", "plain"],
});

const TABLES_OF_A_THREAD = [
  "runs",
  "interrupts",
  "audit",
  "checkpoints",
  "heads",
  "writes",
  "blobs",
  "idempotency",
  "threads",
];

type ThreadVerbs =
  | "thread"
  | "insertThread"
  | "updateThread"
  | "takeThread"
  | "deleteThread"
  | "searchThreads"
  | "countThreads"
  | "expiredThreads"
  | "copyThreadData";

export function threadVerbs(db: Database): Pick<Tx, ThreadVerbs> {
  return {
    thread(threadId) {
      const row = db.get(`SELECT ${THREADS.columns} FROM threads WHERE thread_id = ?`, threadId);
      return row === null ? null : THREADS.read(row);
    },
    insertThread: (thread) => THREADS.insert(db, [thread]),
    updateThread(threadId, patch) {
      THREADS.update(db, "thread_id", threadId, patch);
    },
    takeThread: (threadId, from, patch) =>
      THREADS.update(db, "thread_id", threadId, { ...patch, status: "busy", pause: null }, `AND status = '${from}'`) ===
      1,
    deleteThread(threadId) {
      let existed = false;
      for (const name of TABLES_OF_A_THREAD) existed = db.run(`DELETE FROM ${name} WHERE thread_id = ?`, threadId) > 0; // TH2; threads is the last
      return existed;
    },
    searchThreads(query) {
      const { where, parameters } = filterOf(query);
      const order = `${query.sortBy} ${query.descending ? "DESC" : "ASC"}, thread_id DESC`;
      const rows = db.all(
        `SELECT ${THREADS.columns} FROM threads ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
        ...parameters,
        query.limit,
        query.offset,
      );
      return rows.map(THREADS.read);
    },
    countThreads(query) {
      const { where, parameters } = filterOf(query);
      return Number(db.get(`SELECT count(*) AS n FROM threads ${where}`, ...parameters)?.["n"]);
    },
    expiredThreads(at, limit) {
      const rows = db.all(
        "SELECT thread_id FROM threads WHERE ttl_ms IS NOT NULL AND updated_at + ttl_ms < ? AND status <> 'busy' LIMIT ?",
        at,
        limit,
      );
      return rows.map((row) => String(row["thread_id"]));
    },
    copyThreadData(from, to) {
      for (const [name, columns] of COPIED) {
        db.run(
          `INSERT INTO ${name} (thread_id, ${columns}) SELECT ?, ${columns} FROM ${name} WHERE thread_id = ?`,
          to,
          from,
        );
      }
    },
  };
}

/** Columns beside thread_id. The audit trail is not copied: the copy's own begins with the copy. */
const COPIED = [
  ["checkpoints", "ns, checkpoint_id, parent_id, run_id, fingerprint, body, small, metadata"],
  ["heads", "ns, checkpoint_id"],
  ["writes", "ns, checkpoint_id, run_id, task_id, entries"],
  ["blobs", "hash, data"],
  [
    "interrupts",
    "interrupt_id, library_id, task_id, graph_ns, checkpoint_id, root_checkpoint_id, idx, ns, position, value, response_schema, state, created_at, run_id, answer",
  ],
] as const;

function filterOf(query: ThreadQuery): { readonly where: string; readonly parameters: SQLInputValue[] } {
  const conditions: string[] = [];
  const parameters: SQLInputValue[] = [];
  const add = (condition: string, ...values: SQLInputValue[]): void => {
    conditions.push(condition);
    parameters.push(...values);
  };
  addMetadataConditions(add, query); // TH1
  if (query.ids !== null) add("thread_id IN (SELECT value FROM json_each(?))", JSON.stringify(query.ids));
  // A word of a closed list, as a literal: only so does SQLite see that a partial index fits.
  if (query.status !== null) add(`status = '${query.status}'`);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, parameters };
}
