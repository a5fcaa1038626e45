// Model: the entities of the agent server as plain data. No behaviour, no storage, no LangGraph.
import type { Json, JsonObject } from "../../base/json/json.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";
export type RunStatus = "pending" | "running" | "success" | "error" | "timeout" | "interrupted";

/** Reason for the end of a run. Distinguishes a pause from a cancellation; both have the status `interrupted`. */
export type EndedBy = "done" | "pause" | "cancel" | "rollback" | "failure" | "timeout";

/** Kind of a pause: an open interrupt (`question`) or a breakpoint. */
export type PauseKind = "question" | "breakpoint";

export type MultitaskStrategy = "reject" | "enqueue" | "interrupt" | "rollback";
export type Durability = "sync" | "async" | "exit";

/** Fate of a thread after its last run. Threads of stateless runs use `delete`. */
export type OnCompletion = "keep" | "delete";

export interface ErrorInfo {
  readonly error: string;
  readonly message: string;
  /**
   * Bounded stack with files and lines of the failed code. Only readers of the run see it, not streams and webhooks.
   */
  readonly stack?: string;
}

/** JSON text of a value in the stored encoding (graphs/state/codec.ts). Opaque outside the graphs room. */
export type Encoded = string;

/** Member name that tags values without a JSON form in the stored encoding. Untagged stored text is plain JSON. */
export const TAG = "$hp";

/** A stored value, and whether it may contain tags. */
export interface Stored {
  /** The stored text, if the value has a row of its own. */
  readonly text?: string;
  readonly json: Json;
  readonly tagged: boolean;
  /** Parses a long text in slices of the event loop; undefined where there is nothing to wait for. */
  readonly load?: () => Promise<void> | undefined;
}

/** Encoded values longer than this many UTF-16 units are stored once per content hash. */
export const BIG_VALUE_UNITS = 4096;

/** Authenticated caller. Audit entries record this name. */
export interface Caller {
  readonly name: string;
  /** User object from the authentication, for graphs and handlers; null without authentication. */
  readonly user: JsonObject | null;
  readonly permissions: readonly string[];
  /** Absent for actions of the server itself. */
  readonly origin?: Origin;
}

/** Origin of a call as far as the server can determine it; both members are bounded. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string | null;
  /** The gateway between the caller and the API. */
  readonly via?: "mcp" | "a2a";
}

/** Authorization scope: objects whose metadata meets every condition; null means unrestricted. */
export type Scope = readonly Condition[] | null;

export interface Condition {
  readonly key: string;
  /** `eq`: the member equals the value. `contains`: the member is a list that includes the value. */
  readonly op: "eq" | "contains";
  readonly value: Json;
}

export interface Thread {
  readonly threadId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly config: JsonObject;
  readonly status: ThreadStatus;
  /** Non-null exactly while `status` is `interrupted`. */
  readonly pause: PauseKind | null;
  /** Graph of the newest checkpoint. */
  readonly graphId: string | null;
  readonly assistantId: string | null;
  /** Newest checkpoint of the root namespace. */
  readonly checkpointId: string | null;
  /** Values that differ from the checkpoint, because finished branches wait for a paused sibling. */
  readonly overlay: Encoded | null;
  readonly error: ErrorInfo | null;
  /** Time of the last change of state or status. Metadata changes do not count. */
  readonly stateUpdatedAt: number;
  /** Milliseconds between the last change and the `ttlStrategy`; null disables expiry. */
  readonly ttlMs: number | null;
  readonly onCompletion: OnCompletion;
  readonly ttlStrategy: TtlStrategy;
}

/** `delete`: the thread with all its data. `keep_latest`: all checkpoints except the newest. */
export type TtlStrategy = "delete" | "keep_latest";

/** One answer of a run: its interrupt, its task, and the value. */
export interface CarriedAnswer {
  readonly interruptId: string;
  /** The library's id of the interrupt: the key in its resume map. */
  readonly libraryId: string;
  /** Namespace of the task's graph: `""` at the root, `"child:<uuid>"` below. */
  readonly graphNs: string;
  readonly taskId: string;
  /** Checkpoint of that graph at which the node raised the interrupt. */
  readonly checkpointId: string;
  /** 0 for the first interrupt of the task. */
  readonly index: number;
  readonly value: Json;
}

export interface RunCommand {
  /** Present exactly if the run carries answers. */
  readonly answers?: readonly CarriedAnswer[];
  readonly update?: Json;
  readonly goto?: Json;
  /** `goto: "__end__"`: the run drops the pending work and ends the thread. */
  readonly givesUp?: true;
}

export type StreamMode =
  | "values"
  | "updates"
  | "messages"
  | "messages-tuple"
  | "events"
  | "tasks"
  | "checkpoints"
  | "debug"
  | "custom"
  | "tools";

/** Events that a reader of the run receives. */
export interface StreamRequest {
  readonly modes: readonly StreamMode[];
  readonly subgraphs: boolean;
  /** The server keeps the events for the configured time. */
  readonly resumable: boolean;
  /** Started over the thread protocol: its log has the lines of all channels (protocol-lines.ts). */
  readonly protocol?: true;
}

