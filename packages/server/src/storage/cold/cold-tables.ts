// The schema of the cold tables and of the long-term memory, once for both databases: a part of the first step of each.
export interface Dialect {
  /** Stands before the name of each table. */
  readonly schema: "" | "holdpoint.";
  /** A text that is compared byte by byte. */
  readonly key: string;
  /** A whole number of 64 bits: a time, a number of a row. */
  readonly long: string;
  readonly flag: string;
  readonly bytes: string;
  /** A column that numbers its rows. */
  readonly numbered: string;
  /** The end of a table with small rows, which are found by their key alone. */
  readonly byKey: string;
  /** Indexes of this database alone. */
  readonly more: string;
}

export const createColdTables = (dialect: Dialect): string =>
  createCatalogue(dialect) + createPeople(dialect) + createMessages(dialect) + dialect.more;

/** Assistants, crons, and the long-term memory. */
function createCatalogue({ schema, key, long, flag, bytes, numbered, byKey }: Dialect): string {
  return `
    CREATE TABLE ${schema}assistants (
      assistant_id ${key} NOT NULL PRIMARY KEY, graph_id ${key} NOT NULL, name ${key} NOT NULL, name_lower ${key} NOT NULL,
      version INTEGER NOT NULL, created_at ${long} NOT NULL, updated_at ${long} NOT NULL, description TEXT,
      metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL
    );
    CREATE INDEX assistants_created ON ${schema}assistants (created_at, assistant_id);
    CREATE INDEX assistants_updated ON ${schema}assistants (updated_at, assistant_id);
    CREATE INDEX assistants_name ON ${schema}assistants (name, assistant_id);
    CREATE INDEX assistants_graph ON ${schema}assistants (graph_id, created_at, assistant_id);
    CREATE TABLE ${schema}assistant_versions (
      assistant_id ${key} NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
      created_at ${long} NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL,
      PRIMARY KEY (assistant_id, version)
    );
    CREATE TABLE ${schema}assistant_metadata (
      key ${key} NOT NULL, value ${key} NOT NULL, assistant_id ${key} NOT NULL, PRIMARY KEY (key, value, assistant_id)
    ) ${byKey};
    CREATE INDEX assistant_metadata_assistant ON ${schema}assistant_metadata (assistant_id);

    CREATE TABLE ${schema}crons (
      cron_id ${key} NOT NULL PRIMARY KEY, assistant_id ${key} NOT NULL, thread_id ${key}, schedule TEXT NOT NULL,
      timezone TEXT, end_time ${long}, enabled ${flag} NOT NULL, disabled_reason TEXT, on_run_completed TEXT NOT NULL,
      next_run_date ${long}, created_at ${long} NOT NULL, updated_at ${long} NOT NULL, caller TEXT NOT NULL,
      reach TEXT NOT NULL, metadata TEXT NOT NULL, payload TEXT NOT NULL
    );
    CREATE INDEX crons_due ON ${schema}crons (next_run_date, cron_id) WHERE next_run_date IS NOT NULL;
    CREATE INDEX crons_thread ON ${schema}crons (thread_id) WHERE thread_id IS NOT NULL;

    CREATE TABLE ${schema}store_items (
      item_id ${numbered} PRIMARY KEY, ns ${key} NOT NULL, key ${key} NOT NULL, value TEXT NOT NULL,
      created_at ${long} NOT NULL, updated_at ${long} NOT NULL, ttl_ms ${long}, expires_at ${long}, tenant ${key}
    );
    CREATE UNIQUE INDEX store_items_key ON ${schema}store_items (ns, key);
    CREATE INDEX store_items_expiry ON ${schema}store_items (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX store_items_tenant ON ${schema}store_items (tenant) WHERE tenant IS NOT NULL;
    -- An item under each prefix of its namespace: the newest under any prefix are read in order.
    CREATE TABLE ${schema}store_order (
      prefix ${key} NOT NULL, updated_at ${long} NOT NULL, item_id ${long} NOT NULL,
      PRIMARY KEY (prefix, updated_at, item_id)
    ) ${byKey};
    CREATE TABLE ${schema}store_vectors (
      item_id ${long} NOT NULL, field ${key} NOT NULL, vector ${bytes} NOT NULL, PRIMARY KEY (item_id, field)
    ) ${byKey};
`;
}

