// Migrations: the schema on PostgreSQL, step by step. Steps are append-only; migrate.ts runs the missing ones.
// Invariants:
//   postgres/migrations.1. A step keeps everything the previous version needs, because its servers run during a
//        rollout. It may add tables, indexes, and columns that are nullable or have a constant default, and replace a
//        function by one with the same signature and meaning. It removes and renames nothing, adds no constraint, and
//        gives no column a value unknown to the previous version: that belongs in the next release. For the same reason
//        every statement names its columns. The locks of a step last until the last step ends, and calls wait at most
//        15 seconds. So a step that reads or writes a whole table must be quick with a million rows.
//   - Keys compare byte by byte, whatever the database's collation.
//   - Times are milliseconds; JSON is text as received, NUL and lone surrogates included (text-encoding.ts).
import { createColdTables } from "../../cold/cold-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { PROCESS_TABLES } from "./process-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

const COLD_TABLES = createColdTables({
  schema: "holdpoint.",
  key: 'TEXT COLLATE "C"',
  long: "BIGINT",
  flag: "BOOLEAN",
  bytes: "BYTEA",
  numbered: "BIGINT GENERATED ALWAYS AS IDENTITY",
  byKey: "",
  more: "CREATE INDEX store_order_item ON holdpoint.store_order (item_id);",
});

export const MIGRATIONS: readonly string[] = [PROCESS_TABLES + THREAD_TABLES + INBOX_TABLES + COLD_TABLES];
