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

const INTERRUPT_INDEXES = `
      CREATE INDEX interrupts_open ON interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_graph ON interrupts (graph_id, created_at, thread_id, interrupt_id)
        WHERE state = 'open';
      CREATE INDEX interrupts_open_assistant ON interrupts (assistant_id, created_at, thread_id, interrupt_id)
        WHERE state = 'open';
      CREATE INDEX interrupts_open_node ON interrupts (node, created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_kind ON interrupts (kind, created_at, thread_id, interrupt_id) WHERE state = 'open';
      CREATE INDEX interrupts_open_claim ON interrupts (claim ->> '$.by', created_at, thread_id, interrupt_id)
        WHERE state = 'open' AND claim IS NOT NULL;
      CREATE INDEX interrupts_due ON interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;`;

/** The small columns, before those that review rules added. */
const INTERRUPT_COLUMNS = `
      thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, library_id TEXT NOT NULL, task_id TEXT NOT NULL,
      graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL, idx INTEGER NOT NULL,
      ns TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL,
      run_id TEXT NOT NULL, graph_id TEXT NOT NULL DEFAULT '', assistant_id TEXT NOT NULL DEFAULT '',
      node TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT 'question', claim TEXT, expires_at INTEGER,`;

export const WITH_ROW_IDS: string =
  withRowIds({
    table: "interrupts",
    columns: `
      ${INTERRUPT_COLUMNS}
      on_expiry TEXT, response_schema TEXT, answer TEXT, value TEXT NOT NULL`,
    key: "thread_id, interrupt_id",
    others: INTERRUPT_INDEXES,
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

/** The columns of review rules, before the large ones. */
export const INTERRUPTS_WITH_REVIEW: string = withRowIds({
  table: "interrupts",
  columns: `
    ${INTERRUPT_COLUMNS}
    on_expiry TEXT, snoozed_until INTEGER, escalates_at INTEGER, review TEXT, response_schema TEXT, answer TEXT,
    value TEXT NOT NULL`,
  key: "thread_id, interrupt_id",
  others: `${INTERRUPT_INDEXES}
    CREATE INDEX interrupts_escalating ON interrupts (escalates_at) WHERE state = 'open' AND escalates_at IS NOT NULL;`,
});

/**
 * A clustered row that is larger than a quarter of a page leaves half of its page empty, and every insertion splits one:
 * these tables took twice the bytes of their rows. With row ids, the rows of a run stand behind each other.
 */
export const RUN_TABLES_WITH_ROW_IDS: string =
  withRowIds({
    table: "threads",
    columns: `
      thread_id TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, status TEXT NOT NULL,
      pause TEXT, graph_id TEXT, assistant_id TEXT, checkpoint_id TEXT, ttl_ms INTEGER,
      on_completion TEXT NOT NULL DEFAULT 'keep', state_updated_at INTEGER NOT NULL DEFAULT 0,
      ttl_strategy TEXT NOT NULL DEFAULT 'delete', pruned_at INTEGER NOT NULL DEFAULT 0,
      started_by TEXT NOT NULL DEFAULT '[]', error TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, overlay TEXT`,
    key: "thread_id",
    others: `
      CREATE INDEX threads_interrupted ON threads (created_at, thread_id) WHERE status = 'interrupted';
      CREATE INDEX threads_error ON threads (created_at, thread_id) WHERE status = 'error';
      CREATE INDEX threads_created ON threads (created_at, thread_id);
      CREATE INDEX threads_expiry ON threads (updated_at + ttl_ms) WHERE ttl_ms IS NOT NULL;`,
  }) +
  withRowIds({
    table: "runs",
    columns: `
      run_id TEXT NOT NULL, thread_id TEXT NOT NULL, assistant_id TEXT NOT NULL, graph_id TEXT NOT NULL,
      status TEXT NOT NULL, ended_by TEXT, attempt INTEGER NOT NULL, crashes INTEGER NOT NULL,
      urgent INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, multitask TEXT NOT NULL,
      checkpoint_id TEXT, due_at INTEGER, queue_key TEXT NOT NULL DEFAULT '', worker_id TEXT,
      suspicions INTEGER NOT NULL DEFAULT 0, alone INTEGER NOT NULL DEFAULT 0,
      storage_failures INTEGER NOT NULL DEFAULT 0, paused_on TEXT NOT NULL, error TEXT, metadata TEXT NOT NULL,
      request TEXT NOT NULL, overlay TEXT, input TEXT`,
    key: "run_id",
    others: `
      CREATE INDEX runs_thread ON runs (thread_id, run_id);
      CREATE INDEX runs_pending_thread ON runs (thread_id, run_id) WHERE status = 'pending';
      CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running';
      CREATE INDEX runs_assistant ON runs (assistant_id, run_id);
      CREATE INDEX runs_pending ON runs (urgent DESC, queue_key, run_id) WHERE status = 'pending' AND due_at IS NULL;
      CREATE INDEX runs_delayed ON runs (due_at, run_id) WHERE status = 'pending' AND due_at IS NOT NULL;`,
  }) +
  withRowIds({
    table: "checkpoints",
    columns: `
      thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, parent_id TEXT, run_id TEXT NOT NULL,
      fingerprint TEXT NOT NULL, metadata TEXT NOT NULL, body TEXT NOT NULL, small TEXT NOT NULL`,
    key: "thread_id, ns, checkpoint_id",
    others: "",
  }) +
  withRowIds({
    table: "writes",
    columns: `
      thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, run_id TEXT NOT NULL,
      task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', entries TEXT NOT NULL`,
    key: "thread_id, ns, checkpoint_id, run_id, task_id",
    others: "",
  });
