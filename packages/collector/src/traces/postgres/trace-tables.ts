// Trace tables: the tables of the trace store in PostgreSQL, and their partitions of a day each.
// Invariants:
//   trace-tables.1. A trace and its runs are in the partition of the day on which the first of them arrived.
//   trace-tables.2. A day goes as a whole, by dropping its partitions, after none of its traces has changed for the maximum
//        age. Writers of that day are waited for, so nothing that they had stored before goes with it.
//   trace-tables.3. One process at a time changes tables; a table in use is left for the next sweep. A database of a newer
//        version stays untouched.
import type { Sql, TraceSql } from "./sql.ts";

/** Any number that nothing else in the database uses. */
const SCHEMA_LOCK = 0x74726163;
const LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'";
const TABLES = ["attachments", "runs", "traces"] as const;
const DAY_MS = 86_400_000;

/** Steps are append-only. Texts compare by bytes. Times are microseconds, `touched_at` milliseconds. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE holdpoint_traces.traces (
    day DATE NOT NULL, trace_id TEXT COLLATE "C" NOT NULL, project TEXT COLLATE "C" NOT NULL, name TEXT NOT NULL,
    status TEXT NOT NULL, error TEXT, started BIGINT NOT NULL, ended BIGINT, latency BIGINT, waited BIGINT NOT NULL,
    waiting_since BIGINT, input TEXT, output TEXT, runs INTEGER NOT NULL, errors INTEGER NOT NULL,
    input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, cost DOUBLE PRECISION, bytes BIGINT NOT NULL,
    thread_id TEXT COLLATE "C", touched_at BIGINT NOT NULL, models TEXT[] NOT NULL,
    labels TEXT[] NOT NULL, -- hashes of tags
    words TSVECTOR NOT NULL, -- those of api/text/search-words.ts
    PRIMARY KEY (trace_id, day)
  ) PARTITION BY LIST (day);
  CREATE INDEX traces_started ON holdpoint_traces.traces (started DESC, trace_id DESC);
  CREATE INDEX traces_project ON holdpoint_traces.traces (project, started DESC, trace_id DESC);
  CREATE INDEX traces_thread ON holdpoint_traces.traces (thread_id, started DESC) WHERE thread_id IS NOT NULL;
  -- Most have succeeded: those are found from the newest.
  CREATE INDEX traces_status ON holdpoint_traces.traces (status, started DESC, trace_id DESC)
    WHERE status <> 'success';
  CREATE INDEX traces_touched ON holdpoint_traces.traces (touched_at);
  -- Without a list of pending entries, which every search would read.
  CREATE INDEX traces_labels ON holdpoint_traces.traces USING gin (labels) WITH (fastupdate = off);
  CREATE INDEX traces_words ON holdpoint_traces.traces USING gin (words) WITH (fastupdate = off);
  CREATE TABLE holdpoint_traces.runs (
    day DATE NOT NULL, run_id TEXT COLLATE "C" NOT NULL, trace_id TEXT COLLATE "C" NOT NULL,
    dotted_order TEXT COLLATE "C" NOT NULL, bytes BIGINT NOT NULL, cost DOUBLE PRECISION, facts TEXT NOT NULL,
    summary TEXT NOT NULL, main TEXT NOT NULL, type TEXT, inputs TEXT, outputs TEXT, events TEXT, extra TEXT, error TEXT,
    serialized TEXT, PRIMARY KEY (run_id, day)
  ) PARTITION BY LIST (day);
  CREATE INDEX runs_tree ON holdpoint_traces.runs (trace_id, dotted_order);
  CREATE INDEX runs_cost ON holdpoint_traces.runs (trace_id) WHERE cost IS NOT NULL;
  CREATE TABLE holdpoint_traces.attachments (
    day DATE NOT NULL, run_id TEXT COLLATE "C" NOT NULL, trace_id TEXT COLLATE "C" NOT NULL, name TEXT NOT NULL,
    type TEXT NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (run_id, name, day)
  ) PARTITION BY LIST (day);
  CREATE INDEX attachments_trace ON holdpoint_traces.attachments (trace_id);
  CREATE TABLE holdpoint_traces.keys (id TEXT PRIMARY KEY, proof TEXT NOT NULL);
  `,
];

/** @throws {Error} trace-tables.3 */
export async function migrateTraces(db: TraceSql, steps: readonly string[] = STEPS): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.all("SELECT pg_advisory_xact_lock($1)", SCHEMA_LOCK);
    const [found] = await sql.all("SELECT to_regclass('holdpoint_traces.meta') IS NOT NULL AS known");
    if (found?.["known"] !== true) {
      await sql.all("CREATE SCHEMA IF NOT EXISTS holdpoint_traces");
      await sql.all("CREATE TABLE holdpoint_traces.meta (version INTEGER NOT NULL)");
      await sql.all("INSERT INTO holdpoint_traces.meta VALUES (0)");
    }
    const version = Number((await sql.all("SELECT version FROM holdpoint_traces.meta"))[0]?.["version"]);
    if (version > steps.length)
      throw new Error(
        "the traces in this database were written by a newer version: use that version, or another database",
      );
    for (const step of steps.slice(version)) await sql.all(step);
    if (version < steps.length) await sql.all("UPDATE holdpoint_traces.meta SET version = $1", steps.length);
  });
}

