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
import { noteFormer } from "../../shared/audit-gaps.ts";

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE holdpoint.threads (
    thread_id TEXT COLLATE "C" PRIMARY KEY, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    metadata TEXT NOT NULL, config TEXT NOT NULL, status TEXT COLLATE "C" NOT NULL, pause TEXT,
    graph_id TEXT, assistant_id TEXT, checkpoint_id TEXT, overlay TEXT, error TEXT, ttl_ms BIGINT,
    state_updated_at BIGINT NOT NULL, on_completion TEXT NOT NULL, ttl_strategy TEXT NOT NULL,
    pruned_at BIGINT NOT NULL DEFAULT 0,
    expires_at BIGINT GENERATED ALWAYS AS (updated_at + ttl_ms) STORED
  ) WITH (fillfactor = 80);
  CREATE INDEX threads_interrupted ON holdpoint.threads (created_at, thread_id) WHERE status = 'interrupted';
  CREATE INDEX threads_error ON holdpoint.threads (created_at, thread_id) WHERE status = 'error';
  CREATE INDEX threads_busy ON holdpoint.threads (created_at, thread_id) WHERE status = 'busy';
  CREATE INDEX threads_created ON holdpoint.threads (created_at, thread_id);
  CREATE INDEX threads_expiry ON holdpoint.threads (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE holdpoint.thread_metadata (
    thread_id TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL, value TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL, PRIMARY KEY (thread_id, key)
  );
  CREATE INDEX thread_metadata_values ON holdpoint.thread_metadata (key, value, created_at, thread_id);

  CREATE TABLE holdpoint.runs (
    run_id TEXT COLLATE "C" PRIMARY KEY, thread_id TEXT COLLATE "C" NOT NULL, assistant_id TEXT COLLATE "C" NOT NULL,
    graph_id TEXT NOT NULL, status TEXT COLLATE "C" NOT NULL, ended_by TEXT, attempt INTEGER NOT NULL,
    crashes INTEGER NOT NULL, urgent INTEGER NOT NULL, queue_key TEXT COLLATE "C" NOT NULL, due_at BIGINT,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, metadata TEXT NOT NULL, multitask TEXT NOT NULL,
    request TEXT NOT NULL, input TEXT, error TEXT, checkpoint_id TEXT, overlay TEXT, paused_on TEXT NOT NULL,
    worker_id TEXT COLLATE "C"
  ) WITH (fillfactor = 80);
  CREATE INDEX runs_thread ON holdpoint.runs (thread_id, run_id);
  CREATE INDEX runs_active_thread ON holdpoint.runs (thread_id, run_id) WHERE status IN ('pending', 'running');
  CREATE UNIQUE INDEX runs_one_running ON holdpoint.runs (thread_id) WHERE status = 'running';
  CREATE INDEX runs_running ON holdpoint.runs (worker_id) WHERE status = 'running';
  CREATE INDEX runs_pending ON holdpoint.runs (urgent DESC, queue_key) WHERE status = 'pending' AND due_at IS NULL;
  CREATE INDEX runs_delayed ON holdpoint.runs (due_at) WHERE status = 'pending' AND due_at IS NOT NULL;
  CREATE INDEX runs_assistant ON holdpoint.runs (assistant_id, run_id);

  CREATE TABLE holdpoint.interrupts (
    thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL, library_id TEXT NOT NULL,
    task_id TEXT NOT NULL, graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL,
    idx INTEGER NOT NULL, ns TEXT NOT NULL, position INTEGER NOT NULL, value TEXT NOT NULL, response_schema TEXT,
    state TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, run_id TEXT NOT NULL,
    graph_id TEXT COLLATE "C" NOT NULL, assistant_id TEXT COLLATE "C" NOT NULL, node TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL, claim TEXT, claimed_by TEXT COLLATE "C", claimed_until BIGINT,
    expires_at BIGINT, on_expiry TEXT, answer TEXT,
    PRIMARY KEY (thread_id, interrupt_id)
  ) WITH (fillfactor = 80);
  CREATE INDEX interrupts_open ON holdpoint.interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_graph ON holdpoint.interrupts (graph_id, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_assistant ON holdpoint.interrupts (assistant_id, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_node ON holdpoint.interrupts (node, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_kind ON holdpoint.interrupts (kind, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_claim ON holdpoint.interrupts (claimed_by, created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND claimed_by IS NOT NULL;
  CREATE INDEX interrupts_due ON holdpoint.interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;
  CREATE TABLE holdpoint.inbox_metadata (
    thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (thread_id, interrupt_id, key)
  );
  CREATE INDEX inbox_metadata_values ON holdpoint.inbox_metadata (key, value, created_at, thread_id, interrupt_id);

  CREATE TABLE holdpoint.audit (
    thread_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    interrupt_id TEXT, run_id TEXT, value TEXT NOT NULL, via TEXT, origin TEXT,
    PRIMARY KEY (thread_id, seq)
  );
  CREATE FUNCTION holdpoint.audit_is_never_changed() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit rows are never changed'; END $$;
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON holdpoint.audit
    FOR EACH ROW EXECUTE FUNCTION holdpoint.audit_is_never_changed();

  CREATE TABLE holdpoint.checkpoints (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    parent_id TEXT, run_id TEXT NOT NULL, fingerprint TEXT NOT NULL, body TEXT NOT NULL, small TEXT NOT NULL,
    metadata TEXT NOT NULL, PRIMARY KEY (thread_id, ns, checkpoint_id)
  );
  CREATE TABLE holdpoint.heads (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (thread_id, ns)
  ) WITH (fillfactor = 80);
  CREATE TABLE holdpoint.writes (
    thread_id TEXT COLLATE "C" NOT NULL, ns TEXT COLLATE "C" NOT NULL, checkpoint_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, task_id TEXT COLLATE "C" NOT NULL, entries TEXT NOT NULL,
    PRIMARY KEY (thread_id, ns, checkpoint_id, run_id, task_id)
  );
  CREATE TABLE holdpoint.blobs (
    thread_id TEXT COLLATE "C" NOT NULL, hash TEXT COLLATE "C" NOT NULL, data TEXT NOT NULL, PRIMARY KEY (thread_id, hash)
  );
  CREATE TABLE holdpoint.fingerprints (hash TEXT COLLATE "C" PRIMARY KEY, created_at BIGINT NOT NULL, body TEXT NOT NULL);

  CREATE TABLE holdpoint.idempotency (
    key TEXT COLLATE "C" PRIMARY KEY, request_hash TEXT NOT NULL, thread_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL
  );
  CREATE INDEX idempotency_created ON holdpoint.idempotency (created_at);
  CREATE INDEX idempotency_thread ON holdpoint.idempotency (thread_id);
  CREATE INDEX idempotency_run ON holdpoint.idempotency (run_id);

  CREATE TABLE holdpoint.webhooks (
    run_id TEXT COLLATE "C" PRIMARY KEY, url TEXT NOT NULL, host TEXT COLLATE "C" NOT NULL, body TEXT NOT NULL,
    attempts INTEGER NOT NULL, due_at BIGINT NOT NULL, created_at BIGINT NOT NULL
  );
  CREATE INDEX webhooks_due ON holdpoint.webhooks (due_at, run_id);

  CREATE TABLE holdpoint.assistants (
    assistant_id TEXT COLLATE "C" PRIMARY KEY, graph_id TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
    name_lower TEXT COLLATE "C" NOT NULL, description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL,
    context TEXT NOT NULL, version INTEGER NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL
  );
  CREATE INDEX assistants_created ON holdpoint.assistants (created_at, assistant_id);
  CREATE INDEX assistants_updated ON holdpoint.assistants (updated_at, assistant_id);
  CREATE INDEX assistants_name ON holdpoint.assistants (name, assistant_id);
  CREATE INDEX assistants_graph ON holdpoint.assistants (graph_id, created_at, assistant_id);
  CREATE TABLE holdpoint.assistant_versions (
    assistant_id TEXT COLLATE "C" NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
    description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (assistant_id, version)
  );
  CREATE TABLE holdpoint.assistant_metadata (
    key TEXT COLLATE "C" NOT NULL, value TEXT COLLATE "C" NOT NULL, assistant_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (key, value, assistant_id)
  );
  CREATE INDEX assistant_metadata_assistant ON holdpoint.assistant_metadata (assistant_id);

  CREATE TABLE holdpoint.store_items (
    item_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ns TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, ttl_ms BIGINT, expires_at BIGINT
  );
  CREATE UNIQUE INDEX store_items_key ON holdpoint.store_items (ns, key);
  CREATE INDEX store_items_expiry ON holdpoint.store_items (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE holdpoint.store_order (
    prefix TEXT COLLATE "C" NOT NULL, updated_at BIGINT NOT NULL, item_id BIGINT NOT NULL,
    PRIMARY KEY (prefix, updated_at, item_id)
  );
  CREATE INDEX store_order_item ON holdpoint.store_order (item_id);
  CREATE TABLE holdpoint.store_vectors (
    item_id BIGINT NOT NULL, field TEXT COLLATE "C" NOT NULL, vector BYTEA NOT NULL, PRIMARY KEY (item_id, field)
  );
  `,
  // Events of runs. A crash of the database empties the table: the state is elsewhere. The counter survives, so that no
  // position in a thread is reused.
  `
  CREATE SEQUENCE holdpoint.event_seq;
  CREATE UNLOGGED TABLE holdpoint.events (
    seq BIGINT PRIMARY KEY DEFAULT nextval('holdpoint.event_seq'), thread_id TEXT COLLATE "C" NOT NULL,
    run_id TEXT COLLATE "C" NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, gone_at BIGINT, lines TEXT NOT NULL
  );
  CREATE INDEX events_thread ON holdpoint.events (thread_id, seq);
  CREATE INDEX events_run ON holdpoint.events (thread_id, run_id, seq);
  CREATE INDEX events_gone ON holdpoint.events (gone_at) WHERE gone_at IS NOT NULL;
  `,
  `
  CREATE TABLE holdpoint.crons (
    cron_id TEXT COLLATE "C" PRIMARY KEY, assistant_id TEXT COLLATE "C" NOT NULL, thread_id TEXT COLLATE "C",
    schedule TEXT NOT NULL, timezone TEXT, end_time BIGINT, enabled BOOLEAN NOT NULL, on_run_completed TEXT NOT NULL,
    metadata TEXT NOT NULL, payload TEXT NOT NULL, next_run_date BIGINT, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, caller TEXT NOT NULL, reach TEXT NOT NULL
  );
  CREATE INDEX crons_due ON holdpoint.crons (next_run_date, cron_id) WHERE next_run_date IS NOT NULL;
  CREATE INDEX crons_thread ON holdpoint.crons (thread_id) WHERE thread_id IS NOT NULL;
  `,
  // The last writing transaction of each connection (commit-outcome.ts).
  `
  CREATE TABLE holdpoint.commits (
    connection TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);
  `,
  // Workers, and the engine's view of a waiting run. A run's worker has a row for as long as it has the run.
  `
  CREATE TABLE holdpoint.workers (
    worker_id TEXT COLLATE "C" PRIMARY KEY, beat_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), jobs_locked_as TEXT
  ) WITH (fillfactor = 50);
  UPDATE holdpoint.runs SET worker_id = NULL WHERE worker_id IS NOT NULL;
  CREATE INDEX runs_worker ON holdpoint.runs (worker_id) WHERE worker_id IS NOT NULL;
  ALTER TABLE holdpoint.runs ADD CONSTRAINT runs_worker_is_listed
    FOREIGN KEY (worker_id) REFERENCES holdpoint.workers ON DELETE SET NULL;
  CREATE TABLE holdpoint.waiting (run_id TEXT COLLATE "C" PRIMARY KEY, tenant TEXT NOT NULL);
  CREATE INDEX waiting_tenant ON holdpoint.waiting (tenant);
  CREATE FUNCTION holdpoint.run_waits_no_more() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN DELETE FROM holdpoint.waiting WHERE run_id = OLD.run_id; RETURN NULL; END $$;
  CREATE TRIGGER run_waits_no_more AFTER UPDATE OF status ON holdpoint.runs
    FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status <> 'pending') EXECUTE FUNCTION holdpoint.run_waits_no_more();
  CREATE TRIGGER run_is_gone AFTER DELETE ON holdpoint.runs
    FOR EACH ROW WHEN (OLD.status = 'pending') EXECUTE FUNCTION holdpoint.run_waits_no_more();
  CREATE FUNCTION holdpoint.queue_run(thread TEXT, run TEXT, due BIGINT, asker TEXT, urgent BOOLEAN) RETURNS void
  LANGUAGE plpgsql AS $$
  DECLARE ahead INTEGER := 0;
  BEGIN
    INSERT INTO holdpoint.waiting (run_id, tenant) VALUES (run, asker) ON CONFLICT DO NOTHING;
    IF NOT urgent THEN
      SELECT count(*) INTO ahead FROM (SELECT 1 FROM holdpoint.waiting AS w WHERE w.tenant = asker LIMIT 1000) AS counted;
    END IF;
    PERFORM holdpoint_jobs.add_job('run', json_build_object('thread', thread, 'due', due), job_key := run,
      run_at := to_timestamp(due / 1000.0), priority := ahead, max_attempts := 1000);
  END $$;
  `,
  // A job with its own key for each time a run enters the queue, inside or outside a transaction. Without a search for
  // a job to replace, which took most of the time; and a job in progress cannot block a new one.
  `
  CREATE OR REPLACE FUNCTION holdpoint.queue_run(thread TEXT, run TEXT, due BIGINT, asker TEXT, urgent BOOLEAN)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE ahead INTEGER := 0;
  BEGIN
    INSERT INTO holdpoint.waiting (run_id, tenant) VALUES (run, asker) ON CONFLICT DO NOTHING;
    IF NOT urgent THEN
      SELECT count(*) INTO ahead FROM (SELECT 1 FROM holdpoint.waiting AS w WHERE w.tenant = asker LIMIT 1000) AS counted;
    END IF;
    PERFORM holdpoint_jobs.add_job('run', json_build_object('thread', thread, 'due', due),
      job_key := run || '/' || pg_current_xact_id(), job_key_mode := 'unsafe_dedupe',
      run_at := to_timestamp(due / 1000.0), priority := ahead, max_attempts := 1000);
  END $$;
  `,
  // Order of a superstep's writes: LangGraph rebuilds a DeltaChannel by replaying them in this order.
  `
  ALTER TABLE holdpoint.writes ADD COLUMN task_path TEXT COLLATE "C" NOT NULL DEFAULT '';
  `,
  // State of a run when its process died or its storage failed (agent/model/crash-suspects.ts).
  `
  ALTER TABLE holdpoint.runs ADD COLUMN suspicions INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN alone INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN storage_failures INTEGER NOT NULL DEFAULT 0;
  `,
  // Webhooks that were added to runs, and headers of deliveries.
  `
  CREATE TABLE holdpoint.run_webhooks (
    thread_id TEXT COLLATE "C" NOT NULL, run_id TEXT COLLATE "C" NOT NULL, webhook_id TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL, format TEXT NOT NULL, headers TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, run_id, webhook_id)
  );
  ALTER TABLE holdpoint.webhooks ADD COLUMN headers TEXT NOT NULL DEFAULT '{}';
  `,
  // Time of a row of events: those that are derived from it need one (agent/protocol/convert).
  `
  ALTER TABLE holdpoint.events ADD COLUMN stored_at BIGINT;
  `,
  // People who have signed in, their sessions, and the keys of programs.
  `
  CREATE TABLE holdpoint.people (
    name TEXT COLLATE "C" PRIMARY KEY, issuer TEXT COLLATE "C" NOT NULL, subject TEXT COLLATE "C" NOT NULL,
    display_name TEXT NOT NULL, email TEXT, groups TEXT NOT NULL, created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL
  );
  CREATE UNIQUE INDEX people_subject ON holdpoint.people (issuer, subject);
  CREATE TABLE holdpoint.sessions (
    session_id TEXT COLLATE "C" PRIMARY KEY, person TEXT COLLATE "C" NOT NULL, token_hash TEXT COLLATE "C" NOT NULL,
    previous_hash TEXT COLLATE "C", previous_until BIGINT, rotated_at BIGINT NOT NULL, provider_session TEXT,
    id_token TEXT NOT NULL, claims TEXT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE UNIQUE INDEX sessions_token ON holdpoint.sessions (token_hash);
  CREATE INDEX sessions_previous ON holdpoint.sessions (previous_hash) WHERE previous_hash IS NOT NULL;
  CREATE INDEX sessions_person ON holdpoint.sessions (person);
  CREATE TABLE holdpoint.api_keys (
    key_id TEXT COLLATE "C" PRIMARY KEY, name TEXT NOT NULL, hash TEXT COLLATE "C" NOT NULL, role TEXT NOT NULL,
    limits TEXT NOT NULL, created_by TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, used_at BIGINT
  );
  CREATE UNIQUE INDEX api_keys_hash ON holdpoint.api_keys (hash);
  `,
  // One-use tickets for WebSockets (agent/protocol/socket-tickets.ts).
  `
  CREATE TABLE holdpoint.socket_tickets (
    digest TEXT COLLATE "C" PRIMARY KEY, caller TEXT COLLATE "C" NOT NULL, headers TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX socket_tickets_caller ON holdpoint.socket_tickets (caller);
  CREATE INDEX socket_tickets_expiry ON holdpoint.socket_tickets (expires_at);
  `,
  // Other ways than HTTP, several rows as one message, messages that follow their items, one-use tokens.
  `
  ALTER TABLE holdpoint.webhooks ADD COLUMN channel TEXT NOT NULL DEFAULT 'http', ADD COLUMN batch TEXT COLLATE "C";
  CREATE INDEX webhooks_batch ON holdpoint.webhooks (batch, due_at) WHERE batch IS NOT NULL;
  CREATE TABLE holdpoint.notices (
    notice_id TEXT COLLATE "C" PRIMARY KEY, thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL,
    target TEXT NOT NULL, shown TEXT NOT NULL, created_at BIGINT NOT NULL
  );
  CREATE INDEX notices_item ON holdpoint.notices (thread_id, interrupt_id);
  CREATE INDEX notices_shown ON holdpoint.notices (shown, created_at);
  CREATE TABLE holdpoint.spent_tokens (token TEXT COLLATE "C" PRIMARY KEY, expires_at BIGINT NOT NULL);
  CREATE INDEX spent_tokens_expiry ON holdpoint.spent_tokens (expires_at);
  `,
  // Without the threads that a sweep leaves as they are: paused ones, and those that it has pruned.
  `
  DROP INDEX holdpoint.threads_expiry;
  CREATE INDEX threads_expiry ON holdpoint.threads (status, expires_at)
    WHERE expires_at IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at);
  `,
  // The audit trail as hash chains. Entries from before them count as a chain of their own, without hashes.
  // append_audit takes a chain that no other transaction is writing to. The hash is that of audit-chain.ts.
  `
  ALTER TABLE holdpoint.audit ADD COLUMN chain INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN position BIGINT NOT NULL DEFAULT 0, ADD COLUMN previous TEXT NOT NULL DEFAULT '',
    ADD COLUMN digest TEXT NOT NULL DEFAULT '';
  CREATE INDEX audit_chains_in_order ON holdpoint.audit (chain, position);
  CREATE SEQUENCE holdpoint.audit_chains AS INTEGER MINVALUE 0 START 1;
  CREATE TABLE holdpoint.audit_heads (chain INTEGER PRIMARY KEY, count BIGINT NOT NULL, hash TEXT NOT NULL)
    WITH (fillfactor = 50);
  INSERT INTO holdpoint.audit_heads (chain, count, hash)
    SELECT 0, count(*), '' FROM holdpoint.audit HAVING count(*) > 0;
  CREATE TABLE holdpoint.audit_deleted (
    chain INTEGER NOT NULL, position BIGINT NOT NULL, seq BIGINT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (chain, position)
  );
  CREATE FUNCTION holdpoint.append_audit(thread TEXT, moment BIGINT, what TEXT, who TEXT, interrupt TEXT, run TEXT,
    channel TEXT, source TEXT, content TEXT, given TEXT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE head holdpoint.audit_heads; number BIGINT;
  BEGIN
    SELECT h.chain, h.count, h.hash INTO head FROM holdpoint.audit_heads AS h WHERE h.chain > 0 ORDER BY h.chain LIMIT 1
      FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      INSERT INTO holdpoint.audit_heads (chain, count, hash) VALUES (nextval('holdpoint.audit_chains'), 0, '')
        RETURNING chain, count, hash INTO head;
    END IF;
    SELECT coalesce(max(a.seq), 0) + 1 INTO number FROM holdpoint.audit AS a WHERE a.thread_id = thread;
    INSERT INTO holdpoint.audit (thread_id, seq, at, action, by, interrupt_id, run_id, via, origin, value, chain,
        position, previous, digest)
      VALUES (thread, number, moment, what, who, interrupt, run, channel, source, given, head.chain, head.count + 1,
        head.hash, content);
    UPDATE holdpoint.audit_heads AS h SET count = head.count + 1, hash = encode(sha256(convert_to(
        head.hash || ' ' || (head.count + 1) || ' ' || number || ' ' || content, 'UTF8')), 'hex')
      WHERE h.chain = head.chain;
  END $$;
  `,
  // Review rules of interrupts, and who made the state of a thread.
  `
  ALTER TABLE holdpoint.threads ADD COLUMN started_by TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE holdpoint.interrupts ADD COLUMN review TEXT;
  ALTER TABLE holdpoint.interrupts ADD COLUMN snoozed_until BIGINT;
  ALTER TABLE holdpoint.interrupts ADD COLUMN escalates_at BIGINT;
  CREATE INDEX interrupts_escalating ON holdpoint.interrupts (escalates_at) WHERE state = 'open' AND escalates_at IS NOT NULL;
  `,
  // Entries of all threads in order of time.
  `
  CREATE INDEX audit_time ON holdpoint.audit (at, thread_id, seq);
  `,
  // The inbox in the order of deadlines.
  `
  CREATE INDEX interrupts_open_dated ON holdpoint.interrupts (expires_at, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  `,
  // The search index. Its queue has threads that changed; those from before it are noted here. A busy thread changes
  // again soon. No row is updated twice or shared, so that no transaction waits for another.
  `
  CREATE TABLE holdpoint.search_documents (
    thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL, updated_at BIGINT NOT NULL,
    seq BIGINT NOT NULL, words TSVECTOR NOT NULL, PRIMARY KEY (thread_id, interrupt_id)
  );
  CREATE INDEX search_documents_words ON holdpoint.search_documents USING gin (words);
  CREATE TABLE holdpoint.search_queue (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread_id TEXT COLLATE "C" NOT NULL,
    taken_until BIGINT NOT NULL DEFAULT 0
  );
  CREATE FUNCTION holdpoint.note_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO holdpoint.search_queue (thread_id) VALUES (NEW.thread_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER threads_search_new AFTER INSERT ON holdpoint.threads
    FOR EACH ROW EXECUTE FUNCTION holdpoint.note_change();
  CREATE TRIGGER threads_search AFTER UPDATE ON holdpoint.threads
    FOR EACH ROW WHEN (NEW.status <> 'busy' OR NEW.metadata::text <> OLD.metadata::text)
    EXECUTE FUNCTION holdpoint.note_change();
  CREATE TRIGGER audit_search AFTER INSERT ON holdpoint.audit
    FOR EACH ROW EXECUTE FUNCTION holdpoint.note_change();
  INSERT INTO holdpoint.search_queue (thread_id) SELECT thread_id FROM holdpoint.threads;
  `,
  // ID tokens are sealed from here on: those of older sessions are removed. A logout at the provider names its session.
  `
  UPDATE holdpoint.sessions SET id_token = '';
  CREATE INDEX sessions_provider ON holdpoint.sessions (provider_session) WHERE provider_session IS NOT NULL;
  `,
  // A hint to idle workers besides the job. Adding a job notifies in the same commit anyway.
  `
  CREATE OR REPLACE FUNCTION holdpoint.queue_run(thread TEXT, run TEXT, due BIGINT, asker TEXT, urgent BOOLEAN)
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE ahead INTEGER := 0;
  BEGIN
    INSERT INTO holdpoint.waiting (run_id, tenant) VALUES (run, asker) ON CONFLICT DO NOTHING;
    IF NOT urgent THEN
      SELECT count(*) INTO ahead FROM (SELECT 1 FROM holdpoint.waiting AS w WHERE w.tenant = asker LIMIT 1000) AS counted;
    END IF;
    PERFORM holdpoint_jobs.add_job('run', json_build_object('thread', thread, 'due', due),
      job_key := run || '/' || pg_current_xact_id(), job_key_mode := 'unsafe_dedupe',
      run_at := to_timestamp(due / 1000.0), priority := ahead, max_attempts := 1000);
    IF due IS NULL THEN PERFORM pg_notify('holdpoint_runs', thread); END IF;
  END $$;
  `,
  // The latest answer to an interrupt that failed.
  `
  ALTER TABLE holdpoint.interrupts ADD COLUMN failure TEXT;
  `,
  // Thread and time of deleted audit entries, and cut-offs of deletions by age (audit-chain.4).
  `
  ALTER TABLE holdpoint.audit_deleted ADD COLUMN thread_id TEXT COLLATE "C", ADD COLUMN at BIGINT;
  CREATE INDEX audit_deleted_threads ON holdpoint.audit_deleted (thread_id, seq) WHERE thread_id IS NOT NULL;
  ${noteFormer("holdpoint.")}
  CREATE FUNCTION holdpoint.note_cut_off(thread TEXT, moment BIGINT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE head holdpoint.audit_heads; note TEXT := 'cut-off ' || moment || ' ' || thread;
  BEGIN
    SELECT h.chain, h.count, h.hash INTO head FROM holdpoint.audit_heads AS h WHERE h.chain > 0 ORDER BY h.chain LIMIT 1
      FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      INSERT INTO holdpoint.audit_heads (chain, count, hash) VALUES (nextval('holdpoint.audit_chains'), 0, '')
        RETURNING chain, count, hash INTO head;
    END IF;
    INSERT INTO holdpoint.audit_deleted (chain, position, seq, digest, thread_id, at)
      VALUES (head.chain, head.count + 1, 0, note, thread, moment);
    UPDATE holdpoint.audit_heads AS h SET count = head.count + 1, hash = encode(sha256(convert_to(
        head.hash || ' ' || (head.count + 1) || ' 0 ' || note, 'UTF8')), 'hex')
      WHERE h.chain = head.chain;
  END $$;
  `,
  // The line of waiting runs (shared/line.ts). A run that its thread holds back leaves it at the first claim.
  `
  DROP TRIGGER run_waits_no_more ON holdpoint.runs;
  DROP TRIGGER run_is_gone ON holdpoint.runs;
  DROP FUNCTION holdpoint.run_waits_no_more, holdpoint.queue_run;
  DROP TABLE holdpoint.waiting;
  DROP SCHEMA IF EXISTS holdpoint_jobs CASCADE;
  ALTER TABLE holdpoint.workers DROP COLUMN jobs_locked_as;
  ALTER TABLE holdpoint.runs ADD COLUMN caller TEXT COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE holdpoint.runs ADD COLUMN place BIGINT;
  UPDATE holdpoint.runs SET place = 0 WHERE status = 'pending' AND due_at IS NULL;
  DROP INDEX holdpoint.runs_pending;
  CREATE INDEX runs_line ON holdpoint.runs (place, queue_key)
    WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_caller ON holdpoint.runs (caller, place)
    WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_age ON holdpoint.runs (urgent, queue_key) WHERE status = 'pending' AND place IS NOT NULL;
  `,
];
