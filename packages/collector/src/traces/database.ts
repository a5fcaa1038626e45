// Database of the trace store: one SQLite file, its tables, and durability.
// Invariants:
//   traces/database.1. An acknowledged transaction survives kill -9 and power loss: WAL with synchronous=FULL.
//   traces/database.2. One process has the file; a second fails with its name. kill -9 frees it.
//   traces/database.3. A file of a newer version stays untouched.
//   - Writes fail if another file has taken the file's name (base/files/file-guard.ts).
//   traces/database.5. Deleted rows are overwritten: nothing of them is left in the files of a stopped store.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { Clock } from "@holdpoint/base/clock.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { guardFiles } from "@holdpoint/base/files/file-guard.ts";
import { makeFolder } from "@holdpoint/base/files/private-folder.ts";
import type { Log } from "@holdpoint/base/log/log.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Pages of the index that one step of its merge writes. */
const MERGED_PAGES = 64;

export interface Database {
  get(sql: string, ...parameters: SQLInputValue[]): Row | null;
  all(sql: string, ...parameters: SQLInputValue[]): readonly Row[];
  run(sql: string, ...parameters: SQLInputValue[]): number;
  /** Rolled back if `work` throws. @throws {ApiError} `storage_unavailable` */
  transaction<T>(work: () => T): T;
  /** Null, or the reason why writes fail. */
  readonly problem: () => string | null;
  /** The files hold nothing of deleted rows any more: the index of words merges, and the write-ahead log is empty. */
  scrub(): Promise<void>;
  close(): void;
}

/** Steps are append-only. Each upgrades a file by one version. Runs of a trace are adjacent, in tree order. Times are microseconds. */
export const VERSIONS: readonly string[] = [
  `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, dotted_order TEXT NOT NULL, bytes INTEGER NOT NULL,
    facts TEXT NOT NULL, summary TEXT NOT NULL, main TEXT NOT NULL, type TEXT,
    inputs TEXT, outputs TEXT, events TEXT, extra TEXT, error TEXT, serialized TEXT
  );
  CREATE INDEX runs_tree ON runs (trace_id, dotted_order);
  CREATE TABLE attachments (
    run_id TEXT NOT NULL, trace_id TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (run_id, name)
  );
  CREATE INDEX attachments_trace ON attachments (trace_id);
  CREATE TABLE traces (
    trace_id TEXT PRIMARY KEY, project TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, error TEXT,
    started INTEGER NOT NULL, ended INTEGER, latency INTEGER, runs INTEGER NOT NULL, errors INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL, bytes INTEGER NOT NULL,
    thread_id TEXT, touched INTEGER NOT NULL, received_at INTEGER NOT NULL, waited INTEGER NOT NULL DEFAULT 0,
    waiting_since INTEGER, input TEXT, output TEXT
  );
  CREATE INDEX traces_started ON traces (started, trace_id);
  CREATE INDEX traces_project ON traces (project, started, trace_id);
  CREATE INDEX traces_thread ON traces (thread_id, started, trace_id) WHERE thread_id IS NOT NULL;
  CREATE INDEX traces_touched ON traces (touched);
  CREATE INDEX traces_received ON traces (received_at);
  -- So that a list of few traces does not read all.
  CREATE INDEX traces_status ON traces (status, started, trace_id);
  CREATE TABLE tags (
    trace_id TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (trace_id, kind, key, value)
  ) WITHOUT ROWID;
  CREATE INDEX tags_value ON tags (kind, key, value);
  -- Apart from their runs, so that a trace's cost needs no look at the runs without one.
  CREATE TABLE costs (
    trace_id TEXT NOT NULL, run_id TEXT NOT NULL, dotted_order TEXT NOT NULL, cost REAL NOT NULL,
    PRIMARY KEY (trace_id, run_id)
  ) WITHOUT ROWID;
  -- The sums of the whole store in one row, so that a start does not depend on the number of traces.
  CREATE TABLE totals (runs INTEGER NOT NULL, bytes INTEGER NOT NULL);
  INSERT INTO totals (runs, bytes) VALUES (0, 0);
  -- Words are those of api/text/search-words.ts.
  CREATE TABLE words (doc INTEGER PRIMARY KEY, trace_id TEXT NOT NULL UNIQUE, words TEXT NOT NULL);
  CREATE VIRTUAL TABLE words_index USING fts5(
    words, content = '', contentless_delete = 1, detail = none, prefix = '2 3', tokenize = "ascii"
  );
  CREATE TABLE keys (id TEXT PRIMARY KEY, proof TEXT NOT NULL);
  `,
  // The counts of projects, so that their list reads no traces.
  `
  CREATE TABLE projects (name TEXT PRIMARY KEY, traces INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO projects (name, traces) SELECT project, count(*) FROM traces GROUP BY project;
  CREATE TRIGGER traces_come AFTER INSERT ON traces BEGIN
    INSERT INTO projects (name, traces) VALUES (new.project, 1) ON CONFLICT (name) DO UPDATE SET traces = traces + 1;
  END;
  CREATE TRIGGER traces_move AFTER UPDATE OF project ON traces WHEN old.project <> new.project BEGIN
    INSERT INTO projects (name, traces) VALUES (new.project, 1) ON CONFLICT (name) DO UPDATE SET traces = traces + 1;
    UPDATE projects SET traces = traces - 1 WHERE name = old.project;
    DELETE FROM projects WHERE name = old.project AND traces = 0;
  END;
  CREATE TRIGGER traces_go AFTER DELETE ON traces BEGIN
    UPDATE projects SET traces = traces - 1 WHERE name = old.project;
    DELETE FROM projects WHERE name = old.project AND traces = 0;
  END;
  `,
];

