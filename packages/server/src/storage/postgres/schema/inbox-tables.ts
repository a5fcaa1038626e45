// Interrupts, policies, the audit trail, and the search index. The columns of a table stand as in thread-tables.ts.

const INTERRUPTS = `
  CREATE TABLE holdpoint.interrupts (
    thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL, library_id TEXT NOT NULL,
    task_id TEXT NOT NULL, graph_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, root_checkpoint_id TEXT NOT NULL,
    idx INTEGER NOT NULL, ns TEXT NOT NULL, position INTEGER NOT NULL, state TEXT COLLATE "C" NOT NULL,
    priority INTEGER NOT NULL, created_at BIGINT NOT NULL, run_id TEXT NOT NULL, graph_id TEXT COLLATE "C" NOT NULL,
    assistant_id TEXT COLLATE "C" NOT NULL, node TEXT COLLATE "C" NOT NULL, kind TEXT COLLATE "C" NOT NULL, claim TEXT,
    claimed_by TEXT COLLATE "C", claimed_until BIGINT, expires_at BIGINT, on_expiry TEXT, snoozed_until BIGINT,
    escalates_at BIGINT, review TEXT, failure TEXT, response_schema TEXT, answer TEXT, value TEXT NOT NULL,
    PRIMARY KEY (thread_id, interrupt_id)
  ) WITH (fillfactor = 80);
  -- The inbox by age, whole and with each of its filters, by priority, and by deadline.
  CREATE INDEX interrupts_open ON holdpoint.interrupts (created_at, thread_id, interrupt_id) WHERE state = 'open';
  CREATE INDEX interrupts_open_graph ON holdpoint.interrupts (graph_id, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_assistant ON holdpoint.interrupts (assistant_id, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_node ON holdpoint.interrupts (node, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_kind ON holdpoint.interrupts (kind, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_claim ON holdpoint.interrupts (claimed_by, created_at, thread_id, interrupt_id)
    WHERE state = 'open' AND claimed_by IS NOT NULL;
  CREATE INDEX interrupts_open_priority ON holdpoint.interrupts (priority, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_open_dated ON holdpoint.interrupts (expires_at, created_at, thread_id, interrupt_id)
    WHERE state = 'open';
  CREATE INDEX interrupts_due ON holdpoint.interrupts (expires_at) WHERE state = 'open' AND on_expiry IS NOT NULL;
  CREATE INDEX interrupts_escalating ON holdpoint.interrupts (escalates_at)
    WHERE state = 'open' AND escalates_at IS NOT NULL;
  CREATE TABLE holdpoint.inbox_metadata (
    thread_id TEXT COLLATE "C" NOT NULL, interrupt_id TEXT COLLATE "C" NOT NULL, key TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (thread_id, interrupt_id, key)
  );
  CREATE INDEX inbox_metadata_values ON holdpoint.inbox_metadata (key, value, created_at, thread_id, interrupt_id);
  CREATE TABLE holdpoint.policies (
    policy_id TEXT COLLATE "C" PRIMARY KEY, conditions TEXT NOT NULL, answer TEXT NOT NULL, reach TEXT,
    created_by TEXT NOT NULL, is_admin BOOLEAN NOT NULL, created_at BIGINT NOT NULL, until BIGINT
  );
`;

