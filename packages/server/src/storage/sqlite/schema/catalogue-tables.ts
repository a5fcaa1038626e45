// Assistants, crons, and the long-term memory.

export const CATALOGUE_TABLES = `
  CREATE TABLE assistants (
    assistant_id TEXT NOT NULL PRIMARY KEY, graph_id TEXT NOT NULL, name TEXT NOT NULL, name_lower TEXT NOT NULL,
    version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, description TEXT,
    metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL
  );
  CREATE INDEX assistants_created ON assistants (created_at, assistant_id);
  CREATE INDEX assistants_updated ON assistants (updated_at, assistant_id);
  CREATE INDEX assistants_name ON assistants (name, assistant_id);
  CREATE INDEX assistants_graph ON assistants (graph_id, created_at, assistant_id);
  CREATE TABLE assistant_versions (
    assistant_id TEXT NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
    created_at INTEGER NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL,
    PRIMARY KEY (assistant_id, version)
  );
  CREATE TABLE assistant_metadata (
    key TEXT NOT NULL, value TEXT NOT NULL, assistant_id TEXT NOT NULL, PRIMARY KEY (key, value, assistant_id)
  ) WITHOUT ROWID;
  CREATE INDEX assistant_metadata_assistant ON assistant_metadata (assistant_id);

  CREATE TABLE crons (
    cron_id TEXT NOT NULL PRIMARY KEY, assistant_id TEXT NOT NULL, thread_id TEXT, schedule TEXT NOT NULL,
    timezone TEXT, end_time INTEGER, enabled INTEGER NOT NULL, disabled_reason TEXT, on_run_completed TEXT NOT NULL,
    next_run_date INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, caller TEXT NOT NULL, reach TEXT NOT NULL,
    metadata TEXT NOT NULL, payload TEXT NOT NULL
  );
  CREATE INDEX crons_created ON crons (created_at, cron_id);
  CREATE INDEX crons_due ON crons (next_run_date, cron_id) WHERE next_run_date IS NOT NULL;
  CREATE INDEX crons_thread ON crons (thread_id) WHERE thread_id IS NOT NULL;

  CREATE TABLE store_items (
    item_id INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ttl_ms INTEGER, expires_at INTEGER, tenant TEXT
  );
  CREATE UNIQUE INDEX store_items_key ON store_items (ns, key);
  CREATE INDEX store_items_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX store_items_tenant ON store_items (tenant) WHERE tenant IS NOT NULL;
  -- An item under each prefix of its namespace: the newest under any prefix are read in order.
  CREATE TABLE store_order (
    prefix TEXT NOT NULL, updated_at INTEGER NOT NULL, item_id INTEGER NOT NULL,
    PRIMARY KEY (prefix, updated_at, item_id)
  ) WITHOUT ROWID;
  CREATE TABLE store_vectors (
    item_id INTEGER NOT NULL, field TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (item_id, field)
  ) WITHOUT ROWID;
`;