export const VALUES_ONLY: StreamRequest = { modes: ["values"], subgraphs: false, resumable: false };

/** Checkpoint of a subgraph with the checkpoints of all its parent graphs. */
export interface SubgraphCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  /** Namespace → checkpoint, from `""` down to `ns`. */
  readonly map: Readonly<Record<string, string>>;
}

/** Human wait that ends with this run, for its trace. */
export interface TracedWait {
  readonly interruptId: string;
  readonly node: string;
  readonly kind: InterruptKind;
  /** Creation time of the interrupt. */
  readonly since: number;
  readonly by: string;
}

/** Trace of the paused run that this run continues. */
export interface TraceLink {
  readonly rootRunId: string;
  readonly rootStartedAt: number;
  readonly waits: readonly TracedWait[];
}

/** Notification target. `event`: our JSON event. `slack`: a message for a Slack incoming webhook. */
export interface Notify {
  readonly url: string;
  readonly format: "event" | "slack";
}

/** Parameters of the call, stored so that a later attempt repeats them. */
export interface RunRequest {
  readonly command: RunCommand | null;
  readonly config: JsonObject;
  readonly context: Json;
  readonly interruptBefore: "*" | readonly string[] | null;
  readonly interruptAfter: "*" | readonly string[] | null;
  readonly durability: Durability;
  /** Start from this checkpoint instead of the newest. */
  readonly checkpointId: string | null;
  /** Present if the run starts from a subgraph checkpoint. `checkpointId` is then its root checkpoint. */
  readonly subgraph?: SubgraphCheckpoint;
  /** The run resumes or continues a pause, and precedes other runs in the queue. */
  readonly goesFirst: boolean;
  /** The authenticated user. Graphs see it in every attempt. Null without authentication. */
  readonly user: JsonObject | null;
  readonly permissions: readonly string[];
  /** Absent if equal to VALUES_ONLY. */
  readonly stream?: StreamRequest;
  /** Webhook URL for the end of the run, as given in the call. */
  readonly webhook?: string;
  /** Notification target for the interrupts of this run, as given in the call; false disables notifications. */
  readonly notify?: Notify | false;
  /** Present if the run continues a pause. */
  readonly trace?: TraceLink;
  /** Present if the call delayed the run. */
  readonly afterSeconds?: number;
}

export interface Run {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly status: RunStatus;
  readonly endedBy: EndedBy | null;
  /** Number of claims. Every write of a run carries it. */
  readonly attempt: number;
  /** Number of process deaths while the run executed alone (crash-suspects.ts). */
  readonly crashes: number;
  /** Number of process deaths while the run executed concurrently with others. */
  readonly suspicions: number;
  /** 1 while the run executes as a quarantined suspect, alone in its process. */
  readonly alone: number;
  /** Consecutive attempts that ended with a storage failure and without a checkpoint. */
  readonly storageFailures: number;
  /** The worker of a running run; null in a single-process server. */
  readonly workerId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly multitaskStrategy: MultitaskStrategy;
  /** Non-null for a delayed run, which does not block its thread. Null once the run is due. */
  readonly dueAt: number | null;
  readonly request: RunRequest;
  /** The input as received, or null if absent. */
  readonly input: Encoded | null;
  readonly error: ErrorInfo | null;
  /** Newest root checkpoint at the end of the run. */
  readonly checkpointId: string | null;
  readonly overlay: Encoded | null;
  /** Open interrupts at the pause, in task order. */
  readonly pausedOn: readonly string[];
}

/** Outbox row: one HTTP delivery. */
export interface Webhook {
  /**
   * Event id. A run ends once, so the run id identifies its end. Notifications of interrupts have ids of the same form.
   */
  readonly runId: string;
  readonly url: string;
  /** Host and port of the URL, the key of per-destination limits. */
  readonly host: string;
  /** JSON text. */
  readonly body: string;
  /** Number of delivery attempts. */
  readonly attempts: number;
  /** Earliest time of the next attempt. During an attempt: the time after which another process may retry. */
  readonly dueAt: number;
  readonly createdAt: number;
}

export type InterruptState = "open" | "answered" | "abandoned";

/**
 * Kind of an inbox item. `breakpoint` waits for a continuation. It has a row like an interrupt, so that the inbox lists
 * both in one order. Other code does not treat it as an interrupt.
 */
export type InterruptKind = "tool_approval" | "form" | "question" | "breakpoint";

/** Assignment of an inbox item to a person. */
export interface Assignment {
  readonly by: string;
  readonly at: number;
  /** Null: no expiry. */
  readonly until: number | null;
}

/** Action at the deadline. */
export type OnExpiry = "fail" | { readonly answer: Json };

