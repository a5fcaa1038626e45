// Threads, their runs, checkpoints and events. Columns of any size come last. Rows that change have room in their page.
// tenant: whose limits a row counts for; empty without limits.

export const THREAD_TABLES = `
  CREATE TABLE holdpoint.threads (
    thread_id TEXT COLLATE "C" PRIMARY KEY, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    state_updated_at BIGINT NOT NULL, status TEXT COLLATE "C" NOT NULL, pause TEXT, graph_id TEXT, assistant_id TEXT,
    checkpoint_id TEXT, ttl_ms BIGINT, ttl_strategy TEXT NOT NULL,
    expires_at BIGINT GENERATED ALWAYS AS (updated_at + ttl_ms) STORED, pruned_at BIGINT NOT NULL DEFAULT 0,
    on_completion TEXT NOT NULL, tenant TEXT COLLATE "C", started_by TEXT NOT NULL, error TEXT, metadata TEXT NOT NULL,
    config TEXT NOT NULL, overlay TEXT
  ) WITH (fillfactor = 80);
  CREATE INDEX threads_created ON holdpoint.threads (created_at, thread_id);
  CREATE INDEX threads_interrupted ON holdpoint.threads (created_at, thread_id) WHERE status = 'interrupted';
  CREATE INDEX threads_error ON holdpoint.threads (created_at, thread_id) WHERE status = 'error';
  CREATE INDEX threads_busy ON holdpoint.threads (created_at, thread_id) WHERE status = 'busy';
  -- Without the threads that a sweep leaves as they are: paused ones, and those that it has pruned.
  CREATE INDEX threads_expiry ON holdpoint.threads (status, expires_at)
    WHERE expires_at IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at);
  CREATE INDEX threads_tenant ON holdpoint.threads (tenant, status) WHERE tenant IS NOT NULL;
  CREATE TABLE holdpoint.thread_metadata (
    thread_id TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, value TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL, PRIMARY KEY (thread_id, key)
  );
  CREATE INDEX thread_metadata_values ON holdpoint.thread_metadata (key, value, created_at, thread_id);

  -- suspicions, alone, storage_failures: ends of its process, failures of its storage (server/model/crash-suspects.ts).
  -- caller, place: the line of waiting runs (shared/line.ts).
  CREATE TABLE holdpoint.runs (
    run_id TEXT COLLATE "C" PRIMARY KEY, thread_id TEXT COLLATE "C" NOT NULL, assistant_id TEXT COLLATE "C" NOT NULL,
    graph_id TEXT NOT NULL, status TEXT COLLATE "C" NOT NULL, ended_by TEXT, cancel_reason TEXT,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, attempt INTEGER NOT NULL, crashes INTEGER NOT NULL, suspicions INTEGER NOT NULL,
    alone INTEGER NOT NULL, storage_failures INTEGER NOT NULL, worker_id TEXT COLLATE "C",
    queue_key TEXT COLLATE "C" NOT NULL, urgent INTEGER NOT NULL, due_at BIGINT, caller TEXT COLLATE "C" NOT NULL,
    place BIGINT, tenant TEXT COLLATE "C", multitask TEXT NOT NULL, checkpoint_id TEXT, paused_on TEXT NOT NULL,
    error TEXT, metadata TEXT NOT NULL, request TEXT NOT NULL, overlay TEXT, input TEXT,
    -- A worker that leaves the list, or is removed from it, frees its runs.
    CONSTRAINT runs_worker_is_listed FOREIGN KEY (worker_id) REFERENCES holdpoint.workers ON DELETE SET NULL
  ) WITH (fillfactor = 80);
  CREATE INDEX runs_thread ON holdpoint.runs (thread_id, run_id);
  CREATE INDEX runs_active_thread ON holdpoint.runs (thread_id, run_id) WHERE status IN ('pending', 'running');
  CREATE UNIQUE INDEX runs_one_running ON holdpoint.runs (thread_id) WHERE status = 'running';
  CREATE INDEX runs_assistant ON holdpoint.runs (assistant_id, run_id);
  CREATE INDEX runs_running ON holdpoint.runs (worker_id) WHERE status = 'running';
  CREATE INDEX runs_worker ON holdpoint.runs (worker_id) WHERE worker_id IS NOT NULL;
  CREATE INDEX runs_delayed ON holdpoint.runs (due_at) WHERE status = 'pending' AND due_at IS NOT NULL;
  CREATE INDEX runs_line ON holdpoint.runs (place, queue_key)
    WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_caller ON holdpoint.runs (caller, place)
    WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_age ON holdpoint.runs (urgent, queue_key) WHERE status = 'pending' AND place IS NOT NULL;
  CREATE INDEX runs_tenant ON holdpoint.runs (tenant) WHERE tenant IS NOT NULL AND status IN ('pending', 'running');
  CREATE TABLE holdpoint.idempotency (
    key TEXT COLLATE "C" PRIMARY KEY, request_hash TEXT NOT NULL, thread_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL
  );
  CREATE INDEX idempotency_created ON holdpoint.idempotency (created_at);
  CREATE INDEX idempotency_thread ON holdpoint.idempotency (thread_id);
  CREATE INDEX idempotency_run ON holdpoint.idempotency (run_id);

  -- A value stands in its checkpoint or write up to 4,096 characters, else once in blobs, by the hash of its content.
  CREATE TABLE holdpoint.checkpoints (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    parent_id TEXT COLLATE "C", run_id TEXT NOT NULL, fingerprint TEXT NOT NULL, metadata TEXT NOT NULL, body TEXT NOT NULL,
    small TEXT NOT NULL, PRIMARY KEY (thread_id, ns, checkpoint_id)
  );
  -- Checkpoints whose ids do not tell the order of writing (shared/written-order.ts).
  CREATE INDEX checkpoints_skewed ON holdpoint.checkpoints (thread_id, ns) WHERE parent_id > checkpoint_id;
  CREATE TABLE holdpoint.heads (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (thread_id, ns)
  ) WITH (fillfactor = 80);
  -- LangGraph rebuilds a DeltaChannel by replaying the writes of a superstep in the order of their task paths.
  CREATE TABLE holdpoint.writes (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, task_id TEXT COLLATE "C" NOT NULL, task_path TEXT COLLATE "C" NOT NULL,
    entries TEXT NOT NULL, PRIMARY KEY (thread_id, ns, checkpoint_id, run_id, task_id)
  );
  CREATE TABLE holdpoint.blobs (
    thread_id TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (thread_id, hash)
  );
  CREATE TABLE holdpoint.fingerprints (hash TEXT COLLATE "C" PRIMARY KEY, created_at BIGINT NOT NULL, body TEXT NOT NULL);

  -- Batches of events; gone_at is on the last row of an ended run. A crash of the database empties the table: the state
  -- is elsewhere. The counter survives, so that no position in a thread is reused.
  CREATE SEQUENCE holdpoint.event_seq;
  CREATE UNLOGGED TABLE holdpoint.events (
    seq BIGINT PRIMARY KEY DEFAULT nextval('holdpoint.event_seq'), thread_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, gone_at BIGINT,
    stored_at BIGINT NOT NULL, lines TEXT NOT NULL
  );
  CREATE INDEX events_thread ON holdpoint.events (thread_id, seq);
  CREATE INDEX events_run ON holdpoint.events (thread_id, run_id, seq);
  CREATE INDEX events_gone ON holdpoint.events (gone_at) WHERE gone_at IS NOT NULL;
`;
