// Schema: numbered migrations; rejects a file that a newer version wrote.
// Invariants:
//   sqlite/migrations.1. Migration n runs once, in one transaction with the record of its run.
//   sqlite/migrations.2. A file of a newer schema, or of a newer LangGraph, stays untouched.
import { compareVersions, NewerDatabaseError, type Versions } from "../../shared/schema-version.ts";
import { noteFormer } from "../../shared/audit-gaps.ts";
import type { Database } from "../client/database.ts";
import { INTERRUPTS_WITH_REVIEW, RUN_TABLES_WITH_ROW_IDS, WITH_ROW_IDS } from "./with-row-ids.ts";

/** Keys are in time order. Tables with small rows are clustered by them (WITHOUT ROWID). */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE threads (
    thread_id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL, pause TEXT,
    graph_id TEXT, assistant_id TEXT, checkpoint_id TEXT, overlay TEXT, error TEXT, ttl_ms INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX threads_interrupted ON threads (created_at) WHERE status = 'interrupted';
  CREATE INDEX threads_error ON threads (created_at) WHERE status = 'error';
  CREATE INDEX threads_created ON threads (created_at);
  CREATE INDEX threads_expiry ON threads (updated_at + ttl_ms) WHERE ttl_ms IS NOT NULL;

  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, assistant_id TEXT NOT NULL, graph_id TEXT NOT NULL,
    status TEXT NOT NULL, ended_by TEXT, attempt INTEGER NOT NULL, crashes INTEGER NOT NULL, urgent INTEGER NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, metadata TEXT NOT NULL, multitask TEXT NOT NULL,
    request TEXT NOT NULL, input TEXT, error TEXT, checkpoint_id TEXT, overlay TEXT, paused_on TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX runs_thread ON runs (thread_id, run_id);
  CREATE INDEX runs_pending_thread ON runs (thread_id) WHERE status = 'pending';
  CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running';
  CREATE INDEX runs_pending ON runs (urgent DESC, run_id) WHERE status = 'pending';

  CREATE TABLE interrupts (
    thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, library_id TEXT NOT NULL, task_id TEXT NOT NULL,
    graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL, idx INTEGER NOT NULL,
    ns TEXT NOT NULL, position INTEGER NOT NULL, value TEXT NOT NULL, response_schema TEXT, state TEXT NOT NULL,
    created_at INTEGER NOT NULL, run_id TEXT NOT NULL, answer TEXT,
    PRIMARY KEY (thread_id, interrupt_id)
  ) WITHOUT ROWID;
  CREATE INDEX interrupts_open ON interrupts (created_at) WHERE state = 'open';

  CREATE TABLE audit (
    thread_id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    interrupt_id TEXT, run_id TEXT, value TEXT NOT NULL,
    PRIMARY KEY (thread_id, seq)
  ) WITHOUT ROWID;

  CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, parent_id TEXT, run_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL, body TEXT NOT NULL, small TEXT NOT NULL, metadata TEXT NOT NULL,
    PRIMARY KEY (thread_id, ns, checkpoint_id)
  ) WITHOUT ROWID;
  CREATE TABLE heads (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, PRIMARY KEY (thread_id, ns)
  ) WITHOUT ROWID;
  CREATE TABLE writes (
    thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, run_id TEXT NOT NULL,
    task_id TEXT NOT NULL, entries TEXT NOT NULL,
    PRIMARY KEY (thread_id, ns, checkpoint_id, run_id, task_id)
  ) WITHOUT ROWID;
  CREATE TABLE blobs (
    thread_id TEXT NOT NULL, hash TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (thread_id, hash)
  );

  CREATE TABLE fingerprints (hash TEXT PRIMARY KEY, created_at INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE assistants (
    assistant_id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
    metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL, version INTEGER NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE idempotency (
    key TEXT PRIMARY KEY, request_hash TEXT NOT NULL, thread_id TEXT NOT NULL, run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idempotency_created ON idempotency (created_at);
  `,
  `
  CREATE TABLE assistant_versions (
    assistant_id TEXT NOT NULL, version INTEGER NOT NULL, graph_id TEXT NOT NULL, name TEXT NOT NULL,
    description TEXT, metadata TEXT NOT NULL, config TEXT NOT NULL, context TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (assistant_id, version)
  ) WITHOUT ROWID;
  INSERT INTO assistant_versions (assistant_id, version, graph_id, name, description, metadata, config, context, created_at)
    SELECT assistant_id, version, graph_id, name, description, metadata, config, context, created_at FROM assistants;
  CREATE INDEX assistants_created ON assistants (created_at);
  CREATE INDEX assistants_updated ON assistants (updated_at);
  CREATE INDEX assistants_name ON assistants (name);
  CREATE INDEX assistants_graph ON assistants (graph_id, created_at);
  CREATE INDEX runs_assistant ON runs (assistant_id, run_id);
  `,
  `
  CREATE TABLE store_items (
    item_id INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ttl_ms INTEGER, expires_at INTEGER
  );
  CREATE UNIQUE INDEX store_items_key ON store_items (ns, key);
  CREATE INDEX store_items_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE store_order (
    prefix TEXT NOT NULL, updated_at INTEGER NOT NULL, item_id INTEGER NOT NULL,
    PRIMARY KEY (prefix, updated_at, item_id)
  ) WITHOUT ROWID;
  CREATE TABLE store_vectors (
    item_id INTEGER NOT NULL, field TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (item_id, field)
  ) WITHOUT ROWID;
  `,
  // Delayed runs, and threads with an expiry after their last run. queue_key: the place in the queue, ordered like run
  // ids.
  `
  ALTER TABLE threads ADD COLUMN on_completion TEXT NOT NULL DEFAULT 'keep';
  ALTER TABLE runs ADD COLUMN due_at INTEGER;
  ALTER TABLE runs ADD COLUMN queue_key TEXT NOT NULL DEFAULT '';
  UPDATE runs SET queue_key = run_id;
  DROP INDEX runs_pending;
  CREATE INDEX runs_pending ON runs (urgent DESC, queue_key) WHERE status = 'pending' AND due_at IS NULL;
  CREATE INDEX runs_delayed ON runs (due_at) WHERE status = 'pending' AND due_at IS NOT NULL;
  `,
  // Indexes for open interrupts and for metadata. The migration fills older rows as far as SQL can.
  `
  ALTER TABLE threads ADD COLUMN state_updated_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE threads ADD COLUMN ttl_strategy TEXT NOT NULL DEFAULT 'delete';
  UPDATE threads SET state_updated_at = updated_at;

  ALTER TABLE interrupts ADD COLUMN graph_id TEXT NOT NULL DEFAULT '';
  ALTER TABLE interrupts ADD COLUMN assistant_id TEXT NOT NULL DEFAULT '';
  ALTER TABLE interrupts ADD COLUMN node TEXT NOT NULL DEFAULT '';
  ALTER TABLE interrupts ADD COLUMN kind TEXT NOT NULL DEFAULT 'question';
  ALTER TABLE interrupts ADD COLUMN claim TEXT;
  ALTER TABLE interrupts ADD COLUMN expires_at INTEGER;
  ALTER TABLE interrupts ADD COLUMN on_expiry TEXT;
  UPDATE interrupts SET
    node = substr(ns ->> '$[#-1]', 1, instr(ns ->> '$[#-1]', ':') - 1),
    kind = CASE WHEN value LIKE '%"action_request%' OR value LIKE '%"actionRequests"%' THEN 'tool_approval'
                WHEN response_schema IS NOT NULL THEN 'form' ELSE 'question' END,
    (graph_id, assistant_id) =
      (SELECT coalesce(graph_id, ''), coalesce(assistant_id, '') FROM threads WHERE threads.thread_id = interrupts.thread_id);
  INSERT INTO interrupts (thread_id, interrupt_id, library_id, task_id, graph_ns, checkpoint_id, root_checkpoint_id, idx,
      ns, position, value, state, created_at, run_id, graph_id, assistant_id, kind)
    SELECT thread_id, replace(checkpoint_id, '-', ''), '', '', '', checkpoint_id, checkpoint_id, 0,
      '[]', 0, '[null]', 'open', updated_at, '', coalesce(graph_id, ''), coalesce(assistant_id, ''), 'breakpoint'
    FROM threads WHERE status = 'interrupted' AND pause = 'breakpoint' AND checkpoint_id IS NOT NULL;
  DROP INDEX interrupts_open;
  CREATE INDEX interrupts_open ON interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_graph ON interrupts (graph_id, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_assistant ON interrupts (assistant_id, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_node ON interrupts (node, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_kind ON interrupts (kind, created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_claim ON interrupts (claim ->> '$.by', created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND claim IS NOT NULL;
  CREATE INDEX interrupts_due ON interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;

  CREATE TABLE thread_metadata (
    thread_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, key)
  ) WITHOUT ROWID;
  CREATE INDEX thread_metadata_values ON thread_metadata (key, value, created_at, thread_id);
  INSERT INTO thread_metadata (thread_id, key, value, created_at)
    SELECT thread_id, key, substr(CASE type WHEN 'text' THEN json_quote(value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
      WHEN 'null' THEN 'null' ELSE atom END, 1, 200), created_at
    FROM threads, json_each(threads.metadata) WHERE type NOT IN ('object', 'array');
  CREATE TABLE inbox_metadata (
    thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, interrupt_id, key)
  ) WITHOUT ROWID;
  CREATE INDEX inbox_metadata_values ON inbox_metadata (key, value, created_at, thread_id, interrupt_id);
  INSERT INTO inbox_metadata (thread_id, interrupt_id, key, value, created_at)
    SELECT i.thread_id, interrupt_id, key, m.value, i.created_at
    FROM interrupts AS i JOIN thread_metadata AS m ON m.thread_id = i.thread_id WHERE i.state = 'open';

  ALTER TABLE audit ADD COLUMN via TEXT;
  ALTER TABLE audit ADD COLUMN origin TEXT;
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
  `,
  `
  CREATE TABLE webhooks (
    run_id TEXT PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, body TEXT NOT NULL,
    attempts INTEGER NOT NULL, due_at INTEGER NOT NULL, created_at INTEGER NOT NULL
  );
  CREATE INDEX webhooks_due ON webhooks (due_at);
  `,
  // Events of runs; gone_at is on the last row of an ended run.
  `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, run_id TEXT NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, gone_at INTEGER, lines TEXT NOT NULL
  );
  CREATE INDEX events_thread ON events (thread_id);
  CREATE INDEX events_gone ON events (gone_at) WHERE gone_at IS NOT NULL;
  `,
  `
  CREATE TABLE assistant_metadata (
    key TEXT NOT NULL, value TEXT NOT NULL, assistant_id TEXT NOT NULL, PRIMARY KEY (key, value, assistant_id)
  ) WITHOUT ROWID;
  CREATE INDEX assistant_metadata_assistant ON assistant_metadata (assistant_id);
  INSERT INTO assistant_metadata (key, value, assistant_id)
    SELECT key, substr(CASE type WHEN 'text' THEN json_quote(value) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
      WHEN 'null' THEN 'null' ELSE atom END, 1, 200), assistant_id
    FROM assistants, json_each(assistants.metadata) WHERE type NOT IN ('object', 'array');
  `,
  `
  CREATE TABLE crons (
    cron_id TEXT PRIMARY KEY, assistant_id TEXT NOT NULL, thread_id TEXT, schedule TEXT NOT NULL, timezone TEXT,
    end_time INTEGER, enabled INTEGER NOT NULL, on_run_completed TEXT NOT NULL, metadata TEXT NOT NULL,
    payload TEXT NOT NULL, next_run_date INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    caller TEXT NOT NULL, reach TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX crons_due ON crons (next_run_date) WHERE next_run_date IS NOT NULL;
  CREATE INDEX crons_thread ON crons (thread_id) WHERE thread_id IS NOT NULL;
  CREATE INDEX crons_created ON crons (created_at);
  `,
  // Time of the last pruning of a thread's checkpoints.
  `
  ALTER TABLE threads ADD COLUMN pruned_at INTEGER NOT NULL DEFAULT 0;
  `,
  `
  ALTER TABLE runs ADD COLUMN worker_id TEXT;
  `,
  // Order of a superstep's writes: LangGraph rebuilds a DeltaChannel by replaying them in this order.
  `
  ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT '';
  `,
  // State of a run when its process died or its storage failed (agent/model/crash-suspects.ts).
  `
  ALTER TABLE runs ADD COLUMN suspicions INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN storage_failures INTEGER NOT NULL DEFAULT 0;
  `,
  // Webhooks that were added to runs, and headers of deliveries.
  `
  CREATE TABLE run_webhooks (
    thread_id TEXT NOT NULL, run_id TEXT NOT NULL, webhook_id TEXT NOT NULL, url TEXT NOT NULL, format TEXT NOT NULL,
    headers TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (thread_id, run_id, webhook_id)
  ) WITHOUT ROWID;
  ALTER TABLE webhooks ADD COLUMN headers TEXT NOT NULL DEFAULT '{}';
  `,
  // Time of a row of events: those that are derived from it need one (agent/protocol/convert).
  `
  ALTER TABLE events ADD COLUMN stored_at INTEGER;
  `,
  WITH_ROW_IDS,
  // People who have signed in, their sessions, and the keys of programs.
  `
  CREATE TABLE people (
    name TEXT NOT NULL PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, display_name TEXT NOT NULL, email TEXT,
    groups TEXT NOT NULL, created_at INTEGER NOT NULL, seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX people_subject ON people (issuer, subject);
  CREATE TABLE sessions (
    session_id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, token_hash TEXT NOT NULL, previous_hash TEXT,
    previous_until INTEGER, rotated_at INTEGER NOT NULL, provider_session TEXT, id_token TEXT NOT NULL,
    claims TEXT NOT NULL, created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
  CREATE INDEX sessions_previous ON sessions (previous_hash) WHERE previous_hash IS NOT NULL;
  CREATE INDEX sessions_person ON sessions (person);
  CREATE TABLE api_keys (
    key_id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, role TEXT NOT NULL, limits TEXT NOT NULL,
    created_by TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER, used_at INTEGER
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
  `,
  // One-use tickets for WebSockets (agent/protocol/socket-tickets.ts).
  `
  CREATE TABLE socket_tickets (
    digest TEXT NOT NULL PRIMARY KEY, caller TEXT NOT NULL, headers TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX socket_tickets_caller ON socket_tickets (caller);
  CREATE INDEX socket_tickets_expiry ON socket_tickets (expires_at);
  `,
  // Other ways than HTTP, several rows as one message, messages that follow their items, one-use tokens.
  `
  ALTER TABLE webhooks ADD COLUMN channel TEXT NOT NULL DEFAULT 'http';
  ALTER TABLE webhooks ADD COLUMN batch TEXT;
  CREATE INDEX webhooks_batch ON webhooks (batch, due_at) WHERE batch IS NOT NULL;
  CREATE TABLE notices (
    notice_id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, interrupt_id TEXT NOT NULL, target TEXT NOT NULL,
    shown TEXT NOT NULL, created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX notices_item ON notices (thread_id, interrupt_id);
  CREATE INDEX notices_shown ON notices (shown, created_at);
  CREATE TABLE spent_tokens (token TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX spent_tokens_expiry ON spent_tokens (expires_at);
  `,
  // Review rules of interrupts, and who made the state of a thread.
  `
  ALTER TABLE threads ADD COLUMN started_by TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE interrupts ADD COLUMN review TEXT;
  ALTER TABLE interrupts ADD COLUMN snoozed_until INTEGER;
  ALTER TABLE interrupts ADD COLUMN escalates_at INTEGER;
  `,
  INTERRUPTS_WITH_REVIEW,
  RUN_TABLES_WITH_ROW_IDS,
  // Without the threads that a sweep leaves as they are: paused ones, and those that it has pruned.
  `
  DROP INDEX threads_expiry;
  CREATE INDEX threads_expiry ON threads (status, updated_at + ttl_ms)
    WHERE ttl_ms IS NOT NULL AND (ttl_strategy = 'delete' OR pruned_at < updated_at);
  `,
  // The audit trail as a hash chain. Entries from before it count as a chain of their own, without hashes.
  `
  ALTER TABLE audit RENAME TO audit_unchained;
  CREATE TABLE audit (
    thread_id TEXT NOT NULL, seq INTEGER NOT NULL, chain INTEGER NOT NULL DEFAULT 0,
    position INTEGER NOT NULL DEFAULT 0, previous TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL, interrupt_id TEXT, run_id TEXT, via TEXT, origin TEXT,
    value TEXT NOT NULL, PRIMARY KEY (thread_id, seq)
  );
  INSERT INTO audit (thread_id, seq, at, action, by, interrupt_id, run_id, via, origin, value)
    SELECT thread_id, seq, at, action, by, interrupt_id, run_id, via, origin, value FROM audit_unchained;
  DROP TABLE audit_unchained;
  CREATE INDEX audit_chains ON audit (chain, position);
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;
  CREATE TABLE audit_heads (chain INTEGER PRIMARY KEY, count INTEGER NOT NULL, hash TEXT NOT NULL);
  INSERT INTO audit_heads (chain, count, hash) SELECT 0, count(*), '' FROM audit HAVING count(*) > 0;
  CREATE TABLE audit_deleted (
    chain INTEGER NOT NULL, position INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (chain, position)
  ) WITHOUT ROWID;
  `,
  // Entries of all threads in order of time.
  `
  CREATE INDEX audit_time ON audit (at, thread_id, seq);
  `,
  // The inbox in the order of deadlines.
  `
  CREATE INDEX interrupts_open_dated ON interrupts (expires_at, created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND expires_at IS NOT NULL;
  `,
  // The search index. Words are those of agent/model/search/search-words.ts, and marks that begin with an underscore.
  `
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
  `,
  // ID tokens are sealed from here on: those of older sessions are removed. A logout at the provider names its session.
  `
  UPDATE sessions SET id_token = '';
  CREATE INDEX sessions_provider ON sessions (provider_session) WHERE provider_session IS NOT NULL;
  `,
  // Nothing to change: requests of runs are short from here on (shared/stored-request.ts), unreadable to older releases.
  "",
  // The latest answer to an interrupt that failed.
  `
  ALTER TABLE interrupts ADD COLUMN failure TEXT;
  `,
  // Thread and time of deleted audit entries, and cut-offs of deletions by age (audit-chain.4).
  `
  ALTER TABLE audit_deleted ADD COLUMN thread_id TEXT;
  ALTER TABLE audit_deleted ADD COLUMN at INTEGER;
  CREATE INDEX audit_deleted_threads ON audit_deleted (thread_id, seq) WHERE thread_id IS NOT NULL;
  ${noteFormer("")}
  `,
  // The line of waiting runs (shared/line.ts). A run that its thread holds back leaves it at the first claim.
  `
  ALTER TABLE runs ADD COLUMN caller TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN place INTEGER;
  UPDATE runs SET place = 0 WHERE status = 'pending' AND due_at IS NULL;
  DROP INDEX runs_pending;
  CREATE INDEX runs_line ON runs (place, queue_key) WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_caller ON runs (caller, place)
    WHERE status = 'pending' AND place IS NOT NULL AND urgent = 0;
  CREATE INDEX runs_line_age ON runs (urgent, queue_key) WHERE status = 'pending' AND place IS NOT NULL;
  `,
];

/** @throws {NewerDatabaseError} sqlite/migrations.2 */
export function migrate(db: Database, versions: Versions): void {
  db.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  const meta = (key: string): string | null => {
    const value = db.get("SELECT value FROM meta WHERE key = ?", key)?.["value"];
    return typeof value === "string" ? value : null;
  };
  const applied = Number(meta("schema") ?? 0);
  if (applied > MIGRATIONS.length)
    throw new NewerDatabaseError(`Holdpoint ${meta("holdpoint") ?? "of a newer release"}`);
  const library = meta("library");
  if (library !== null && compareVersions(library, versions.library) > 0)
    throw new NewerDatabaseError(`@langchain/langgraph ${library} (this process has ${versions.library})`);
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of MIGRATIONS.slice(applied)) db.exec(step);
    const note = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    db.run(note, "schema", String(MIGRATIONS.length)); // sqlite/migrations.1
    db.run(note, "holdpoint", versions.holdpoint);
    db.run(note, "library", versions.library);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction()) db.exec("ROLLBACK");
    throw error;
  }
}