export class TraceDatabaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TraceDatabaseError";
  }
}

class TraceDatabaseInUseError extends TraceDatabaseError {
  constructor(file: string) {
    super(`${file} is in use by another process: stop that process first`);
    this.name = "TraceDatabaseInUseError";
  }
}

/**
 * @param steps of this version; a test passes those of a later one
 * @throws {TraceDatabaseError} traces/database.2, traces/database.3
 */
export function openDatabase(folder: string, clock: Clock, log: Log, steps: readonly string[] = VERSIONS): Database {
  makeFolder(folder);
  const file = join(folder, "traces.db");
  closeSync(openSync(file, "a", 0o600)); // SQLite gives its other files the mode of this one
  const connection = new DatabaseSync(file);
  try {
    connection.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA temp_store = MEMORY;
      PRAGMA secure_delete = ON;
    `);
    migrate(connection, file, steps);
  } catch (error) {
    connection.close();
    if (error instanceof TraceDatabaseError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (/locked|busy/.test(reason)) throw new TraceDatabaseInUseError(file);
    throw new TraceDatabaseError(`${file} cannot be opened: ${reason}`);
  }
  const files = guardFiles([file, `${file}-wal`], clock, log);
  const [reads, writes] = [new Map<string, StatementSync>(), new Map<string, StatementSync>()];
  const prepared = (statements: typeof reads, sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statements.set(sql, (statement = connection.prepare(sql)));
      // A write reports the row id of the last insertion, and those inside FTS5 are larger than a number.
      if (statements === writes) statement.setReadBigInts(true);
    }
    return statement;
  };
  return {
    get: (sql, ...parameters) => prepared(reads, sql).get(...parameters) ?? null,
    all: (sql, ...parameters) => prepared(reads, sql).all(...parameters),
    run: (sql, ...parameters) => Number(prepared(writes, sql).run(...parameters).changes),
    transaction(work) {
      connection.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        const problem = files.problem();
        if (problem !== null) throw new ApiError("storage_unavailable", `${problem}.`);
        connection.exec("COMMIT");
        return result;
      } catch (error) {
        if (connection.isTransaction) connection.exec("ROLLBACK");
        throw error;
      }
    },
    problem: files.problem,
    async scrub() {
      const merge = prepared(writes, "INSERT INTO words_index (words_index, rank) VALUES ('merge', ?)");
      const changes = (): number => Number(prepared(reads, "SELECT total_changes() AS n").get()?.["n"]);
      // Negative: all parts of the index, also a single one. In steps, with the other work of the process in between.
      for (let pages = -MERGED_PAGES; ; pages = MERGED_PAGES) {
        const before = changes();
        merge.run(pages);
        if (changes() - before < 2) break;
        await new Promise<void>((resolve) => void setImmediate(resolve));
      }
      connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    close() {
      files.stop();
      connection.close();
    },
  };
}

function migrate(connection: DatabaseSync, file: string, steps: readonly string[]): void {
  const version = Number(connection.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > steps.length)
    throw new TraceDatabaseError(`${file} was written by a newer version: use that version, or another folder`);
  connection.exec("BEGIN IMMEDIATE"); // also takes the lock for good
  for (const step of steps.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA user_version = ${steps.length}`);
  connection.exec("COMMIT");
}
