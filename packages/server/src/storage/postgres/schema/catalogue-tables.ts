// Assistants, crons, and the long-term memory.

export const CATALOGUE_TABLES = `
  CREATE TABLE holdpoint.assistants (
    assistant_id TEXT COLLATE "C" PRIMARY KEY, graph_id TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
    name_lower TEXT COLLATE "C" NOT NULL, version INTEGER NOT NULL, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL
  );
  CREATE INDEX assistants_created ON holdpoint.assistants (created_at, assistant_id);
  CREATE INDEX assistants_updated ON holdpoint.assistants (updated_at, assistant_id);
  CREATE INDEX assistants_name ON holdpoint.assistants (name, assistant_id);
  CREATE INDEX assistants_graph ON holdpoint.assistants (graph_id, created_at, assistant_id);
  CREATE TABLE holdpoint.assistant_versions (
    assistant_id TEXT COLLATE "C" NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
    created_at BIGINT NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL,
    PRIMARY KEY (assistant_id, version)
  );
  CREATE TABLE holdpoint.assistant_metadata (
    key TEXT COLLATE "C" NOT NULL, value TEXT COLLATE "C" NOT NULL, assistant_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (key, value, assistant_id)
  );
  CREATE INDEX assistant_metadata_assistant ON holdpoint.assistant_metadata (assistant_id);

  CREATE TABLE holdpoint.crons (
    cron_id TEXT COLLATE "C" PRIMARY KEY, assistant_id TEXT COLLATE "C" NOT NULL, thread_id TEXT COLLATE "C",
    schedule TEXT NOT NULL, timezone TEXT, end_time BIGINT, enabled BOOLEAN NOT NULL, disabled_reason TEXT,
    on_run_completed TEXT NOT NULL, next_run_date BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, caller TEXT NOT NULL,
    reach TEXT NOT NULL, metadata TEXT NOT NULL, payload TEXT NOT NULL
  );
  CREATE INDEX crons_due ON holdpoint.crons (next_run_date, cron_id) WHERE next_run_date IS NOT NULL;
  CREATE INDEX crons_thread ON holdpoint.crons (thread_id) WHERE thread_id IS NOT NULL;

  CREATE TABLE holdpoint.store_items (
    item_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ns TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL, value TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    ttl_ms BIGINT, expires_at BIGINT, tenant TEXT COLLATE "C"
  );
  CREATE UNIQUE INDEX store_items_key ON holdpoint.store_items (ns, key);
  CREATE INDEX store_items_expiry ON holdpoint.store_items (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX store_items_tenant ON holdpoint.store_items (tenant) WHERE tenant IS NOT NULL;
  -- An item under each prefix of its namespace: the newest under any prefix are read in order.
  CREATE TABLE holdpoint.store_order (
    prefix TEXT COLLATE "C" NOT NULL, updated_at BIGINT NOT NULL, item_id BIGINT NOT NULL,
    PRIMARY KEY (prefix, updated_at, item_id)
  );
  CREATE INDEX store_order_item ON holdpoint.store_order (item_id);
  CREATE TABLE holdpoint.store_vectors (
    item_id BIGINT NOT NULL, field TEXT COLLATE "C" NOT NULL, vector BYTEA NOT NULL, PRIMARY KEY (item_id, field)
  );
`;
