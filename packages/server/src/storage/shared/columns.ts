// Columns: the fields of the model and their columns, the same in every database. An adapter's own column types are in
// its rows.ts.
import type {
  AssistantVersion,
  Blob,
  Checkpoint,
  Cron,
  Interrupt,
  Notice,
  Run,
  Person,
  RunWebhook,
  Session,
  StoredKey,
  StoreItem,
  TaskWrites,
  Thread,
  Webhook,
} from "../../model/model.ts";
import type { AuditRecord, IdempotencyRecord, SocketTicket, StoredEvents } from "../../ports/ports.ts";

/** `json` stores null as NULL; `value` is always JSON text, for values that may be null. */
export type ColumnKind = "plain" | "json" | "value";

/** `field → [column, kind]`, for every field of `T`. */
export type Columns<T, Kind = ColumnKind> = {
  readonly [Field in keyof T]-?: readonly [column: string, kind: Kind];
};

export interface RunRow extends Run {
  /** Runs that resume a pause come before other pending runs. */
  readonly urgent: number;
  readonly queueKey: string;
  /** Whose turn it is (line.ts). */
  readonly caller: string;
}

/** The newest checkpoint of a graph or subgraph. */
export type Head = Pick<Checkpoint, "threadId" | "ns" | "checkpointId">;

/** A namespace is one text in its row. */
export type ItemRow = Omit<StoreItem, "namespace"> & { readonly ns: string };

