// Interrupts, policies, the audit trail, and the search index. The columns of a table stand as in thread-tables.ts.

export const INBOX_TABLES = `
  CREATE TABLE interrupts (
    thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, library_id TEXT NOT NULL, task_id TEXT NOT NULL,
    graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL, idx INTEGER NOT NULL,
    ns TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL, run_id TEXT NOT NULL,
    graph_id TEXT NOT NULL, assistant_id TEXT NOT NULL, node TEXT NOT NULL, kind TEXT NOT NULL, claim TEXT,
    expires_at INTEGER, on_expiry TEXT, snoozed_until INTEGER, escalates_at INTEGER, review TEXT, failure TEXT,
    response_schema TEXT, answer TEXT, value TEXT NOT NULL, PRIMARY KEY (thread_id, interrupt_id)
  );
  -- The inbox by age, whole and with each of its filters, by priority, and by deadline.
  CREATE INDEX interrupts_open ON interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_graph ON interrupts (graph_id, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_assistant ON interrupts (assistant_id, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_node ON interrupts (node, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_kind ON interrupts (kind, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_claim ON interrupts (claim ->> '$.by', created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND claim IS NOT NULL;
  CREATE INDEX interrupts_open_priority ON interrupts (priority, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_dated ON interrupts (expires_at, created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND expires_at IS NOT NULL;
  CREATE INDEX interrupts_due ON interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;
  CREATE INDEX interrupts_escalating ON interrupts (escalates_at) WHERE state = 'open' AND escalates_at IS NOT NULL;
  CREATE TABLE inbox_metadata (
    thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, PRIMARY KEY (thread_id, interrupt_id, key)
  ) WITHOUT ROWID;
  CREATE INDEX inbox_metadata_values ON inbox_metadata (key, value, created_at, thread_id, interrupt_id);
  CREATE TABLE policies (
    policy_id TEXT NOT NULL PRIMARY KEY, conditions TEXT NOT NULL, answer TEXT NOT NULL, reach TEXT,
    created_by TEXT NOT NULL, is_admin INTEGER NOT NULL, created_at INTEGER NOT NULL, until INTEGER
  );

  -- A hash chain (server/model/audit/audit-chain.ts). audit_deleted has what deleted entries leave, and cut-offs.
  CREATE TABLE audit (
    thread_id TEXT NOT NULL, seq INTEGER NOT NULL, chain INTEGER NOT NULL, position INTEGER NOT NULL,
    previous TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    interrupt_id TEXT, run_id TEXT, via TEXT, origin TEXT, value TEXT NOT NULL, PRIMARY KEY (thread_id, seq)
  );
  CREATE INDEX audit_chains ON audit (chain, position);
  CREATE INDEX audit_time ON audit (at, thread_id, seq);
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
  CREATE TABLE audit_heads (chain INTEGER PRIMARY KEY, count INTEGER NOT NULL, hash TEXT NOT NULL);
  CREATE TABLE audit_deleted (
    chain INTEGER NOT NULL, position INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL, thread_id TEXT,
    at INTEGER, PRIMARY KEY (chain, position)
  ) WITHOUT ROWID;
  CREATE INDEX audit_deleted_threads ON audit_deleted (thread_id, seq) WHERE thread_id IS NOT NULL;

  -- Words are those of api/text/search-words.ts, and marks that begin with an underscore.
  CREATE TABLE search_documents (
    doc_id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, updated_at INTEGER NOT NULL,
    seq INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX search_documents_item ON search_documents (thread_id, interrupt_id);
  CREATE VIRTUAL TABLE search_words USING fts5(
    words, content = '', contentless_delete = 1, detail = none, prefix = '2 3', tokenize = "ascii tokenchars '_'"
  );
  -- Merges go in steps; at 16 parts of equal size, the default merges all of them in one commit.
  INSERT INTO search_words (search_words, rank) VALUES ('crisismerge', 1999);
`;