/** One interrupt of one task. The row outlives its answer until the thread is deleted. */
export interface Interrupt {
  readonly threadId: string;
  readonly interruptId: string;
  /** The library's latest id. Before LangGraph 1.7, all interrupts of a task share one. */
  readonly libraryId: string;
  readonly taskId: string;
  readonly graphNs: string;
  /** Checkpoint of the task's graph. */
  readonly checkpointId: string;
  /** Checkpoint of the root graph at that time. */
  readonly rootCheckpointId: string;
  readonly index: number;
  /** `["<node>:<task uuid>", …]`, the whole path from the root. */
  readonly ns: readonly string[];
  /** Position among the interrupts of the same pause. */
  readonly position: number;
  readonly value: Json;
  readonly responseSchema: JsonObject | null;
  readonly state: InterruptState;
  readonly createdAt: number;
  /** The run that raised the interrupt. */
  readonly runId: string;
  readonly graphId: string;
  readonly assistantId: string;
  /** The node that raised the interrupt: the innermost of `ns`. For a breakpoint, the next nodes. */
  readonly node: string;
  readonly kind: InterruptKind;
  readonly claim: Assignment | null;
  readonly expiresAt: number | null;
  /** Null: after the deadline the interrupt is overdue and stays open. */
  readonly onExpiry: OnExpiry | null;
  readonly answer: AnswerRecord | null;
}

export interface AnswerRecord {
  readonly runId: string;
  readonly at: number;
  readonly by: string;
  readonly value: Json;
}

export type AuditAction =
  | "answered"
  | "answered_as_fork"
  | "continued"
  | "abandoned"
  | "cancelled"
  | "reopened"
  | "claimed"
  | "released"
  | "expired"
  /** An edit in the name of a node bypassed the interrupt. */
  | "bypassed"
  /** A run disabled breakpoints compiled into its graph. */
  | "breakpoints_off"
  /** The deadline passed, but its action was refused. The interrupt stays open. */
  | "expiry_refused";

/** Channel of an action. */
export type AuditVia = "api" | "inbox" | "deadline" | "server" | "mcp" | "a2a";

export interface AuditEntry {
  readonly threadId: string;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: string;
  readonly interruptId: string | null;
  readonly runId: string | null;
  readonly value: Json;
  /** `api` if absent. */
  readonly via?: AuditVia;
  readonly origin?: Origin;
}

export interface Assistant {
  readonly assistantId: string;
  readonly graphId: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: JsonObject;
  readonly config: JsonObject;
  readonly context: Json;
  /** The active version: the newest, or an older one after a restore. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Snapshot of an assistant; `createdAt` is the creation time of the version. */
export type AssistantVersion = Omit<Assistant, "updatedAt">;

/**
 * One saved superstep of one graph. `small` contains the values written in this step. `from` locates every channel
 * value: empty for this row, a checkpoint id for the `small` of that row, or `#<hash>` for a blob of the thread.
 */
export interface Checkpoint {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly runId: string;
  /** Hash of the graph fingerprint. */
  readonly fingerprint: string;
  /** JSON text: `{ts, versions, seen, from}`. */
  readonly body: string;
  /** JSON text: `{channel: value}` in the stored encoding. */
  readonly small: string;
  /** JSON text: metadata of the library and of this server. */
  readonly metadata: string;
}

/** Writes of one run for one task of one checkpoint. Text: `[[index, channel, value], …]` in the stored encoding. */
export interface TaskWrites {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
  /**
   * Position of the task in its superstep, as given by the library. Empty for input and for rows older than the column.
   */
  readonly taskPath: string;
  readonly runId: string;
  readonly entries: string;
}

export interface Blob {
  readonly threadId: string;
  readonly hash: string;
  readonly data: string;
}

/** Pending writes of a run in their order of creation. */
export interface WriteSet {
  readonly checkpoints: readonly Checkpoint[];
  readonly writes: readonly TaskWrites[];
  readonly blobs: readonly Blob[];
}

/** Parts of a graph that a paused thread depends on. */
export interface Fingerprint {
  readonly hash: string;
  readonly graphId: string;
  /** Node names by namespace path: `""` for the root, `"child"`, `"child|grandchild"`. */
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  /** Channel classes of the root graph and of its known subgraphs, by the same paths. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Channels that form the state: a list, or a single channel that is the state itself. */
  readonly outputs: string | readonly string[];
}

/** Entry of the long-term memory: a JSON object under a namespace and key. */
export interface StoreItem {
  /** At least one label, outermost first. */
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds between the last write, or the last refreshing read, and the expiry; null disables expiry. */
  readonly ttlMs: number | null;
  readonly expiresAt: number | null;
}

/** Embedding of one text of an item, for semantic search. */
export interface StoreVector {
  /** Path of the text in the item. */
  readonly field: string;
  readonly vector: Float32Array;
}

/** Scheduled runs of an assistant. */
export interface Cron {
  readonly cronId: string;
  readonly assistantId: string;
  /** The thread of all its runs; null gives each run a new thread. */
  readonly threadId: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly endTime: number | null;
  readonly enabled: boolean;
  /** Fate of a thread that the cron created for a run. */
  readonly onRunCompleted: OnCompletion;
  readonly metadata: JsonObject;
  /** Members of the run-creating request, as received. */
  readonly payload: JsonObject;
  /** Next tick; null while disabled, and after the last tick. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The creator. Runs of the cron have the same identity and reach. */
  readonly caller: Caller;
  readonly reach: { readonly threads: Scope; readonly assistants: Scope };
}