/** Hash chains (server/model/audit/audit-chain.ts, which computes the same). */
const AUDIT = `
  CREATE TABLE holdpoint.audit (
    thread_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, chain INTEGER NOT NULL, position BIGINT NOT NULL,
    previous TEXT NOT NULL, digest TEXT NOT NULL, at BIGINT NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL,
    interrupt_id TEXT, run_id TEXT, via TEXT, origin TEXT, value TEXT NOT NULL, PRIMARY KEY (thread_id, seq)
  );
  CREATE INDEX audit_chains_in_order ON holdpoint.audit (chain, position);
  CREATE INDEX audit_time ON holdpoint.audit (at, thread_id, seq);
  CREATE FUNCTION holdpoint.audit_is_never_changed() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit rows are never changed'; END $$;
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON holdpoint.audit
    FOR EACH ROW EXECUTE FUNCTION holdpoint.audit_is_never_changed();
  CREATE SEQUENCE holdpoint.audit_chains AS INTEGER MINVALUE 0 START 1;
  CREATE TABLE holdpoint.audit_heads (chain INTEGER PRIMARY KEY, count BIGINT NOT NULL, hash TEXT NOT NULL)
    WITH (fillfactor = 50);
  -- What deleted entries leave, and cut-offs.
  CREATE TABLE holdpoint.audit_deleted (
    chain INTEGER NOT NULL, position BIGINT NOT NULL, seq BIGINT NOT NULL, digest TEXT NOT NULL,
    thread_id TEXT COLLATE "C", at BIGINT, PRIMARY KEY (chain, position)
  );
  CREATE INDEX audit_deleted_threads ON holdpoint.audit_deleted (thread_id, seq) WHERE thread_id IS NOT NULL;

  -- A chain that no other transaction is writing to; a new one where there is none.
  CREATE FUNCTION holdpoint.take_audit_head() RETURNS holdpoint.audit_heads LANGUAGE plpgsql AS $$
  DECLARE head holdpoint.audit_heads;
  BEGIN
    SELECT h.chain, h.count, h.hash INTO head FROM holdpoint.audit_heads AS h ORDER BY h.chain LIMIT 1
      FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      INSERT INTO holdpoint.audit_heads (chain, count, hash) VALUES (nextval('holdpoint.audit_chains'), 0, '')
        RETURNING chain, count, hash INTO head;
    END IF;
    RETURN head;
  END $$;
  CREATE FUNCTION holdpoint.move_audit_head(head holdpoint.audit_heads, number BIGINT, content TEXT) RETURNS void
  LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE holdpoint.audit_heads AS h SET count = head.count + 1, hash = encode(sha256(convert_to(
        head.hash || ' ' || (head.count + 1) || ' ' || number || ' ' || content, 'UTF8')), 'hex')
      WHERE h.chain = head.chain;
  END $$;
  CREATE FUNCTION holdpoint.append_audit(thread TEXT, moment BIGINT, what TEXT, who TEXT, interrupt TEXT, run TEXT,
    channel TEXT, source TEXT, content TEXT, given TEXT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE head holdpoint.audit_heads := holdpoint.take_audit_head(); number BIGINT;
  BEGIN
    SELECT coalesce(max(a.seq), 0) + 1 INTO number FROM holdpoint.audit AS a WHERE a.thread_id = thread;
    INSERT INTO holdpoint.audit (thread_id, seq, at, action, by, interrupt_id, run_id, via, origin, value, chain,
        position, previous, digest)
      VALUES (thread, number, moment, what, who, interrupt, run, channel, source, given, head.chain, head.count + 1,
        head.hash, content);
    PERFORM holdpoint.move_audit_head(head, number, content);
  END $$;
  CREATE FUNCTION holdpoint.note_cut_off(thread TEXT, moment BIGINT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head holdpoint.audit_heads := holdpoint.take_audit_head();
    note TEXT := 'cut-off ' || moment || ' ' || thread;
  BEGIN
    INSERT INTO holdpoint.audit_deleted (chain, position, seq, digest, thread_id, at)
      VALUES (head.chain, head.count + 1, 0, note, thread, moment);
    PERFORM holdpoint.move_audit_head(head, 0, note);
  END $$;
`;

/**
 * The queue has threads that changed; a busy one changes again soon. No row is updated twice or shared, so that no
 * transaction waits for another.
 */
const SEARCH = `
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
    FOR EACH ROW WHEN (NEW.status <> 'busy' OR NEW.metadata <> OLD.metadata) EXECUTE FUNCTION holdpoint.note_change();
  CREATE TRIGGER audit_search AFTER INSERT ON holdpoint.audit
    FOR EACH ROW EXECUTE FUNCTION holdpoint.note_change();
`;

export const INBOX_TABLES: string = INTERRUPTS + AUDIT + SEARCH;
