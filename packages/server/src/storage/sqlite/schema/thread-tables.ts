// Threads, their runs, checkpoints and events. Keys are in time order, so a thread's rows stand behind each other.
//   - Tables with values of any size have row ids: a search in a clustered table reads every row on its path whole, and
//     a clustered row that is larger than a quarter of a page leaves half of its page empty. Tables with small rows are
//     clustered by their key (WITHOUT ROWID).
//   - Large columns come last: a column behind a large value is found by reading all pages of the value.
//   - Each index costs a page of the write-ahead log in most commits that change its columns: each serves a query.
// Times are milliseconds; JSON is text. tenant: whose limits a row counts for; empty without limits.

export const THREAD_TABLES = `
  CREATE TABLE threads (
    thread_id TEXT NOT NULL PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    state_updated_at INTEGER NOT NULL, status TEXT NOT NULL, pause TEXT, graph_id TEXT, assistant_id TEXT,
    checkpoint_id TEXT, ttl_ms INTEGER, ttl_strategy TEXT NOT NULL, pruned_at INTEGER NOT NULL DEFAULT 0,
    on_completion TEXT NOT NULL, tenant TEXT, started_by TEXT NOT NULL, error TEXT, metadata TEXT NOT NULL,
    config TEXT NOT NULL, overlay TEXT
  );
  CREATE INDEX threads_created ON threads (created_at, thread_id);
  CREATE INDEX threads_interrupted ON threads (created_at, thread_id) WHERE status = 'interrupted';
  CREATE INDEX threads_error ON threads (created_at, thread_id) WHERE status = 'error';
  -- Without the threads that a sweep leaves as they are: paused ones, and those that it has pruned.
  CREATE INDEX threads_expiry ON threads (status, updated_at + ttl_ms)
    WHERE ttl_ms IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at);
  CREATE INDEX threads_tenant ON threads (tenant, status) WHERE tenant IS NOT NULL;
  CREATE TABLE thread_metadata (
    thread_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, key)
  ) WITHOUT ROWID;
  CREATE INDEX thread_metadata_values ON thread_metadata (key, value, created_at, thread_id);

  -- suspicions, alone, storage_failures: ends of its process, failures of its storage (server/model/crash-suspects.ts).
  -- caller, place: the line of waiting runs (shared/line.ts).
  CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY, thread_id TEXT NOT NULL, assistant_id TEXT NOT NULL, graph_id TEXT NOT NULL,
    status TEXT NOT NULL, ended_by TEXT, cancel_reason TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL, crashes INTEGER NOT NULL, suspicions INTEGER NOT NULL, alone INTEGER NOT NULL,
    storage_failures INTEGER NOT NULL, worker_id TEXT, queue_key TEXT NOT NULL, urgent INTEGER NOT NULL,
    due_at INTEGER, caller TEXT NOT NULL, place INTEGER, tenant TEXT, multitask TEXT NOT NULL, checkpoint_id TEXT,
    paused_on TEXT NOT NULL, error TEXT, metadata TEXT NOT NULL, request TEXT NOT NULL, overlay TEXT, input TEXT
  );
  CREATE INDEX runs_thread ON runs (thread_id, run_id);
  CREATE INDEX runs_pending_thread ON runs (thread_id, run_id) WHERE status = 'pending';
  CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running';
  CREATE INDEX runs_assistant ON runs (assistant_id, run_id);
  CREATE INDEX runs_delayed ON runs (due_at, run_id) WHERE status = 'pending' AND due_at IS NOT NULL;
  CREATE INDEX runs_line ON runs (place, queue_key) WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_caller ON runs (caller, place) WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_age ON runs (urgent, queue_key) WHERE status = 'pending' AND place IS NOT NULL;
  CREATE INDEX runs_tenant ON runs (tenant) WHERE tenant IS NOT NULL AND status IN ('pending', 'running');
  CREATE TABLE idempotency (
    key TEXT NOT NULL PRIMARY KEY, request_hash TEXT NOT NULL, thread_id TEXT NOT NULL, run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idempotency_created ON idempotency (created_at);

  -- A value stands in its checkpoint or write up to 4,096 characters, else once in blobs, by the hash of its content.
  CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, parent_id TEXT, run_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL, metadata TEXT NOT NULL, body TEXT NOT NULL, small TEXT NOT NULL,
    PRIMARY KEY (thread_id, ns, checkpoint_id)
  );
  -- Checkpoints whose ids do not tell the order of writing (shared/written-order.ts).
  CREATE INDEX checkpoints_skewed ON checkpoints (thread_id, ns) WHERE parent_id > checkpoint_id;
  CREATE TABLE heads (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, PRIMARY KEY (thread_id, ns)
  ) WITHOUT ROWID;
  -- LangGraph rebuilds a DeltaChannel by replaying the writes of a superstep in the order of their task paths.
  CREATE TABLE writes (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, run_id TEXT NOT NULL, task_id TEXT NOT NULL,
    task_path TEXT NOT NULL, entries TEXT NOT NULL, PRIMARY KEY (thread_id, ns, checkpoint_id, run_id, task_id)
  );
  CREATE TABLE blobs (
    thread_id TEXT NOT NULL, hash TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (thread_id, hash)
  );
  CREATE TABLE fingerprints (
    hash TEXT NOT NULL PRIMARY KEY, created_at INTEGER NOT NULL, body TEXT NOT NULL
  ) WITHOUT ROWID;

  -- Batches of events. gone_at is on the last row of an ended run. AUTOINCREMENT: no position is reused.
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, run_id TEXT NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, gone_at INTEGER, stored_at INTEGER NOT NULL, lines TEXT NOT NULL
  );
  CREATE INDEX events_thread ON events (thread_id);
  CREATE INDEX events_gone ON events (gone_at) WHERE gone_at IS NOT NULL;
`;
