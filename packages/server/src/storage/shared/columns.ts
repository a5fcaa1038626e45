// Columns: the fields of the model and their columns, the same in every database. An adapter's own column types are in
// its rows.ts.
import type {
  AssistantVersion,
  Blob,
  Checkpoint,
  Cron,
  Interrupt,
  Notice,
  Policy,
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

/** Names separated by blanks or line ends. */
type Words<Text extends string> = Text extends `${infer One}\n${infer Rest}`
  ? Words<One> | Words<Rest>
  : Text extends `${infer One} ${infer Rest}`
    ? Words<One> | Words<Rest>
    : Text extends ""
      ? never
      : Text;

/** The fields of a row, by the kind of their column. */
interface Fields<T> {
  readonly plain: string;
  readonly json?: string;
  readonly value?: string;
  /** Columns that are not the field in snake case. */
  readonly names?: { readonly [Field in keyof T]?: string };
}

type Listed<Given> = {
  [Kind in ColumnKind]: Given extends { readonly [K in Kind]: infer Text extends string } ? Words<Text> : never;
}[ColumnKind];

/** An error of the compiler where a field of `T` is not listed, or where a listed one is none. */
type Complete<T, Given> = [Exclude<keyof T, Listed<Given>>] extends [never]
  ? { readonly plain: Exclude<Listed<Given>, keyof T> extends never ? string : never }
  : { readonly missing: Exclude<keyof T, Listed<Given>> };

const snakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The columns of a row are its fields in snake case, except `names`. Two calls: the caller names `T`, not `Given`. */
function columns<T>() {
  return <const Given extends Fields<T>>({ names = {}, ...kinds }: Given & Complete<T, Given>): Columns<T> => {
    const own: Readonly<Record<string, string | undefined>> = names;
    const entries = Object.entries(kinds).flatMap(([kind, text]) =>
      String(text)
        .trim()
        .split(/\s+/)
        .map((field) => [field, [own[field] ?? snakeCase(field), kind]] as const),
    );
    return Object.fromEntries(entries) as unknown as Columns<T>;
  };
}

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

export const THREAD_COLUMNS = columns<Thread>()({
  plain: `
    threadId createdAt updatedAt status pause graphId assistantId checkpointId overlay stateUpdatedAt
    ttlMs onCompletion ttlStrategy`,
  json: "metadata config error startedBy",
});

export const RUN_COLUMNS = columns<RunRow>()({
  plain: `
    runId threadId assistantId graphId status endedBy cancelReason attempt crashes suspicions alone
    storageFailures workerId urgent queueKey caller dueAt createdAt updatedAt multitaskStrategy input checkpointId
    overlay`,
  json: "metadata request error pausedOn",
  names: { multitaskStrategy: "multitask" },
});

export const IDEMPOTENCY_COLUMNS = columns<IdempotencyRecord>()({
  plain: "key requestHash threadId runId createdAt",
});

export const SOCKET_TICKET_COLUMNS = columns<SocketTicket>()({
  plain: "digest caller headers expiresAt",
});

export const INTERRUPT_COLUMNS = columns<Interrupt>()({
  plain: `
    threadId interruptId libraryId taskId graphNs checkpointId rootCheckpointId index position state
    createdAt runId graphId assistantId node kind expiresAt snoozedUntil priority escalatesAt`,
  json: "ns responseSchema claim onExpiry review answer failure",
  value: "value",
  names: { index: "idx" },
});

export const AUDIT_COLUMNS = columns<AuditRecord>()({
  plain: "threadId seq at action by interruptId runId via",
  json: "origin",
  value: "value",
});

/** An audit entry with its place in a chain (server/model/audit/audit-chain.ts). */
export interface AuditRow extends AuditRecord {
  readonly chain: number;
  readonly position: number;
  readonly previous: string;
  readonly digest: string;
}

export const AUDIT_LINK_COLUMNS = columns<Omit<AuditRow, keyof AuditRecord>>()({
  plain: "chain position previous digest",
});

export const CHECKPOINT_COLUMNS = columns<Checkpoint>()({
  plain: "threadId ns checkpointId parentId runId fingerprint body small metadata",
});

export const WRITES_COLUMNS = columns<TaskWrites>()({
  plain: "threadId ns checkpointId runId taskId taskPath entries",
});

export const HEAD_COLUMNS = columns<Head>()({
  plain: "threadId ns checkpointId",
});

export const BLOB_COLUMNS = columns<Blob>()({
  plain: "threadId hash data",
});

export const ITEM_COLUMNS = columns<ItemRow>()({
  plain: "ns key createdAt updatedAt ttlMs expiresAt",
  json: "value",
});

export const CRON_COLUMNS = columns<Cron>()({
  plain: `
    cronId assistantId threadId schedule timezone endTime enabled onRunCompleted nextAt createdAt
    updatedAt disabledReason`,
  json: "metadata payload caller reach",
  names: { nextAt: "next_run_date" },
});

export const WEBHOOK_COLUMNS = columns<Webhook>()({
  plain: "runId url host channel batch body attempts dueAt createdAt",
  json: "headers",
});

export const NOTICE_COLUMNS = columns<Notice>()({
  plain: "noticeId threadId interruptId shown createdAt",
  json: "target",
});

export const RUN_WEBHOOK_COLUMNS = columns<RunWebhook>()({
  plain: "threadId runId webhookId url format createdAt",
  json: "headers",
});

export const EVENT_COLUMNS = columns<StoredEvents>()({
  plain: "seq threadId runId first last goneAt storedAt lines",
});

export const VERSION_COLUMNS = columns<AssistantVersion>()({
  plain: "assistantId graphId name description version createdAt",
  json: "metadata config",
  value: "context",
});

export const PERSON_COLUMNS = columns<Person>()({
  plain: "name issuer subject displayName email createdAt seenAt",
  json: "groups",
});

export const SESSION_COLUMNS = columns<Session>()({
  plain: `
    sessionId person tokenHash previousHash previousUntil rotatedAt providerSession sealedIdToken
    createdAt usedAt expiresAt`,
  json: "claims",
  names: { sealedIdToken: "id_token" },
});

export const POLICY_COLUMNS = columns<Omit<Policy, "isAdmin">>()({
  plain: "policyId createdBy createdAt until",
  json: "conditions answer reach",
});

export const KEY_COLUMNS = columns<StoredKey>()({
  plain: "keyId name hash role createdBy createdAt expiresAt usedAt",
  json: "limits",
});