/** Milliseconds since 1970 → `2026-11-28`, in UTC. */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const partition = (table: string, day: string): string => `holdpoint_traces.${table}_${day.replaceAll("-", "")}`;

/** trace-tables.1, for today and tomorrow. */
export async function addDays(db: TraceSql, now: number): Promise<readonly string[]> {
  const days = [formatDay(now), formatDay(now + DAY_MS)];
  const missing: string[] = [];
  for (const day of days) {
    const [row] = await db.all("SELECT to_regclass($1) IS NULL AS missing", partition("traces", day));
    if (row?.["missing"] === true) missing.push(day);
  }
  if (missing.length === 0) return days;
  await db.transaction(async (sql) => {
    await sql.all("SELECT pg_advisory_xact_lock($1)", SCHEMA_LOCK);
    await sql.all(LOCK_TIMEOUT);
    for (const day of missing)
      for (const table of TABLES)
        await sql.all(
          `CREATE TABLE IF NOT EXISTS ${partition(table, day)} PARTITION OF holdpoint_traces.${table} FOR VALUES IN ('${day}')`,
        );
  });
  return days;
}

/** trace-tables.2. @param before milliseconds since 1970 @returns the dropped days */
export async function dropDays(db: TraceSql, before: number): Promise<readonly string[]> {
  const rows = await db.all(
    `SELECT right(c.relname, 8) AS day FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'holdpoint_traces.traces'::regclass AND right(c.relname, 8) < $1 ORDER BY 1`,
    formatDay(before).replaceAll("-", ""),
  );
  const dropped: string[] = [];
  for (const { day } of rows) {
    const name = String(day).replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3");
    if (await db.transaction((sql) => dropDay(sql, name, before))) dropped.push(name);
  }
  return dropped;
}

async function dropDay(sql: Sql, day: string, before: number): Promise<boolean> {
  const [own] = await sql.all("SELECT pg_try_advisory_xact_lock($1) AS own", SCHEMA_LOCK);
  if (own?.["own"] !== true || (await isInUse(sql, day, before))) return false;
  await sql.all(LOCK_TIMEOUT);
  // The parents first, as their readers and writers lock them.
  for (const table of TABLES) await sql.all(`LOCK TABLE holdpoint_traces.${table} IN ACCESS EXCLUSIVE MODE`);
  if (await isInUse(sql, day, before)) return false;
  for (const table of TABLES) await sql.all(`DROP TABLE IF EXISTS ${partition(table, day)}`);
  return true;
}

async function isInUse(sql: Sql, day: string, before: number): Promise<boolean> {
  const rows = await sql.all(`SELECT 1 FROM ${partition("traces", day)} WHERE touched_at >= $1 LIMIT 1`, before);
  return rows.length > 0;
}
