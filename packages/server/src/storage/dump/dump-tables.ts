// Dump tables: the data that moves between storages, as every adapter stores it.
// Invariants:
//   dump-tables.1. The list has every table and column of a storage, except derived ones (the search index among them)
//        and the worker of a run: that worker does not exist in the target.
//   - Tables come in load order; rows come in key order.

/**
 * `json`: JSON that SQL reads; `jsontext`: JSON that only the server reads; `value`: JSON of any value, including null;
 * `bytes`: base64 in a file.
 */
export type ColumnType = "text" | "integer" | "boolean" | "json" | "jsontext" | "value" | "bytes";

export interface DumpTable {
  readonly name: string;
  /** Columns of the unique key. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** @param columns names, by type */
function table(name: string, key: string, columns: Readonly<Partial<Record<ColumnType, string>>>): DumpTable {
  const typed = Object.entries(columns) as [ColumnType, string][];
  const entries = typed.flatMap(([type, names]) => words(names).map((column) => [column, type] as const));
  return { name, key: words(key), columns: Object.fromEntries(entries) };
}

export const DUMP_TABLES: readonly DumpTable[] = [
  table("fingerprints", "hash", { text: "hash body", integer: "created_at" }),
  table("assistants", "assistant_id", {
    jsontext: "config",
    text: "assistant_id graph_id name name_lower description context",
    integer: "version created_at updated_at",
    json: "metadata",
  }),
  table("assistant_versions", "assistant_id version", {
    jsontext: "config",
    text: "assistant_id graph_id name description context",
    integer: "version created_at",
    json: "metadata",
  }),
  table("assistant_metadata", "key value assistant_id", { text: "key value assistant_id" }),
  table("threads", "thread_id", {
    jsontext: "config error started_by",
    text: "thread_id status pause graph_id assistant_id checkpoint_id overlay on_completion ttl_strategy tenant",
    integer: "created_at updated_at state_updated_at ttl_ms pruned_at",
    json: "metadata",
  }),
  table("thread_metadata", "thread_id key", { text: "thread_id key value", integer: "created_at" }),
  table("checkpoints", "thread_id ns checkpoint_id", {
    text: "thread_id ns checkpoint_id parent_id run_id fingerprint body small",
    json: "metadata",
  }),
  table("heads", "thread_id ns", { text: "thread_id ns checkpoint_id" }),
  table("writes", "thread_id ns checkpoint_id run_id task_id", {
    text: "thread_id ns checkpoint_id run_id task_id task_path entries",
  }),
  table("blobs", "thread_id hash", { text: "thread_id hash data" }),
  table("runs", "run_id", {
    jsontext: "metadata request error paused_on",
    text: `
      run_id thread_id assistant_id graph_id status ended_by cancel_reason queue_key caller multitask input
      checkpoint_id overlay tenant`,
    integer: "attempt crashes suspicions alone storage_failures urgent place due_at created_at updated_at",
  }),
  table("interrupts", "thread_id interrupt_id", {
    jsontext: "ns response_schema claim on_expiry review answer failure",
    text: `
      thread_id interrupt_id library_id task_id graph_ns checkpoint_id root_checkpoint_id state run_id graph_id
      assistant_id node kind`,
    integer: "idx position created_at expires_at snoozed_until priority escalates_at",
    value: "value",
  }),
  table("inbox_metadata", "thread_id interrupt_id key", {
    text: "thread_id interrupt_id key value",
    integer: "created_at",
  }),
  table("audit", "thread_id seq", {
    jsontext: "origin",
    text: "thread_id action by interrupt_id run_id via previous digest",
    integer: "seq at chain position",
    value: "value",
  }),
  table("audit_heads", "chain", { integer: "chain count", text: "hash" }),
  table("audit_deleted", "chain position", { integer: "chain position seq at", text: "digest thread_id" }),
  table("idempotency", "key", { text: "key request_hash thread_id run_id", integer: "created_at" }),
  table("webhooks", "run_id", {
    jsontext: "headers",
    text: "run_id url host channel batch body",
    integer: "attempts due_at created_at",
  }),
  table("notices", "notice_id", {
    jsontext: "target",
    text: "notice_id thread_id interrupt_id shown",
    integer: "created_at",
  }),
  table("spent_tokens", "token", { text: "token", integer: "expires_at" }),
  table("run_webhooks", "thread_id run_id webhook_id", {
    jsontext: "headers",
    text: "thread_id run_id webhook_id url format",
    integer: "created_at",
  }),
  table("crons", "cron_id", {
    jsontext: "payload caller reach",
    text: "cron_id assistant_id thread_id schedule timezone on_run_completed disabled_reason",
    integer: "end_time next_run_date created_at updated_at",
    boolean: "enabled",
    json: "metadata",
  }),
  table("store_items", "item_id", {
    jsontext: "value",
    text: "ns key tenant",
    integer: "item_id created_at updated_at ttl_ms expires_at",
  }),
  table("store_order", "prefix updated_at item_id", { text: "prefix", integer: "updated_at item_id" }),
  table("store_vectors", "item_id field", { text: "field", integer: "item_id", bytes: "vector" }),
  table("people", "name", {
    jsontext: "groups",
    text: "name issuer subject display_name email console",
    integer: "created_at seen_at",
  }),
  table("sessions", "session_id", {
    jsontext: "claims",
    text: "session_id person token_hash previous_hash provider_session id_token",
    integer: "previous_until rotated_at created_at used_at expires_at",
  }),
  table("api_keys", "key_id", {
    jsontext: "limits",
    text: "key_id name hash role created_by",
    integer: "created_at expires_at used_at",
  }),
  table("policies", "policy_id", {
    jsontext: "conditions answer reach",
    text: "policy_id created_by",
    integer: "created_at until",
    boolean: "is_admin",
  }),
  table("socket_tickets", "digest", { text: "digest caller headers", integer: "expires_at" }),
  table("events", "seq", { text: "thread_id run_id lines", integer: "seq first last gone_at stored_at" }),
];
