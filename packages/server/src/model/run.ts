// Run: one execution on a thread, its request, and the delivery of its end.
import type { ShownPayload } from "./payload/shown-payload.ts";
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { InterruptKind } from "./interrupt.ts";
import type { Encoded } from "./checkpoint.ts";

export type RunStatus = "pending" | "running" | "success" | "error" | "timeout" | "interrupted";

/** Reason for the end of a run. Distinguishes a pause from a cancellation; both have the status `interrupted`. */
export type EndedBy = "done" | "pause" | "cancel" | "rollback" | "failure" | "timeout";

/**
 * `requested` by a caller; `taken`: another run works on its input; `replaced` by a run with a multitask strategy;
 * `disconnected`: the caller who cancels on disconnect has left.
 */
export type CancelReason = "requested" | "taken" | "replaced" | "disconnected";

export type MultitaskStrategy = "reject" | "enqueue" | "interrupt" | "rollback";
/** Effect of new input, an update or a goto on a paused thread. */
export type OnPaused = "abandon" | "reject" | "enqueue" | "answer";
export type Durability = "sync" | "async" | "exit";

export interface ErrorInfo {
  readonly error: string;
  readonly message: string;
  /**
   * Bounded stack with files and lines of the failed code. Only readers of the run see it, not streams and webhooks.
   */
  readonly stack?: string;
}

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
  /** What the interrupt showed: the answer goes to a place that shows the same. Absent in runs of older servers. */
  readonly shown?: ShownPayload;
  /** The value without its secrets; absent if it has none. */
  readonly masked?: Json;
}

/** What the run's object, its events and its trace say of an answer. */
export const readableAnswer = ({ value, masked }: CarriedAnswer): Json => masked ?? value;

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
  | "tools"
  | "lifecycle";

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
  /** Name of the caller whose input or edit the run has; absent if it only answers or continues. */
  readonly startedBy?: string;
  /** Further authors: people who changed the cron of the run. */
  readonly alsoStartedBy?: readonly string[];
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
  /** Present if the run ends when its thread pauses while it is in the queue. */
  readonly refusesPause?: true;
}

export interface Run {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly status: RunStatus;
  readonly endedBy: EndedBy | null;
  /** Why a cancellation was asked for; a run that ended by itself all the same keeps it. */
  readonly cancelReason: CancelReason | null;
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

/**
 * Body of a delivery. `event`: our JSON event. `request`: the request at its end. The others: an update of the task in
 * the protocol's version.
 */
export type WebhookFormat = "event" | "request" | "a2a" | "a2a_0.3";

/** Webhook for every end of a run and of the runs that continue it. */
export interface RunWebhook {
  readonly threadId: string;
  /** The first of the runs. */
  readonly runId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly format: WebhookFormat;
  /** Headers of the delivery: credentials that the receiver expects. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly createdAt: number;
}

/** Null id: one of our own. */
export type NewRunWebhook = Pick<RunWebhook, "url" | "format" | "headers"> & { readonly webhookId: string | null };

/** The way of a delivery. `notice`: an event that the notification rules turn into deliveries. */
export type DeliveryChannel = "http" | "notice" | "slack" | "email" | "audit";

/** Outbox row: one delivery, or a part of one. */
export interface Webhook {
  /**
   * Event id. A run ends once, so the run id identifies its end. Notifications of interrupts have ids of the same form.
   */
  readonly runId: string;
  readonly url: string;
  /** Host and port of the destination, the key of per-destination limits. */
  readonly host: string;
  readonly channel: DeliveryChannel;
  /** Due rows with the same text leave together, as one message; null: alone. */
  readonly batch: string | null;
  /** JSON text. */
  readonly body: string;
  /** Headers that the receiver asked for. */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of delivery attempts. */
  readonly attempts: number;
  /** Earliest time of the next attempt. During an attempt: the time after which another process may retry. */
  readonly dueAt: number;
  readonly createdAt: number;
}
