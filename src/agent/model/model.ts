// Model: the nouns of the agent server as plain data. No verbs, no storage, no LangGraph.
import type { Json, JsonObject } from "../../base/json/json.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";
export type RunStatus = "pending" | "running" | "success" | "error" | "timeout" | "interrupted";

/** Why a run ended; tells a pause from a cancellation, which share the status `interrupted`. */
export type EndedBy = "done" | "pause" | "cancel" | "rollback" | "failure" | "timeout";

/** What a paused thread waits for: an answer to a question, or the word to go on at a breakpoint. */
export type PauseKind = "question" | "breakpoint";

export type MultitaskStrategy = "reject" | "enqueue" | "interrupt" | "rollback";
export type Durability = "sync" | "async" | "exit";

/** What becomes of a thread whose runs have all ended: those made for a stateless run are deleted. */
export type OnCompletion = "keep" | "delete";

export interface ErrorInfo {
  readonly error: string;
  readonly message: string;
  /** The failed code's files and lines, bounded. For those who may read the run, not for streams and webhooks. */
  readonly stack?: string;
}

/** JSON text of a value in the stored encoding (graphs/codec.ts). Opaque outside the graphs room. */
export type Encoded = string;

/** The member name by which the stored encoding marks what JSON has no form for. Without it, stored is plain JSON. */
export const TAG = "$hp";

/** A value as read from storage, and whether it may hold tags. */
export interface Stored {
  /** As it is stored, where it was read as a value of its own. */
  readonly text?: string;
  readonly json: Json;
  readonly tagged: boolean;
}

/** Encoded values longer than this many UTF-16 units are kept once per content hash. */
export const BIG_VALUE_UNITS = 4096;

/** Who asks. Every change that a person answers for is recorded under this name. */
export interface Caller {
  readonly name: string;
  /** What the authentication knows of them, for graphs and handlers; null when nobody has to authenticate. */
  readonly user: JsonObject | null;
  readonly permissions: readonly string[];
  /** Absent for what the server does by itself. */
  readonly origin?: Origin;
}

/** Where a call came from, as far as the server can tell; both bounded. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string | null;
}

/** What a caller may touch: objects whose metadata meets every condition; null is everything. */
export type Scope = readonly Condition[] | null;

export interface Condition {
  readonly key: string;
  /** `eq`: the member is the value. `contains`: the member is a list that has it. */
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
  /** Set exactly while `status` is `interrupted`. */
  readonly pause: PauseKind | null;
  /** The graph of the newest checkpoint. */
  readonly graphId: string | null;
  readonly assistantId: string | null;
  /** Newest checkpoint of the root namespace. */
  readonly checkpointId: string | null;
  /** Values that differ from the checkpoint's, because finished branches wait for a paused sibling. */
  readonly overlay: Encoded | null;
  readonly error: ErrorInfo | null;
  /** When its state or status last changed; a change of the metadata is none. */
  readonly stateUpdatedAt: number;
  /** Milliseconds after the last change at which `ttlStrategy` is done to the thread; null keeps it. */
  readonly ttlMs: number | null;
  readonly onCompletion: OnCompletion;
  readonly ttlStrategy: TtlStrategy;
}

/** `delete`: the thread and all that belongs to it. `keep_latest`: its checkpoints but for the newest. */
export type TtlStrategy = "delete" | "keep_latest";

/** One answer that a run carries: which question of which task, and the value. */
export interface CarriedAnswer {
  readonly interruptId: string;
  /** The question's id as the library raised it: the key of its resume map. */
  readonly libraryId: string;
  /** Namespace of the graph the task belongs to: `""` at the root, `"child:<uuid>"` below. */
  readonly graphNs: string;
  readonly taskId: string;
  /** Checkpoint of that graph at which the question was asked. */
  readonly checkpointId: string;
  /** 0 for the task's first question. */
  readonly index: number;
  readonly value: Json;
}

export interface RunCommand {
  /** Present exactly when the run carries answers. */
  readonly answers?: readonly CarriedAnswer[];
  readonly update?: Json;
  readonly goto?: Json;
  /** `goto` says to drop what is pending and come to rest. */
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

/** What those who read a run along get to see. */
export interface StreamRequest {
  readonly modes: readonly StreamMode[];
  readonly subgraphs: boolean;
  /** Its events are kept for as long as the server is set to. */
  readonly resumable: boolean;
}

export const VALUES_ONLY: StreamRequest = { modes: ["values"], subgraphs: false, resumable: false };

/** A checkpoint below the root, with those of all graphs above it. */
export interface SubgraphCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  /** Namespace → checkpoint, from `""` down to `ns`. */
  readonly map: Readonly<Record<string, string>>;
}

