// Migrations: the schema of the embedded database, step by step. Steps are append-only; migrate.ts runs the missing ones.
import { createColdTables } from "../../cold/cold-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

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
