// Sealed columns: every column of both databases, sealed or plain, where the storage has encryption keys
// (sealing.ts). sealed.slow.test.ts of each adapter compares the list with its schema.
//   - Sealed: what callers, graphs and people write.
//   - Plain: ids, times, statuses, counts, names and hashes; metadata, namespaces, keys and names of assistants, which
//     calls search by; and the words of the search index, which a storage with keys has only if the operator says so.

export interface SealedColumn {
  /** The columns that name the row. They do not change as long as the value does not. */
  readonly row: readonly string[];
  /** A member of a JSON object that stays plain, because conditions read it. */
  readonly plainMember?: string;
  /** The value is bytes; all others are text. */
  readonly isBytes?: true;
}

export interface ColumnKinds {
  /** The unique key, in whose order a rewrite goes over the rows. */
  readonly key: readonly string[];
  readonly sealed: Readonly<Record<string, SealedColumn>>;
  readonly plain: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** @param sealed columns, each named by the columns of its row, or by the key */
function table(
  key: string,
  plain: string,
  sealed: readonly (string | readonly [column: string, row: string, more?: Omit<SealedColumn, "row">])[] = [],
): ColumnKinds {
  const columns = sealed.map((one): readonly [string, SealedColumn] => {
    if (typeof one === "string") return [one, { row: words(key) }];
    const [column, row, more] = one;
    return [column, { row: words(row), ...more }];
  });
  return { key: words(key), sealed: Object.fromEntries(columns), plain: words(plain) };
}

const IN_THREAD = "run_id thread_id";

export const TABLES: Readonly<Record<string, ColumnKinds>> = {
  threads: table(
    "thread_id",
    `thread_id created_at updated_at state_updated_at status pause graph_id assistant_id checkpoint_id ttl_ms
     ttl_strategy expires_at pruned_at on_completion started_by metadata tenant`,
    ["error", "config", "overlay"],
  ),
  thread_metadata: table("thread_id key", "thread_id key value created_at"),
  // What changes after the start is bound to the run alone: the statement that changes it knows no thread.
  runs: table(
    "run_id",
    `run_id thread_id assistant_id graph_id status ended_by created_at updated_at attempt crashes suspicions alone
     storage_failures worker_id queue_key urgent due_at caller place multitask checkpoint_id paused_on tenant`,
    [["request", IN_THREAD], ["metadata", IN_THREAD], ["input", IN_THREAD], "error", "overlay", "cancel_reason"],
  ),
  idempotency: table("key", "key request_hash thread_id run_id created_at"),
  // A body has the names and versions of channels, and no value.
  checkpoints: table(
    "thread_id ns checkpoint_id",
    "thread_id ns checkpoint_id parent_id run_id fingerprint metadata body",
    ["small"],
  ),
  heads: table("thread_id ns", "thread_id ns checkpoint_id"),
  writes: table("thread_id ns checkpoint_id run_id task_id", "thread_id ns checkpoint_id run_id task_id task_path", [
    "entries",
  ]),
  blobs: table("thread_id hash", "thread_id hash", ["data"]),
  fingerprints: table("hash", "hash created_at body"),
  // The database numbers events.
  events: table("seq", "seq thread_id run_id first last gone_at stored_at", [["lines", "thread_id run_id first"]]),
  interrupts: table(
    "thread_id interrupt_id",
    `thread_id interrupt_id library_id task_id graph_ns checkpoint_id root_checkpoint_id idx ns position state
     created_at run_id graph_id assistant_id node kind claim claimed_by claimed_until expires_at snoozed_until
     priority escalates_at`,
    [
      "value",
      "response_schema",
      "answer",
      "failure",
      "on_expiry",
      ["review", "thread_id interrupt_id", { plainMember: "assignees" }],
    ],
  ),
  inbox_metadata: table("thread_id interrupt_id key", "thread_id interrupt_id key value created_at"),
  // The database numbers entries; the digest is of the whole entry.
  audit: table("thread_id seq", "thread_id seq chain position previous digest at action by interrupt_id run_id via", [
    ["value", "thread_id digest"],
    ["origin", "thread_id digest"],
  ]),
  audit_heads: table("chain", "chain count hash"),
  audit_deleted: table("chain position", "chain position seq digest thread_id at"),
  search_documents: table("thread_id interrupt_id", "doc_id thread_id interrupt_id updated_at seq words"),
  search_queue: table("id", "id thread_id taken_until"),
  assistants: table("assistant_id", "assistant_id graph_id name name_lower version created_at updated_at metadata", [
    "config",
    "context",
    "description",
  ]),
  assistant_versions: table("assistant_id version", "assistant_id version graph_id name created_at metadata", [
    "config",
    "context",
    "description",
  ]),
  assistant_metadata: table("key value assistant_id", "key value assistant_id"),
  crons: table(
    "cron_id",
    `cron_id assistant_id thread_id schedule timezone end_time enabled on_run_completed next_run_date created_at
     updated_at caller reach metadata disabled_reason`,
    ["payload"],
  ),
  policies: table("policy_id", "policy_id created_by is_admin created_at until", ["conditions", "answer", "reach"]),
  store_items: table("item_id", "item_id ns key created_at updated_at ttl_ms expires_at tenant", [["value", "ns key"]]),
  store_order: table("prefix updated_at item_id", "prefix updated_at item_id"),
  store_vectors: table("item_id field", "item_id field", [["vector", "item_id field", { isBytes: true }]]),
  people: table("name", "name issuer subject display_name email groups created_at seen_at", ["console"]),
  // The token of the provider is sealed with the session's own token already.
  sessions: table(
    "session_id",
    `session_id person token_hash previous_hash previous_until rotated_at provider_session id_token created_at used_at
     expires_at`,
    ["claims"],
  ),
  api_keys: table("key_id", "key_id name hash role limits created_by created_at expires_at used_at"),
  // The headers are sealed with the ticket, which the database does not have.
  socket_tickets: table("digest", "digest caller headers expires_at"),
  webhooks: table("run_id", "run_id host channel batch attempts due_at created_at", ["url", "headers", "body"]),
  run_webhooks: table("thread_id run_id webhook_id", "thread_id run_id webhook_id format created_at", [
    "url",
    "headers",
  ]),
  notices: table("notice_id", "notice_id thread_id interrupt_id shown created_at", ["target"]),
  spent_tokens: table("token", "token expires_at"),
  workers: table("worker_id", "worker_id beat_at"),
  commits: table("connection", "connection number at"),
  meta: table("key", "key value"),
};
