// Runs in SQLite: rows, the queue's order, idempotency keys.
// Invariants:
//   RU1. At most one run of a thread is `running`; the unique partial index refuses a second.
//   RU2. A big input is a blob of the thread, so that the checkpoints that hold the same value store it no second time.
import { BIG_VALUE_UNITS, type Run } from "../../agent/model.ts";
import type { IdempotencyRecord, Tx } from "../../agent/ports.ts";
import { contentHash } from "../../base/ids.ts";
import type { Database, Row } from "./database.ts";
import { table } from "./rows.ts";

interface RunRow extends Run {
  /** Runs that answer or continue a pause go before those that merely wait. */
  readonly urgent: number;
}

const RUNS = table<RunRow>("runs", {
  runId: ["run_id", "plain"],
  threadId: ["thread_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  graphId: ["graph_id", "plain"],
  status: ["status", "plain"],
  endedBy: ["ended_by", "plain"],
  attempt: ["attempt", "plain"],
  crashes: ["crashes", "plain"],
  urgent: ["urgent", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  metadata: ["metadata", "json"],
  multitaskStrategy: ["multitask", "plain"],
  request: ["request", "json"],
  input: ["input", "plain"],
  error: ["error", "json"],
  checkpointId: ["checkpoint_id", "plain"],
  overlay: ["overlay", "plain"],
  pausedOn: ["paused_on", "json"],
});

const IDEMPOTENCY = table<IdempotencyRecord>("idempotency", {
  key: ["key", "plain"],
  requestHash: ["request_hash", "plain"],
  threadId: ["thread_id", "plain"],
  runId: ["run_id", "plain"],
  createdAt: ["created_at", "plain"],
});

type RunVerbs =
  | "run"
  | "runs"
  | "activeRuns"
  | "runsOfAssistant"
  | "newestRunId"
  | "insertRun"
  | "updateRun"
  | "deleteRun"
  | "nextPendingRun"
  | "runningRuns"
  | "hasPendingRun"
  | "countPendingRuns"
  | "isCurrent"
  | "idempotency"
  | "putIdempotency"
  | "deleteIdempotencyBefore";

export function runVerbs(db: Database): Pick<Tx, RunVerbs> {
  const read = (row: Row): Run => {
    const { urgent: _urgent, ...run } = RUNS.read(row);
    if (run.input?.startsWith("#") !== true) return run;
    const blob = db.get("SELECT data FROM blobs WHERE thread_id = ? AND hash = ?", run.threadId, run.input.slice(1));
    return { ...run, input: String(blob?.["data"]) };
  };
  const one = (where: string, ...parameters: string[]): Run | null => {
    const row = db.get(`SELECT ${RUNS.columns} FROM runs ${where}`, ...parameters);
    return row === null ? null : read(row);
  };
  return {
    run: (threadId, runId) => one("WHERE run_id = ? AND thread_id = ?", runId, threadId),
    runs(threadId, query) {
      const rows = db.all(
        `SELECT ${RUNS.columns} FROM runs WHERE thread_id = ? AND (? IS NULL OR status = ?)
         ORDER BY run_id DESC LIMIT ? OFFSET ?`,
        threadId,
        query.status,
        query.status,
        query.limit,
        query.offset,
      );
      return rows.map(read);
    },
    activeRuns(threadId) {
      const rows = db.all(
        `SELECT ${RUNS.columns} FROM runs WHERE thread_id = ? AND status IN ('pending', 'running')
         ORDER BY status = 'running' DESC, urgent DESC, run_id`,
        threadId,
      );
      return rows.map(read);
    },
    runsOfAssistant(assistantId, which, limit) {
      const rows = db.all(
        `SELECT ${RUNS.columns} FROM runs
         WHERE assistant_id = ? AND status ${which === "active" ? "" : "NOT"} IN ('pending', 'running')
         ORDER BY run_id LIMIT ?`,
        assistantId,
        limit,
      );
      return rows.map(read);
    },
    newestRunId() {
      const id = db.get("SELECT max(run_id) AS id FROM runs")?.["id"];
      return typeof id === "string" ? id : null;
    },
    insertRun(run) {
      let { input } = run;
      if (input !== null && input.length > BIG_VALUE_UNITS) {
        const hash = contentHash(input); // RU2
        db.run("INSERT OR IGNORE INTO blobs (thread_id, hash, data) VALUES (?, ?, ?)", run.threadId, hash, input);
        input = `#${hash}`;
      }
      RUNS.insert(db, [{ ...run, input, urgent: run.request.goesFirst ? 1 : 0 }]);
    },
    updateRun(runId, patch) {
      RUNS.update(db, "run_id", runId, patch);
    },
    deleteRun(runId) {
      db.run("DELETE FROM runs WHERE run_id = ?", runId);
      db.run("DELETE FROM idempotency WHERE run_id = ?", runId);
    },
    nextPendingRun: () =>
      one(
        `WHERE status = 'pending'
           AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.thread_id = runs.thread_id AND other.status = 'running')
           AND NOT EXISTS (SELECT 1 FROM threads WHERE threads.thread_id = runs.thread_id AND threads.status = 'interrupted')
         ORDER BY urgent DESC, run_id LIMIT 1`,
      ),
    runningRuns: () => db.all(`SELECT ${RUNS.columns} FROM runs WHERE status = 'running'`).map(read),
    hasPendingRun: (threadId) =>
      db.get("SELECT 1 FROM runs WHERE thread_id = ? AND status = 'pending' LIMIT 1", threadId) !== null,
    countPendingRuns: () => Number(db.get("SELECT count(*) AS n FROM runs WHERE status = 'pending'")?.["n"]),
    isCurrent: (runId, attempt) =>
      db.get("SELECT 1 FROM runs WHERE run_id = ? AND attempt = ? AND status = 'running'", runId, attempt) !== null,

    idempotency(key) {
      const row = db.get(`SELECT ${IDEMPOTENCY.columns} FROM idempotency WHERE key = ?`, key);
      return row === null ? null : IDEMPOTENCY.read(row);
    },
    putIdempotency: (record) => IDEMPOTENCY.insert(db, [record]),
    deleteIdempotencyBefore(at) {
      db.run("DELETE FROM idempotency WHERE created_at < ?", at);
    },
  };
}