/** A wait for a person that a run ends, for its trace. */
export interface TracedWait {
  readonly interruptId: string;
  readonly node: string;
  readonly kind: InterruptKind;
  /** When the question was asked. */
  readonly since: number;
  readonly by: string;
}

/** The trace that a run goes on with: that of the run which paused. */
export interface TraceLink {
  readonly rootRunId: string;
  readonly rootStartedAt: number;
  readonly waits: readonly TracedWait[];
}

/** Where questions are told. `event`: as JSON of ours. `slack`: as a message for an incoming webhook of Slack. */
export interface Notify {
  readonly url: string;
  readonly format: "event" | "slack";
}

/** What the caller asked for, kept so that a later attempt can do the same. */
export interface RunRequest {
  readonly command: RunCommand | null;
  readonly config: JsonObject;
  readonly context: Json;
  readonly interruptBefore: "*" | readonly string[] | null;
  readonly interruptAfter: "*" | readonly string[] | null;
  readonly durability: Durability;
  /** Start from this checkpoint instead of the newest. */
  readonly checkpointId: string | null;
  /** Present when the run starts from a checkpoint of a subgraph: `checkpointId` is that of the root above it. */
  readonly subgraph?: SubgraphCheckpoint;
  /** It answers or continues a pause, and so goes before runs that merely wait for the thread. */
  readonly goesFirst: boolean;
  /** Who asked for the run, as the authentication knows them: graphs see it in every attempt. Null: nobody had to say. */
  readonly user: JsonObject | null;
  readonly permissions: readonly string[];
  /** Left out when it is VALUES_ONLY. */
  readonly stream?: StreamRequest;
  /** Where to tell how the run ended, as the call gave it. */
  readonly webhook?: string;
  /** Where its questions are told, as the call gave it; false for nowhere. */
  readonly notify?: Notify | false;
  /** Present when the run goes on from a pause. */
  readonly trace?: TraceLink;
  /** Present when the run was to begin later than it was accepted. */
  readonly afterSeconds?: number;
}

export interface Run {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly status: RunStatus;
  readonly endedBy: EndedBy | null;
  /** Number of times the run was claimed; every write of a run carries it. */
  readonly attempt: number;
  /** Number of times the process died in it while it executed alone there (crash.ts). */
  readonly crashes: number;
  /** Number of times the process died while it executed beside others. */
  readonly suspicions: number;
  /** 1 while it executes as a suspect and nothing else does in its process. */
  readonly alone: number;
  /** Attempts in a row that the storage failed in and that stored no checkpoint. */
  readonly storageFailures: number;
  /** The worker that has it while it is running; null where the process is alone with its storage. */
  readonly workerId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
  readonly multitaskStrategy: MultitaskStrategy;
  /** While this is set, the run is delayed: its thread does not wait for it. Null as soon as its time has come. */
  readonly dueAt: number | null;
  readonly request: RunRequest;
  /** The input as received, or null when there is none. */
  readonly input: Encoded | null;
  readonly error: ErrorInfo | null;
  /** Newest root checkpoint when the run ended. */
  readonly checkpointId: string | null;
  readonly overlay: Encoded | null;
  /** Questions open when the run paused, in task order. */
  readonly pausedOn: readonly string[];
}

/** What is still to be told to somebody: a row of the outbox. */
export interface Webhook {
  /** Names the event. A run ends once, so its id names its end; a question that is told has an id of the same form. */
  readonly runId: string;
  readonly url: string;
  /** Host and port of the URL: those that share it share its patience. */
  readonly host: string;
  /** JSON text. */
  readonly body: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Not tried before this. While it is being tried, when another may take over. */
  readonly dueAt: number;
  readonly createdAt: number;
}

export type InterruptState = "open" | "answered" | "abandoned";

/**
 * What a person is asked for. `breakpoint`: the word to go on; it is kept as a row like a question, so that the inbox
 * lists both in one order, and is no question anywhere else.
 */
export type InterruptKind = "tool_approval" | "form" | "question" | "breakpoint";

/** Somebody has taken it on themselves to answer. */
export interface Claim {
  readonly by: string;
  readonly at: number;
  /** Null: until it is released. */
  readonly until: number | null;
}

/** What happens when nobody has answered in time. */
export type OnExpiry = "fail" | { readonly answer: Json };

