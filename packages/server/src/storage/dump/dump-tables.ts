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

const textColumns = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "text"] as const));
const jsontext = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "jsontext"] as const));
const integer = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "integer"] as const));

function table(name: string, key: readonly string[], columns: Readonly<Record<string, ColumnType>>): DumpTable {
  return { name, key, columns };
}

export const DUMP_TABLES: readonly DumpTable[] = [
  table("fingerprints", ["hash"], { ...textColumns("hash", "body"), ...integer("created_at") }),
  table("assistants", ["assistant_id"], {
    ...jsontext("config"),
    ...textColumns("assistant_id", "graph_id", "name", "name_lower", "description", "context"),
    ...integer("version", "created_at", "updated_at"),
    metadata: "json",
  }),
  table("assistant_versions", ["assistant_id", "version"], {
    ...jsontext("config"),
    ...textColumns("assistant_id", "graph_id", "name", "description", "context"),
    ...integer("version", "created_at"),
    metadata: "json",
  }),
  table("assistant_metadata", ["key", "value", "assistant_id"], textColumns("key", "value", "assistant_id")),
  table("threads", ["thread_id"], {
    ...jsontext("config", "error", "started_by"),
    ...textColumns("thread_id", "status", "pause", "graph_id", "assistant_id", "checkpoint_id", "overlay"),
    ...textColumns("on_completion", "ttl_strategy", "tenant"),
    ...integer("created_at", "updated_at", "state_updated_at", "ttl_ms", "pruned_at"),
    metadata: "json",
  }),
  table("thread_metadata", ["thread_id", "key"], {
    ...textColumns("thread_id", "key", "value"),
    ...integer("created_at"),
  }),
  table("checkpoints", ["thread_id", "ns", "checkpoint_id"], {
    ...textColumns("thread_id", "ns", "checkpoint_id", "parent_id", "run_id", "fingerprint", "body", "small"),
    metadata: "json",
  }),
  table("heads", ["thread_id", "ns"], textColumns("thread_id", "ns", "checkpoint_id")),
  table("writes", ["thread_id", "ns", "checkpoint_id", "run_id", "task_id"], {
    ...textColumns("thread_id", "ns", "checkpoint_id", "run_id", "task_id", "task_path", "entries"),
  }),
  table("blobs", ["thread_id", "hash"], textColumns("thread_id", "hash", "data")),
  table("runs", ["run_id"], {
    ...jsontext("metadata", "request", "error", "paused_on"),
    ...textColumns("run_id", "thread_id", "assistant_id", "graph_id", "status", "ended_by", "cancel_reason"),
    ...textColumns("queue_key", "caller", "multitask", "input", "checkpoint_id", "overlay", "tenant"),
    ...integer("attempt", "crashes", "suspicions", "alone", "storage_failures", "urgent", "place"),
    ...integer("due_at", "created_at", "updated_at"),
  }),
  table("interrupts", ["thread_id", "interrupt_id"], {
    ...jsontext("ns", "response_schema", "claim", "on_expiry", "review", "answer", "failure"),
    ...textColumns(
      "thread_id",
      "interrupt_id",
      "library_id",
      "task_id",
      "graph_ns",
      "checkpoint_id",
      "root_checkpoint_id",
    ),
    ...textColumns("state", "run_id", "graph_id", "assistant_id", "node", "kind"),
    ...integer("idx", "position", "created_at", "expires_at", "snoozed_until", "priority", "escalates_at"),
    value: "value",
  }),
  table("inbox_metadata", ["thread_id", "interrupt_id", "key"], {
    ...textColumns("thread_id", "interrupt_id", "key", "value"),
    ...integer("created_at"),
  }),
  table("audit", ["thread_id", "seq"], {
    ...jsontext("origin"),
    ...textColumns("thread_id", "action", "by", "interrupt_id", "run_id", "via", "previous", "digest"),
    ...integer("seq", "at", "chain", "position"),
    value: "value",
  }),
  table("audit_heads", ["chain"], { ...integer("chain", "count"), ...textColumns("hash") }),
  table("audit_deleted", ["chain", "position"], {
    ...integer("chain", "position", "seq", "at"),
    ...textColumns("digest", "thread_id"),
  }),
  table("idempotency", ["key"], {
    ...textColumns("key", "request_hash", "thread_id", "run_id"),
    ...integer("created_at"),
  }),
  table("webhooks", ["run_id"], {
    ...jsontext("headers"),
    ...textColumns("run_id", "url", "host", "channel", "batch", "body"),
    ...integer("attempts", "due_at", "created_at"),
  }),
  table("notices", ["notice_id"], {
    ...jsontext("target"),
    ...textColumns("notice_id", "thread_id", "interrupt_id", "shown"),
    ...integer("created_at"),
  }),
  table("spent_tokens", ["token"], { ...textColumns("token"), ...integer("expires_at") }),
  table("run_webhooks", ["thread_id", "run_id", "webhook_id"], {
    ...jsontext("headers"),
    ...textColumns("thread_id", "run_id", "webhook_id", "url", "format"),
    ...integer("created_at"),
  }),
  table("crons", ["cron_id"], {
    ...jsontext("payload", "caller", "reach"),
    ...textColumns(
      "cron_id",
      "assistant_id",
      "thread_id",
      "schedule",
      "timezone",
      "on_run_completed",
      "disabled_reason",
    ),
    ...integer("end_time", "next_run_date", "created_at", "updated_at"),
    enabled: "boolean",
    metadata: "json",
  }),
  table("store_items", ["item_id"], {
    ...jsontext("value"),
    ...textColumns("ns", "key", "tenant"),
    ...integer("item_id", "created_at", "updated_at", "ttl_ms", "expires_at"),
  }),
  table("store_order", ["prefix", "updated_at", "item_id"], {
    ...textColumns("prefix"),
    ...integer("updated_at", "item_id"),
  }),
  table("store_vectors", ["item_id", "field"], { ...textColumns("field"), ...integer("item_id"), vector: "bytes" }),
  table("people", ["name"], {
    ...jsontext("groups"),
    ...textColumns("name", "issuer", "subject", "display_name", "email", "console"),
    ...integer("created_at", "seen_at"),
  }),
  table("sessions", ["session_id"], {
    ...jsontext("claims"),
    ...textColumns("session_id", "person", "token_hash", "previous_hash", "provider_session", "id_token"),
    ...integer("previous_until", "rotated_at", "created_at", "used_at", "expires_at"),
  }),
  table("api_keys", ["key_id"], {
    ...jsontext("limits"),
    ...textColumns("key_id", "name", "hash", "role", "created_by"),
    ...integer("created_at", "expires_at", "used_at"),
  }),
  table("policies", ["policy_id"], {
    ...jsontext("conditions", "answer", "reach"),
    ...textColumns("policy_id", "created_by"),
    ...integer("created_at", "until"),
    is_admin: "boolean",
  }),
  table("socket_tickets", ["digest"], { ...textColumns("digest", "caller", "headers"), ...integer("expires_at") }),
  table("events", ["seq"], {
    ...textColumns("thread_id", "run_id", "lines"),
    ...integer("seq", "first", "last", "gone_at", "stored_at"),
  }),
];