export const THREAD_COLUMNS: Columns<Thread> = {
  threadId: ["thread_id", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  metadata: ["metadata", "json"],
  config: ["config", "json"],
  status: ["status", "plain"],
  pause: ["pause", "plain"],
  graphId: ["graph_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  overlay: ["overlay", "plain"],
  error: ["error", "json"],
  stateUpdatedAt: ["state_updated_at", "plain"],
  ttlMs: ["ttl_ms", "plain"],
  onCompletion: ["on_completion", "plain"],
  ttlStrategy: ["ttl_strategy", "plain"],
  startedBy: ["started_by", "json"],
};

export const RUN_COLUMNS: Columns<RunRow> = {
  runId: ["run_id", "plain"],
  threadId: ["thread_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  graphId: ["graph_id", "plain"],
  status: ["status", "plain"],
  endedBy: ["ended_by", "plain"],
  attempt: ["attempt", "plain"],
  crashes: ["crashes", "plain"],
  suspicions: ["suspicions", "plain"],
  alone: ["alone", "plain"],
  storageFailures: ["storage_failures", "plain"],
  workerId: ["worker_id", "plain"],
  urgent: ["urgent", "plain"],
  queueKey: ["queue_key", "plain"],
  caller: ["caller", "plain"],
  dueAt: ["due_at", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  metadata: ["metadata", "json"],
  multitaskStrategy: ["multitask", "plain"],
  request: ["request", "json"],
  input: ["input", "plain"],
  error: ["error", "json"],
  checkpointId: ["checkpoint_id", "plain"],
  overlay: ["overlay", "plain"],
  pausedOn: ["paused_on", "json"],
};

export const IDEMPOTENCY_COLUMNS: Columns<IdempotencyRecord> = {
  key: ["key", "plain"],
  requestHash: ["request_hash", "plain"],
  threadId: ["thread_id", "plain"],
  runId: ["run_id", "plain"],
  createdAt: ["created_at", "plain"],
};

export const SOCKET_TICKET_COLUMNS: Columns<SocketTicket> = {
  digest: ["digest", "plain"],
  caller: ["caller", "plain"],
  headers: ["headers", "plain"],
  expiresAt: ["expires_at", "plain"],
};

export const INTERRUPT_COLUMNS: Columns<Interrupt> = {
  threadId: ["thread_id", "plain"],
  interruptId: ["interrupt_id", "plain"],
  libraryId: ["library_id", "plain"],
  taskId: ["task_id", "plain"],
  graphNs: ["graph_ns", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  rootCheckpointId: ["root_checkpoint_id", "plain"],
  index: ["idx", "plain"],
  ns: ["ns", "json"],
  position: ["position", "plain"],
  value: ["value", "json"],
  responseSchema: ["response_schema", "json"],
  state: ["state", "plain"],
  createdAt: ["created_at", "plain"],
  runId: ["run_id", "plain"],
  graphId: ["graph_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  node: ["node", "plain"],
  kind: ["kind", "plain"],
  claim: ["claim", "json"],
  expiresAt: ["expires_at", "plain"],
  onExpiry: ["on_expiry", "json"],
  review: ["review", "json"],
  snoozedUntil: ["snoozed_until", "plain"],
  escalatesAt: ["escalates_at", "plain"],
  answer: ["answer", "json"],
  failure: ["failure", "json"],
};

export const AUDIT_COLUMNS: Columns<AuditRecord> = {
  threadId: ["thread_id", "plain"],
  seq: ["seq", "plain"],
  at: ["at", "plain"],
  action: ["action", "plain"],
  by: ["by", "plain"],
  interruptId: ["interrupt_id", "plain"],
  runId: ["run_id", "plain"],
  value: ["value", "json"],
  via: ["via", "plain"],
  origin: ["origin", "json"],
};

/** An audit entry with its place in a chain (server/model/audit/audit-chain.ts). */
export interface AuditRow extends AuditRecord {
  readonly chain: number;
  readonly position: number;
  readonly previous: string;
  readonly digest: string;
}

export const AUDIT_LINK_COLUMNS: Columns<Omit<AuditRow, keyof AuditRecord>> = {
  chain: ["chain", "plain"],
  position: ["position", "plain"],
  previous: ["previous", "plain"],
  digest: ["digest", "plain"],
};

export const CHECKPOINT_COLUMNS: Columns<Checkpoint> = {
  threadId: ["thread_id", "plain"],
  ns: ["ns", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  parentId: ["parent_id", "plain"],
  runId: ["run_id", "plain"],
  fingerprint: ["fingerprint", "plain"],
  body: ["body", "plain"],
  small: ["small", "plain"],
  metadata: ["metadata", "plain"],
};

export const WRITES_COLUMNS: Columns<TaskWrites> = {
  threadId: ["thread_id", "plain"],
  ns: ["ns", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
  runId: ["run_id", "plain"],
  taskId: ["task_id", "plain"],
  taskPath: ["task_path", "plain"],
  entries: ["entries", "plain"],
};

export const HEAD_COLUMNS: Columns<Head> = {
  threadId: ["thread_id", "plain"],
  ns: ["ns", "plain"],
  checkpointId: ["checkpoint_id", "plain"],
};

export const BLOB_COLUMNS: Columns<Blob> = {
  threadId: ["thread_id", "plain"],
  hash: ["hash", "plain"],
  data: ["data", "plain"],
};

export const ITEM_COLUMNS: Columns<ItemRow> = {
  ns: ["ns", "plain"],
  key: ["key", "plain"],
  value: ["value", "json"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  ttlMs: ["ttl_ms", "plain"],
  expiresAt: ["expires_at", "plain"],
};

export const CRON_COLUMNS: Columns<Cron> = {
  cronId: ["cron_id", "plain"],
  assistantId: ["assistant_id", "plain"],
  threadId: ["thread_id", "plain"],
  schedule: ["schedule", "plain"],
  timezone: ["timezone", "plain"],
  endTime: ["end_time", "plain"],
  enabled: ["enabled", "plain"],
  onRunCompleted: ["on_run_completed", "plain"],
  metadata: ["metadata", "json"],
  payload: ["payload", "json"],
  nextAt: ["next_run_date", "plain"],
  createdAt: ["created_at", "plain"],
  updatedAt: ["updated_at", "plain"],
  caller: ["caller", "json"],
  reach: ["reach", "json"],
};

export const WEBHOOK_COLUMNS: Columns<Webhook> = {
  runId: ["run_id", "plain"],
  url: ["url", "plain"],
  host: ["host", "plain"],
  channel: ["channel", "plain"],
  batch: ["batch", "plain"],
  body: ["body", "plain"],
  headers: ["headers", "json"],
  attempts: ["attempts", "plain"],
  dueAt: ["due_at", "plain"],
  createdAt: ["created_at", "plain"],
};

export const NOTICE_COLUMNS: Columns<Notice> = {
  noticeId: ["notice_id", "plain"],
  threadId: ["thread_id", "plain"],
  interruptId: ["interrupt_id", "plain"],
  target: ["target", "json"],
  shown: ["shown", "plain"],
  createdAt: ["created_at", "plain"],
};

export const RUN_WEBHOOK_COLUMNS: Columns<RunWebhook> = {
  threadId: ["thread_id", "plain"],
  runId: ["run_id", "plain"],
  webhookId: ["webhook_id", "plain"],
  url: ["url", "plain"],
  format: ["format", "plain"],
  headers: ["headers", "json"],
  createdAt: ["created_at", "plain"],
};

export const EVENT_COLUMNS: Columns<StoredEvents> = {
  seq: ["seq", "plain"],
  threadId: ["thread_id", "plain"],
  runId: ["run_id", "plain"],
  first: ["first", "plain"],
  last: ["last", "plain"],
  goneAt: ["gone_at", "plain"],
  storedAt: ["stored_at", "plain"],
  lines: ["lines", "plain"],
};

export const VERSION_COLUMNS: Columns<AssistantVersion> = {
  assistantId: ["assistant_id", "plain"],
  graphId: ["graph_id", "plain"],
  name: ["name", "plain"],
  description: ["description", "plain"],
  metadata: ["metadata", "json"],
  config: ["config", "json"],
  context: ["context", "value"],
  version: ["version", "plain"],
  createdAt: ["created_at", "plain"],
};

export const PERSON_COLUMNS: Columns<Person> = {
  name: ["name", "plain"],
  issuer: ["issuer", "plain"],
  subject: ["subject", "plain"],
  displayName: ["display_name", "plain"],
  email: ["email", "plain"],
  groups: ["groups", "json"],
  createdAt: ["created_at", "plain"],
  seenAt: ["seen_at", "plain"],
};

export const SESSION_COLUMNS: Columns<Session> = {
  sessionId: ["session_id", "plain"],
  person: ["person", "plain"],
  tokenHash: ["token_hash", "plain"],
  previousHash: ["previous_hash", "plain"],
  previousUntil: ["previous_until", "plain"],
  rotatedAt: ["rotated_at", "plain"],
  providerSession: ["provider_session", "plain"],
  sealedIdToken: ["id_token", "plain"],
  claims: ["claims", "json"],
  createdAt: ["created_at", "plain"],
  usedAt: ["used_at", "plain"],
  expiresAt: ["expires_at", "plain"],
};

export const KEY_COLUMNS: Columns<StoredKey> = {
  keyId: ["key_id", "plain"],
  name: ["name", "plain"],
  hash: ["hash", "plain"],
  role: ["role", "plain"],
  limits: ["limits", "json"],
  createdBy: ["created_by", "plain"],
  createdAt: ["created_at", "plain"],
  expiresAt: ["expires_at", "plain"],
  usedAt: ["used_at", "plain"],
};
