// With row ids: the migration that gives row ids to tables with values of any size, and puts their large columns last.
// A search in a clustered table reads every row on its path whole, and a column behind a large value is found by reading
// all pages of the value: a row of 3 MB took 70 ms, and a list of 150 rows 5 seconds.
interface Rebuilt {
  readonly table: string;
  readonly columns: string;
  readonly key: string;
  /** Indexes and triggers. */
  readonly others: string;
}

function withRowIds({ table, columns, key, others }: Rebuilt): string {
  const names = [...columns.matchAll(/(?:^|,)\s*(\w+) /g)].map(([, name]) => name).join(", ");
  return `
    ALTER TABLE ${table} RENAME TO ${table}_clustered;
    CREATE TABLE ${table} (${columns}, PRIMARY KEY (${key}));
    INSERT INTO ${table} (${names}) SELECT ${names} FROM ${table}_clustered;
    DROP TABLE ${table}_clustered;
    ${others}`;
}

export const WITH_ROW_IDS: string =
  withRowIds({
    table: "interrupts",
    columns: `
      thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, library_id TEXT NOT NULL, task_id TEXT NOT NULL,
      graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL, idx INTEGER NOT NULL,
      ns TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL,
      run_id TEXT NOT NULL, graph_id TEXT NOT NULL DEFAULT '', assistant_id TEXT NOT NULL DEFAULT '',
      node TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT 'question', claim TEXT, expires_at INTEGER,
      on_expiry TEXT, response_schema TEXT, answer TEXT, value TEXT NOT NULL`,
    key: "thread_id, interrupt_id",
    others: `
      CREATE INDEX interrupts_open ON interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_graph ON interrupts (graph_id, created_at, thread_id, interrupt_id)
        WHERE state = 'open';
      CREATE INDEX interrupts_open_assistant ON interrupts (assistant_id, created_at, thread_id, interrupt_id)
        WHERE state = 'open';
      CREATE INDEX interrupts_open_node ON interrupts (node, created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_kind ON interrupts (kind, created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_claim ON interrupts (claim ->> '$.by', created_at, thread_id, interrupt_id)
        WHERE state = 'open' AND claim IS NOT NULL;
      CREATE INDEX interrupts_due ON interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;`,
  }) +
  withRowIds({
    table: "audit",
    columns: `
        thread_id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
        interrupt_id TEXT, run_id TEXT, via TEXT, origin TEXT, value TEXT NOT NULL`,
    key: "thread_id, seq",
    others: `
        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
          BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;`,
  }) +
  withRowIds({
    table: "assistants",
    columns: `
        assistant_id TEXT NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, description TEXT, metadata TEXT NOT NULL,
        config TEXT NOT NULL, context TEXT NOT NULL`,
    key: "assistant_id",
    others: `
        CREATE INDEX assistants_created ON assistants (created_at, assistant_id);
        CREATE INDEX assistants_updated ON assistants (updated_at, assistant_id);
        CREATE INDEX assistants_name ON assistants (name, assistant_id);
        CREATE INDEX assistants_graph ON assistants (graph_id, created_at, assistant_id);`,
  }) +
  withRowIds({
    table: "assistant_versions",
    columns: `
        assistant_id TEXT NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
        created_at INTEGER NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL,
        context TEXT NOT NULL`,
    key: "assistant_id, version",
    others: "",
  }) +
  withRowIds({
    table: "crons",
    columns: `
        cron_id TEXT NOT NULL, assistant_id TEXT NOT NULL, thread_id TEXT, schedule TEXT NOT NULL, timezone TEXT,
        end_time INTEGER, enabled INTEGER NOT NULL, on_run_completed TEXT NOT NULL, next_run_date INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, caller TEXT NOT NULL, reach TEXT NOT NULL,
        metadata TEXT NOT NULL, payload TEXT NOT NULL`,
    key: "cron_id",
    others: `
        CREATE INDEX crons_due ON crons (next_run_date) WHERE next_run_date IS NOT NULL;
        CREATE INDEX crons_thread ON crons (thread_id) WHERE thread_id IS NOT NULL;
        CREATE INDEX crons_created ON crons (created_at, cron_id);`,
  });
