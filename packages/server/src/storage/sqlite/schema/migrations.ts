// Migrations: the schema of the embedded database, step by step. Steps are append-only; migrate.ts runs the missing ones.
import { CATALOGUE_TABLES } from "./catalogue-tables.ts";
import { INBOX_TABLES } from "./inbox-tables.ts";
import { MESSAGE_TABLES } from "./message-tables.ts";
import { PEOPLE_TABLES } from "./people-tables.ts";
import { THREAD_TABLES } from "./thread-tables.ts";

export const MIGRATIONS: readonly string[] = [
  THREAD_TABLES + INBOX_TABLES + CATALOGUE_TABLES + PEOPLE_TABLES + MESSAGE_TABLES,
  "ALTER TABLE runs ADD COLUMN cancel_reason TEXT",
  `CREATE TABLE policies (
    policy_id TEXT NOT NULL PRIMARY KEY, conditions TEXT NOT NULL, answer TEXT NOT NULL, reach TEXT,
    created_by TEXT NOT NULL, is_admin INTEGER NOT NULL, created_at INTEGER NOT NULL, until INTEGER
  )`,
  // tenant: whose limits it counts for; empty without limits.
  `ALTER TABLE threads ADD COLUMN tenant TEXT;
   ALTER TABLE runs ADD COLUMN tenant TEXT;
   ALTER TABLE store_items ADD COLUMN tenant TEXT;
   CREATE INDEX threads_tenant ON threads (tenant, status) WHERE tenant IS NOT NULL;
   CREATE INDEX runs_tenant ON runs (tenant) WHERE tenant IS NOT NULL AND status IN ('pending', 'running');
   CREATE INDEX store_items_tenant ON store_items (tenant) WHERE tenant IS NOT NULL`,
  // Checkpoints whose ids do not tell the order of writing (shared/written-order.ts).
  `CREATE INDEX checkpoints_skewed ON checkpoints (thread_id, ns) WHERE parent_id > checkpoint_id`,
  "ALTER TABLE people ADD COLUMN console TEXT",
  `ALTER TABLE interrupts ADD COLUMN priority INTEGER NOT NULL DEFAULT 2;
   CREATE INDEX interrupts_open_priority ON interrupts (priority, created_at, thread_id, interrupt_id)
     WHERE state = 'open'`,
  // Requests of before had a priority in their metadata only (create-request.ts).
  `UPDATE interrupts SET priority = CASE m.value WHEN '"urgent"' THEN 0 WHEN '"high"' THEN 1 ELSE 3 END
     FROM thread_metadata AS m
    WHERE m.key = 'priority' AND m.value IN ('"urgent"', '"high"', '"low"') AND m.thread_id = interrupts.thread_id
      AND interrupts.graph_id = 'holdpoint-request'`,
  "ALTER TABLE crons ADD COLUMN disabled_reason TEXT",
];
