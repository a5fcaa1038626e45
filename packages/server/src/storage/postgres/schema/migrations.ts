// Migrations: the schema on PostgreSQL, step by step. Steps are append-only; migrate.ts runs the missing ones.
// Invariants:
//   postgres/migrations.1. A step keeps everything the previous version needs, because its servers run during a
//        rollout. It may add tables, indexes, and columns that are nullable or have a constant default, and replace a
//        function by one with the same signature and meaning. It removes and renames nothing, adds no constraint, and
//        gives no column a value unknown to the previous version: that belongs in the next release. For the same reason
//        every statement names its columns. The locks of a step last until the last step ends, and calls wait at most
//        15 seconds. So a step that reads or writes a whole table must be quick with a million rows.
//   postgres/migrations.2. Keys compare byte by byte, whatever the database's collation.
//   postgres/migrations.3. Times are milliseconds; JSON is text as received, NUL and lone surrogates included
//        (text-encoding.ts).
import { CATALOGUE_TABLES } from "./catalogue-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { MESSAGE_TABLES } from "./message-tables.ts";
import { PEOPLE_TABLES } from "./people-tables.ts";
import { PROCESS_TABLES } from "./process-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

export const MIGRATIONS: readonly string[] = [
  PROCESS_TABLES + THREAD_TABLES + INBOX_TABLES + CATALOGUE_TABLES + PEOPLE_TABLES + MESSAGE_TABLES,
  `ALTER TABLE holdpoint.runs ADD COLUMN cancel_reason TEXT`,
  `CREATE TABLE holdpoint.policies (
    policy_id TEXT COLLATE "C" PRIMARY KEY, conditions TEXT NOT NULL, answer TEXT NOT NULL, reach TEXT,
    created_by TEXT NOT NULL, is_admin BOOLEAN NOT NULL, created_at BIGINT NOT NULL, until BIGINT
  )`,
  // tenant: whose limits it counts for; empty without limits.
  `ALTER TABLE holdpoint.threads ADD COLUMN tenant TEXT COLLATE "C";
   ALTER TABLE holdpoint.runs ADD COLUMN tenant TEXT COLLATE "C";
   ALTER TABLE holdpoint.store_items ADD COLUMN tenant TEXT COLLATE "C";
   CREATE INDEX threads_tenant ON holdpoint.threads (tenant, status) WHERE tenant IS NOT NULL;
   CREATE INDEX runs_tenant ON holdpoint.runs (tenant) WHERE tenant IS NOT NULL AND status IN ('pending', 'running');
   CREATE INDEX store_items_tenant ON holdpoint.store_items (tenant) WHERE tenant IS NOT NULL`,
  // Checkpoints whose ids do not tell the order of writing (shared/written-order.ts).
  `CREATE INDEX checkpoints_skewed ON holdpoint.checkpoints (thread_id, ns) WHERE parent_id > checkpoint_id`,
  `ALTER TABLE holdpoint.people ADD COLUMN console TEXT`,
  `ALTER TABLE holdpoint.interrupts ADD COLUMN priority INTEGER NOT NULL DEFAULT 2;
   CREATE INDEX interrupts_open_priority ON holdpoint.interrupts (priority, created_at, thread_id, interrupt_id)
     WHERE state = 'open'`,
  // Requests of before had a priority in their metadata only (create-request.ts).
  `UPDATE holdpoint.interrupts SET priority = CASE m.value WHEN '"urgent"' THEN 0 WHEN '"high"' THEN 1 ELSE 3 END
     FROM holdpoint.thread_metadata AS m
    WHERE m.key = 'priority' AND m.value IN ('"urgent"', '"high"', '"low"') AND m.thread_id = interrupts.thread_id
      AND interrupts.graph_id = 'holdpoint-request'`,
  `ALTER TABLE holdpoint.crons ADD COLUMN disabled_reason TEXT`,
];
