// Migrate: brings a file to the schema of this version, or rejects it.
// Invariants:
//   sqlite/migrate.1. All missing steps and the record of their run are one transaction.
//   sqlite/migrate.2. A file of a newer schema, or of a newer LangGraph, stays untouched.
import { compareVersions, NewerDatabaseError, type Versions } from "../../shared/schema-version.ts";
import type { Database } from "../client/database.ts";
import { createColdTables } from "../../cold/cold-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

/**
 * @param steps of this version; a test passes those of a later one
 * @throws {NewerDatabaseError} sqlite/migrate.2
 */
export function migrate(db: Database, versions: Versions, steps: readonly string[] = MIGRATIONS): void {
  db.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  const meta = (key: string): string | null => {
    const value = db.get("SELECT value FROM meta WHERE key = ?", key)?.["value"];
    return typeof value === "string" ? value : null;
  };
  const applied = Number(meta("schema") ?? 0);
  if (applied > steps.length) throw new NewerDatabaseError(`Holdpoint ${meta("holdpoint") ?? "of a newer release"}`);
  const library = meta("library");
  if (library !== null && compareVersions(library, versions.library) > 0)
    throw new NewerDatabaseError(`@langchain/langgraph ${library} (this process has ${versions.library})`);
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of steps.slice(applied)) db.exec(step);
    const note = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    db.run(note, "schema", String(steps.length)); // sqlite/migrate.1
    db.run(note, "holdpoint", versions.holdpoint);
    db.run(note, "library", versions.library);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction()) db.exec("ROLLBACK");
    throw error;
  }
}

// The schema, step by step. Steps are append-only.

const COLD_TABLES = createColdTables({
  schema: "",
  key: "TEXT",
  long: "INTEGER",
  flag: "INTEGER",
  bytes: "BLOB",
  numbered: "INTEGER",
  byKey: "WITHOUT ROWID",
  more: "CREATE INDEX crons_created ON crons (created_at, cron_id);",
});

export const MIGRATIONS: readonly string[] = [THREAD_TABLES + INBOX_TABLES + COLD_TABLES];