/** People who have signed in, their sessions, the keys of programs, and tickets for WebSockets. Secrets are hashes. */
function createPeople({ schema, key, long, byKey }: Dialect): string {
  return `
    CREATE TABLE ${schema}people (
      name ${key} NOT NULL PRIMARY KEY, issuer ${key} NOT NULL, subject ${key} NOT NULL, display_name TEXT NOT NULL,
      email TEXT, groups TEXT NOT NULL, created_at ${long} NOT NULL, seen_at ${long} NOT NULL, console TEXT
    ) ${byKey};
    CREATE UNIQUE INDEX people_subject ON ${schema}people (issuer, subject);
    CREATE TABLE ${schema}sessions (
      session_id ${key} NOT NULL PRIMARY KEY, person ${key} NOT NULL, token_hash ${key} NOT NULL, previous_hash ${key},
      previous_until ${long}, rotated_at ${long} NOT NULL, provider_session TEXT, id_token TEXT NOT NULL,
      claims TEXT NOT NULL, created_at ${long} NOT NULL, used_at ${long} NOT NULL, expires_at ${long} NOT NULL
    ) ${byKey};
    CREATE UNIQUE INDEX sessions_token ON ${schema}sessions (token_hash);
    CREATE INDEX sessions_previous ON ${schema}sessions (previous_hash) WHERE previous_hash IS NOT NULL;
    CREATE INDEX sessions_person ON ${schema}sessions (person);
    -- A logout at the provider names its session.
    CREATE INDEX sessions_provider ON ${schema}sessions (provider_session) WHERE provider_session IS NOT NULL;
    CREATE TABLE ${schema}api_keys (
      key_id ${key} NOT NULL PRIMARY KEY, name TEXT NOT NULL, hash ${key} NOT NULL, role TEXT NOT NULL,
      limits TEXT NOT NULL, created_by TEXT NOT NULL, created_at ${long} NOT NULL, expires_at ${long}, used_at ${long}
    ) ${byKey};
    CREATE UNIQUE INDEX api_keys_hash ON ${schema}api_keys (hash);
    CREATE TABLE ${schema}socket_tickets (
      digest ${key} NOT NULL PRIMARY KEY, caller ${key} NOT NULL, headers TEXT NOT NULL, expires_at ${long} NOT NULL
    ) ${byKey};
    CREATE INDEX socket_tickets_caller ON ${schema}socket_tickets (caller);
    CREATE INDEX socket_tickets_expiry ON ${schema}socket_tickets (expires_at);
`;
}

/** The outbox of webhooks and notifications, messages that change with their items, and one-use tokens of links. */
function createMessages({ schema, key, long, byKey }: Dialect): string {
  return `
    -- A run has one webhook of its own (webhooks.run_id); run_webhooks are those that others added to it.
    CREATE TABLE ${schema}webhooks (
      run_id ${key} NOT NULL PRIMARY KEY, url TEXT NOT NULL, host ${key} NOT NULL, channel TEXT NOT NULL, batch ${key},
      attempts INTEGER NOT NULL, due_at ${long} NOT NULL, created_at ${long} NOT NULL, headers TEXT NOT NULL,
      body TEXT NOT NULL
    );
    CREATE INDEX webhooks_due ON ${schema}webhooks (due_at, run_id);
    CREATE INDEX webhooks_batch ON ${schema}webhooks (batch, due_at) WHERE batch IS NOT NULL;
    CREATE TABLE ${schema}run_webhooks (
      thread_id ${key} NOT NULL, run_id ${key} NOT NULL, webhook_id ${key} NOT NULL, url TEXT NOT NULL,
      format TEXT NOT NULL, headers TEXT NOT NULL, created_at ${long} NOT NULL,
      PRIMARY KEY (thread_id, run_id, webhook_id)
    ) ${byKey};
    CREATE TABLE ${schema}notices (
      notice_id ${key} NOT NULL PRIMARY KEY, thread_id ${key} NOT NULL, interrupt_id ${key} NOT NULL,
      target TEXT NOT NULL, shown TEXT NOT NULL, created_at ${long} NOT NULL
    ) ${byKey};
    CREATE INDEX notices_item ON ${schema}notices (thread_id, interrupt_id);
    CREATE INDEX notices_shown ON ${schema}notices (shown, created_at);
    CREATE TABLE ${schema}spent_tokens (token ${key} NOT NULL PRIMARY KEY, expires_at ${long} NOT NULL) ${byKey};
    CREATE INDEX spent_tokens_expiry ON ${schema}spent_tokens (expires_at);
`;
}