/** One question of one task. Kept after it was answered, until the thread is deleted. */
export interface Interrupt {
  readonly threadId: string;
  readonly interruptId: string;
  /** As the library raised it last; before 1.7, all questions of a task share one. */
  readonly libraryId: string;
  readonly taskId: string;
  readonly graphNs: string;
  /** Checkpoint of the graph that the task belongs to. */
  readonly checkpointId: string;
  /** Checkpoint of the root graph at that time. */
  readonly rootCheckpointId: string;
  readonly index: number;
  /** `["<node>:<task uuid>", …]`, the whole path from the root. */
  readonly ns: readonly string[];
  /** Position among the questions of the same pause. */
  readonly position: number;
  readonly value: Json;
  readonly responseSchema: JsonObject | null;
  readonly state: InterruptState;
  readonly createdAt: number;
  /** The run that asked, its graph and its assistant. */
  readonly runId: string;
  readonly graphId: string;
  readonly assistantId: string;
  /** The node that asks: the innermost of `ns`. At a breakpoint, the nodes that come next. */
  readonly node: string;
  readonly kind: InterruptKind;
  readonly claim: Claim | null;
  readonly expiresAt: number | null;
  /** Null: when it expires it is overdue, and waits on. */
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
  /** An edit in the name of a node has left it behind. */
  | "bypassed"
  /** A run has switched off breakpoints that its graph was compiled with. */
  | "breakpoints_off"
  /** Its deadline passed, and what was to happen then could not be done: it waits on. */
  | "expiry_refused";

/** By which way something came about. */
export type AuditVia = "api" | "inbox" | "deadline" | "server";

export interface AuditEntry {
  readonly threadId: string;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: string;
  readonly interruptId: string | null;
  readonly runId: string | null;
  readonly value: Json;
  /** `api` when absent. */
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
  /** The version that is in use: the newest, or an older one that was chosen again. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an assistant was from one change to the next; `createdAt` is the version's own. */
export type AssistantVersion = Omit<Assistant, "updatedAt">;

/**
 * One saved superstep of one graph. `small` holds the values written in this step;
 * `from` says for every channel with a value where it is: empty for this row, the id of the checkpoint
 * whose `small` has it, or `#<hash>` of a blob of the thread.
 */
export interface Checkpoint {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly runId: string;
  /** Hash of the graph's fingerprint. */
  readonly fingerprint: string;
  /** JSON text: `{ts, versions, seen, from}`. */
  readonly body: string;
  /** JSON text: `{channel: value}` in the stored encoding. */
  readonly small: string;
  /** JSON text: the library's metadata and ours. */
  readonly metadata: string;
}

/** What one run wrote for one task of one checkpoint. Text: `[[index, channel, value], …]` in the stored encoding. */
export interface TaskWrites {
  readonly threadId: string;
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
  /** Where the library puts the task in its superstep; empty for input and for rows older than the column. */
  readonly taskPath: string;
  readonly runId: string;
  readonly entries: string;
}

export interface Blob {
  readonly threadId: string;
  readonly hash: string;
  readonly data: string;
}

/** Everything a run has to store since it last did, in the order in which it came about. */
export interface WriteSet {
  readonly checkpoints: readonly Checkpoint[];
  readonly writes: readonly TaskWrites[];
  readonly blobs: readonly Blob[];
}

/** A graph as far as a paused thread depends on it. */
export interface Fingerprint {
  readonly hash: string;
  readonly graphId: string;
  /** Node names by namespace path: `""` for the root, `"child"`, `"child|grandchild"`. */
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  /** Channel classes of the root graph and of its known subgraphs, by the same paths. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Channels that make up the state: a list, or one channel that is the state itself. */
  readonly outputs: string | readonly string[];
}

/** One entry of the long-term memory: a JSON object under a key of a namespace. */
export interface StoreItem {
  /** Labels from the outside in; at least one. */
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds from the last write, or the last read that counts, to the end; null keeps it. */
  readonly ttlMs: number | null;
  readonly expiresAt: number | null;
}

/** What one text of an item became, for search by meaning. */
export interface StoreVector {
  /** Where in the item the text was. */
  readonly field: string;
  readonly vector: Float32Array;
}

/** Runs of an assistant at times that a schedule gives. */
export interface Cron {
  readonly cronId: string;
  readonly assistantId: string;
  /** The thread that its runs are on; null: each run has one of its own. */
  readonly threadId: string | null;
  readonly schedule: string;
  readonly timezone: string | null;
  readonly endTime: number | null;
  readonly enabled: boolean;
  /** What becomes of the thread of a run that has one of its own. */
  readonly onRunCompleted: OnCompletion;
  readonly metadata: JsonObject;
  /** The members of a run-creating request, as received. */
  readonly payload: JsonObject;
  /** When it is due; null while it is not enabled, and when no tick is left. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Who made it: its runs are theirs, and reach no further than they did. */
  readonly caller: Caller;
  readonly reach: { readonly threads: Scope; readonly assistants: Scope };
}
