// Ports: what the agent room needs from the outside. Adapters live in graphs/ and storage/; src/main/ chooses them.
import type { FilterCondition } from "../base/json-filter.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Service } from "../base/lifecycle.ts";
import type {
  Assistant,
  AssistantVersion,
  AuditEntry,
  Caller,
  CarriedAnswer,
  Checkpoint,
  Cron,
  Encoded,
  ErrorInfo,
  Fingerprint,
  Interrupt,
  InterruptKind,
  InterruptState,
  PauseKind,
  Run,
  RunStatus,
  Scope,
  Stored,
  StoreItem,
  StoreVector,
  TaskWrites,
  Thread,
  ThreadStatus,
  Webhook,
  WriteSet,
} from "./model.ts";

/** An adapter in the same process answers at once, a remote one later. */
export type Awaitable<T> = T | Promise<T>;

export interface ThreadQuery {
  readonly scope: Scope;
  readonly ids: readonly string[] | null;
  readonly status: ThreadStatus | null;
  readonly metadata: JsonObject | null;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "thread_id" | "status" | "created_at" | "updated_at";
  readonly descending: boolean;
}

export interface AssistantFilter {
  readonly scope: Scope;
  readonly graphIds: readonly string[];
  /** Part of the name, in whatever case. */
  readonly name: string | null;
  readonly metadata: JsonObject | null;
}

export interface AssistantQuery extends AssistantFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "assistant_id" | "graph_id" | "name" | "created_at" | "updated_at";
  readonly descending: boolean;
}

export interface AssistantVersionQuery {
  readonly metadata: JsonObject | null;
  readonly limit: number;
  readonly offset: number;
}

/** Items of the inbox in a total order: by time of asking, then by their ids. */
export interface InboxQuery {
  readonly scope: Scope;
  readonly threadId: string | null;
  readonly graphId: string | null;
  readonly assistantId: string | null;
  readonly node: string | null;
  readonly kind: InterruptKind | null;
  readonly claimedBy: string | null;
  readonly unclaimed: boolean;
  /** Present time, by which a claim that has run out is none. */
  readonly now: number;
  readonly createdBefore: number | null;
  /** The thread's metadata contains this. */
  readonly metadata: JsonObject | null;
  readonly after: InboxPlace | null;
  readonly limit: number;
  readonly descending: boolean;
}

export interface InboxPlace {
  readonly createdAt: number;
  readonly threadId: string;
  readonly interruptId: string;
}

export interface InboxRow {
  readonly interrupt: Interrupt;
  readonly metadata: JsonObject;
  readonly status: ThreadStatus;
}

export interface AuditRecord extends AuditEntry {
  /** Counts up within the thread, without gaps. */
  readonly seq: number;
}

export interface CheckpointQuery {
  readonly ns: string;
  readonly before: string | null;
  readonly limit: number | null;
  /** Keep a checkpoint whose metadata contains this. */
  readonly metadata: JsonObject | null;
}

/** One attempt of a run: what it writes carries all three. */
export type RunAttempt = Pick<Run, "threadId" | "runId" | "attempt">;

export interface IdempotencyRecord {
  readonly key: string;
  readonly requestHash: string;
  readonly threadId: string;
  readonly runId: string;
  readonly createdAt: number;
}

/**
 * One transaction. It sees its own writes; nobody else does until it is durable.
 * What is awaited inside one is the transaction's own methods and nothing else.
 */
export interface Tx extends StoreTx, CronTx {
  thread(threadId: string): Awaitable<Thread | null>;
  insertThread(thread: Thread): Awaitable<void>;
  updateThread(threadId: string, patch: Partial<Thread>): Awaitable<void>;
  /** The conditional update that decides every race: true when the thread had the status `from` and now is busy. */
  takeThread(threadId: string, from: ThreadStatus, patch: Partial<Thread>): Awaitable<boolean>;
  /** The thread and everything that belongs to it. */
  deleteThread(threadId: string): Awaitable<boolean>;
  searchThreads(query: ThreadQuery): Awaitable<readonly Thread[]>;
  /** @param max counting stops there: an exact total of many is no part of a page. */
  countThreads(query: ThreadQuery, max: number | null): Awaitable<number>;
  /**
   * Threads whose time to live has passed and on which their strategy has not been carried out since.
   * @param paused also those that wait for a person.
   */
  expiredThreads(at: number, limit: number, paused: boolean): Awaitable<readonly Thread[]>;
  /** Threads in the order of their ids, for sweeps. */
  threadsAfter(threadId: string | null, limit: number): Awaitable<readonly Thread[]>;
  /**
   * Deletes the checkpoints of a thread but the newest of each namespace that may be gone on from, with what only they had.
   * @param at when, so that it is not done again before the thread has changed.
   * @returns how many there were.
   */
  pruneThread(threadId: string, at: number): Awaitable<number>;
  /** Checkpoints, writes, blobs and interrupts of one thread, under another thread's id. */
  copyThreadData(from: string, to: string): Awaitable<void>;

  run(threadId: string, runId: string): Awaitable<Run | null>;
  /** The thread that a run belongs to. */
  threadOfRun(runId: string): Awaitable<string | null>;
  runs(
    threadId: string,
    query: { readonly limit: number; readonly offset: number; readonly status: RunStatus | null },
  ): Awaitable<readonly Run[]>;
  /** Running and pending runs of a thread in the order in which they go, delayed ones last. */
  activeRuns(threadId: string): Awaitable<readonly Run[]>;
  /** Runs on an assistant, oldest first: those that are pending or running, or those that have ended. */
  runsOfAssistant(assistantId: string, which: "active" | "ended", limit: number): Awaitable<readonly Run[]>;
  /** Runs of all threads by thread and id, those that come after `after`. */
  allActiveRuns(query: {
    readonly status: "pending" | "running";
    readonly after: Pick<Run, "threadId" | "runId"> | null;
    readonly limit: number;
  }): Awaitable<readonly Run[]>;
  /** A run waits for the thread; delayed ones do not yet. */
  hasPendingRun(threadId: string): Awaitable<boolean>;
  /** The greatest id of a run: ids made from now on follow it, also when the clock has gone back. */
  newestRunId(): Awaitable<string | null>;
  insertRun(run: Run): Awaitable<void>;
  updateRun(runId: string, patch: Partial<Run>): Awaitable<void>;
  deleteRun(runId: string): Awaitable<void>;
  /** Deletes runs of a thread that ended before this. @returns how many. */
  deleteEndedRuns(threadId: string, before: number): Awaitable<number>;
  /**
   * The next pending run of a thread that neither runs nor waits for a person. A delayed run whose time has come
   * by `at` stands in the queue from that time on, as if it had been accepted then.
   * @param threadId null for any thread
   */
  nextPendingRun(at: number, threadId?: string | null): Awaitable<Run | null>;
  /** Tells the queue of a pending run that can be claimed, or can be from `dueAt` on, with the commit. Twice is as once. */
  queueRun(run: Run): Awaitable<void>;
  /** The same for the next run of a thread that has come to rest, if one waits for it. */
  queueNext(threadId: string): Awaitable<void>;
  /** When the next delayed run is due. */
  nextDueAt(): Awaitable<number | null>;
  /** @param workerId those that this worker has; all when it is left out. */
  runningRuns(workerId?: string): Awaitable<readonly Run[]>;
  /**
   * Puts a worker on the list of those that may have runs, as alive now. Where there is one process, there is no list.
   * @param jobsLockedAs under which id the queue's engine locks jobs for it
   */
  addWorker(workerId: string, jobsLockedAs?: string | null): Awaitable<void>;
  /** A worker whose last heartbeat is older than `leaseMs` by the database's clock. Nobody claims in its name meanwhile. */
  deadWorker(leaseMs: number): Awaitable<string | null>;
  /** Takes a worker off the list, and frees the jobs that it had: nothing is claimed in its name any more. */
  removeWorker(workerId: string): Awaitable<void>;
  countPendingRuns(): Awaitable<number>;
  /** The run is running, and in this attempt: what it writes counts. */
  isCurrent(run: RunAttempt): Awaitable<boolean>;

  /** Questions; breakpoints are left out. */
  interrupts(threadId: string, state: InterruptState | null): Awaitable<readonly Interrupt[]>;
  /** One question or breakpoint, whatever its state. */
  interrupt(threadId: string, interruptId: string): Awaitable<Interrupt | null>;
  /** The breakpoint that the thread is paused at. */
  openBreakpoint(threadId: string): Awaitable<Interrupt | null>;
  /** What waits on paused threads: open questions and breakpoints. */
  inbox(query: InboxQuery): Awaitable<readonly InboxRow[]>;
  /** Open questions of paused threads whose deadline has passed and says what happens then; earliest first. */
  dueInterrupts(at: number, limit: number): Awaitable<readonly Interrupt[]>;
  /** The earliest such deadline. */
  nextDeadline(): Awaitable<number | null>;
  /** Written again when the same question is asked again. */
  putInterrupts(interrupts: readonly Interrupt[]): Awaitable<void>;
  countOpenInterrupts(): Awaitable<number>;
  audit(entries: readonly AuditEntry[]): Awaitable<void>;
  /** Deletes entries from before this, but the newest of the thread: numbers are not given twice. @returns how many. */
  deleteAuditBefore(threadId: string, before: number): Awaitable<number>;
  /** Oldest first, those after `seq`. */
  auditOf(
    threadId: string,
    page?: { readonly after: number; readonly limit: number },
  ): Awaitable<readonly AuditRecord[]>;

  /** A checkpoint with its values; the newest of the namespace when no id is given. */
  checkpoint(threadId: string, ns: string, checkpointId: string | null): Awaitable<StoredCheckpoint | null>;
  /** Fingerprint of the graph that wrote it; null when there is no such checkpoint. */
  checkpointFingerprint(threadId: string, checkpointId: string | null): Awaitable<string | null>;
  checkpoints(threadId: string, query: CheckpointQuery): Awaitable<readonly StoredCheckpoint[]>;
  /** Stores a write set of an operation that no run fences, such as a state update. */
  putWriteSet(set: WriteSet): Awaitable<void>;
  /**
   * Stores a run's write set if the run is still in this attempt.
   * @returns false, having written nothing, when it is not.
   */
  putRunWrites(run: RunAttempt, set: WriteSet): Awaitable<boolean>;
  /** Takes back everything that a run wrote on its thread. */
  deleteRunData(threadId: string, runId: string): Awaitable<void>;

  /** Once per run. */
  putWebhook(webhook: Webhook): Awaitable<void>;
  /** The webhook that is due longest, on none of these hosts, as it is after counting this try and moving it to `until`. */
  claimWebhook(at: number, until: number, hostsExcepted: readonly string[]): Awaitable<Webhook | null>;
  /** When the next webhook is due, on none of these hosts. */
  nextWebhookAt(hostsExcepted: readonly string[]): Awaitable<number | null>;
  delayWebhook(runId: string, dueAt: number): Awaitable<void>;
  deleteWebhook(runId: string): Awaitable<void>;
  countWebhooks(): Awaitable<number>;

  appendEvents(rows: readonly EventRow[]): Awaitable<void>;
  /** In the order in which they were appended. */
  events(threadId: string, query: EventQuery): Awaitable<readonly StoredEvents[]>;
  /** The `seq` of the thread's newest row; 0 when there is none. */
  newestEvents(threadId: string): Awaitable<number>;
  eventExtent(threadId: string, runId: string): Awaitable<EventExtent | null>;
  /** Drops the oldest rows of a run until what is left is within both limits. */
  trimEvents(threadId: string, runId: string, eventsMax: number, bytesMax: number): Awaitable<void>;
  /** All events of runs whose time has come. @returns the number of runs. */
  deleteGoneEvents(at: number, runsMax: number): Awaitable<number>;

  fingerprint(hash: string): Awaitable<Fingerprint | null>;
  putFingerprint(fingerprint: Fingerprint, at: number): Awaitable<void>;
  /** Writes something of no meaning: a storage that can take it can take runs. */
  checkWritable(at: number): Awaitable<void>;
  /** @param toChange nobody else changes it before the commit. */
  assistant(assistantId: string, toChange?: boolean): Awaitable<Assistant | null>;
  searchAssistants(query: AssistantQuery): Awaitable<readonly Assistant[]>;
  countAssistants(query: AssistantFilter): Awaitable<number>;
  /** All that are stored, whatever their graph. */
  countAllAssistants(): Awaitable<number>;
  insertAssistant(assistant: Assistant): Awaitable<void>;
  updateAssistant(assistantId: string, patch: Partial<Assistant>): Awaitable<void>;
  /** The assistant and its versions; its runs are not looked at. */
  deleteAssistant(assistantId: string): Awaitable<void>;
  /** Newest first. */
  assistantVersions(assistantId: string, query: AssistantVersionQuery): Awaitable<readonly AssistantVersion[]>;
  assistantVersion(assistantId: string, version: number): Awaitable<AssistantVersion | null>;
  /** 0 when it has none. */
  newestAssistantVersion(assistantId: string): Awaitable<number>;
  insertAssistantVersion(version: AssistantVersion): Awaitable<void>;
  deleteAssistantVersionsBefore(assistantId: string, version: number): Awaitable<void>;
  idempotency(key: string): Awaitable<IdempotencyRecord | null>;
  putIdempotency(record: IdempotencyRecord): Awaitable<void>;
  deleteIdempotencyBefore(at: number): Awaitable<void>;
}

export interface CronFilter {
  readonly scope: Scope;
  readonly metadata: JsonObject | null;
  readonly assistantId: string | null;
  readonly threadId: string | null;
  readonly enabled: boolean | null;
}

export interface CronQuery extends CronFilter {
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "cron_id" | "assistant_id" | "thread_id" | "created_at" | "updated_at" | "next_run_date";
  readonly descending: boolean;
}

/** The crons' verbs. Those of a thread go with it. */
export interface CronTx {
  cron(cronId: string): Awaitable<Cron | null>;
  insertCron(cron: Cron): Awaitable<void>;
  updateCron(cronId: string, patch: Partial<Cron>): Awaitable<void>;
  deleteCron(cronId: string): Awaitable<void>;
  searchCrons(query: CronQuery): Awaitable<readonly Cron[]>;
  countCrons(filter: CronFilter): Awaitable<number>;
  /** Those that are due at `at` or were before, the longest due first. */
  dueCrons(at: number, limit: number): Awaitable<readonly Cron[]>;
  /** When the next one is due; null when none is. */
  nextCronAt(): Awaitable<number | null>;
  /** The conditional update that gives a tick to one: true when the cron was due at `dueAt` and now is at `nextAt`. */
  claimTick(cronId: string, dueAt: number, nextAt: number | null): Awaitable<boolean>;
}

export interface StoreQuery {
  /** Items of this namespace and of those below it. */
  readonly prefix: readonly string[];
  readonly filter: readonly FilterCondition[];
  /** Ranks by likeness to this, and leaves out what has no vector; null: newest first. */
  readonly vector: Float32Array | null;
  readonly limit: number;
  readonly offset: number;
  /** Items and vectors that one search may look at. */
  readonly lookMax: number;
  readonly at: number;
}

export interface FoundItem extends StoreItem {
  /** Cosine of the angle to the query's vector; null when there was none. */
  readonly score: number | null;
}

export interface NamespaceQuery {
  /** Labels, `*` for any one. */
  readonly prefix: readonly string[];
  readonly suffix: readonly string[];
  /** Namespaces are cut off after so many labels, and listed once. */
  readonly depthMax: number | null;
  readonly limit: number;
  readonly offset: number;
  readonly lookMax: number;
  readonly at: number;
}

/** The long-term memory's verbs. What has expired by `at` is not there, though it may still be on disk. */
export interface StoreTx {
  storeItem(namespace: readonly string[], key: string, at: number): Awaitable<StoreItem | null>;
  /** In the place of what was there, vectors too. */
  putStoreItem(item: StoreItem, vectors: readonly StoreVector[]): Awaitable<void>;
  deleteStoreItem(namespace: readonly string[], key: string): Awaitable<void>;
  /** Their time to live, where they have one, begins anew. */
  refreshStoreItems(items: readonly Pick<StoreItem, "namespace" | "key">[], at: number): Awaitable<void>;
  /** @returns null when more than `lookMax` would have to be looked at. */
  searchStore(query: StoreQuery): Awaitable<readonly FoundItem[] | null>;
  /** In an order that stays the same. @returns null when more than `lookMax` would have to be looked at. */
  storeNamespaces(query: NamespaceQuery): Awaitable<readonly (readonly string[])[] | null>;
  /** @returns how many were deleted, at most `limit`. */
  deleteExpiredStoreItems(at: number, limit: number): Awaitable<number>;
}

/** Some events of a run in a row, as they are kept. */
export interface EventRow {
  readonly threadId: string;
  readonly runId: string;
  /** Ids of the first and the last event; every id between them is there. */
  readonly first: number;
  readonly last: number;
  /** A line an event: `<name>\t<JSON text>`, or `<name>\t@<where the text can be had again>`. */
  readonly lines: string;
  /** Set on the last row of a run that has ended: when all its events may go. */
  readonly goneAt: number | null;
}

export interface StoredEvents extends EventRow {
  /** Grows from row to row of a thread. */
  readonly seq: number;
}

export interface EventQuery {
  /** Null for all runs of the thread. */
  readonly runId: string | null;
  readonly afterSeq: number;
  /** Rows that end before this id are left out. */
  readonly fromId: number;
  readonly limit: number;
}

/** How much of a run's events is kept. */
export interface EventExtent {
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Of the lines. */
  readonly bytes: number;
}

/** A checkpoint as read: `values` has every channel that has a value. */
export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly values: ReadonlyMap<string, Stored>;
  readonly writes: readonly TaskWrites[];
  /** Blobs that `writes` refer to, by `#<hash>`. */
  readonly blobs: ReadonlyMap<string, Stored>;
}

export interface Storage {
  /**
   * Runs `work` in a transaction and resolves with its result once that is durable.
   * Whatever `work` throws undoes what it wrote and comes out here.
   * @throws {ApiError} `storage_unavailable` when the commit failed: nothing was written.
   */
  transaction<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /** As transaction(), but nothing waits for it: it shares the next commit, within a few milliseconds. */
  transactionSoon<T>(work: (tx: Tx) => Awaitable<T>): Promise<T>;
}

export interface StorePut {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  /** Fields to make vectors of; false: none; null: those of the configuration. */
  readonly index: false | readonly string[] | null;
  /** null: no end; undefined: that of the configuration. */
  readonly ttlMs: number | null | undefined;
}

export interface StoreSearch {
  readonly prefix: readonly string[];
  readonly filter: JsonObject;
  /** In words; ranks by meaning when the server has an embedding function, and is passed over when it has none. */
  readonly query: string | null;
  readonly limit: number;
  readonly offset: number;
  /** Whether finding an item counts as a use of it; null: as configured. */
  readonly refreshTtl: boolean | null;
}

/**
 * The long-term memory, as HTTP calls and graphs use it: one set of rules for both.
 * @throws {ApiError} `store_namespace_invalid`, `store_item_invalid`, `store_item_too_large`, `store_filter_invalid`,
 * `store_search_too_broad`, `embedding_failed`, from whichever call they fit.
 */
export interface Store {
  get(namespace: readonly string[], key: string, refreshTtl: boolean | null): Promise<StoreItem | null>;
  /** Resolves once it is on disk. */
  put(request: StorePut): Promise<void>;
  delete(namespace: readonly string[], key: string): Promise<void>;
  search(request: StoreSearch): Promise<readonly FoundItem[]>;
  listNamespaces(
    request: Pick<NamespaceQuery, "prefix" | "suffix" | "depthMax" | "limit" | "offset">,
  ): Promise<readonly (readonly string[])[]>;
}

/** The deployment's embedding function. */
export interface Embedder {
  /** Numbers in a vector. */
  readonly dims: number;
  /** One vector a text, in their order. Rejects with what the function threw, or a reason. */
  embed(texts: readonly string[], as: "item" | "query"): Promise<readonly Float32Array[]>;
}

/** Tells readers that there is more to read. Telling is cheap when nobody listens. */
export interface Wakes {
  /** @param key a run's or a thread's id */
  wake(key: string): void;
  /** @returns the way to stop listening. */
  listen(key: string, woken: () => void): () => void;
  /** How many listen in this process. */
  listeners(key: string): number;
  /** Somebody listens in another process: what they are to read has to be stored. */
  hasRemoteListeners(key: string): boolean;
  /** Calls back when somebody in another process begins to listen, and now and then while they do. */
  onRemoteListener(callback: (key: string) => void): void;
}

/** A place for a run in this process, held from before the run is claimed. */
export interface Slot {
  /** Starts a run that was accepted as running. */
  start(run: Run, hasHistory: boolean): void;
  /** Claims the run that `choose` finds, in one transaction, and starts it; without one, gives the slot back. @returns whether */
  claim(choose: (tx: Tx) => Awaitable<Run | null>): Promise<boolean>;
  /** Gives back a slot in which nothing was started; else it does nothing. */
  release(): void;
}

/** Who takes what the queue hands out. */
export interface QueueConsumer {
  /** Null when no slot is free. */
  reserve(): Slot | null;
}

/** Hands pending runs out: one of a thread at a time, in their order. What it hands out is read from the rows of runs. */
export interface Queue {
  start(consumer: QueueConsumer): Promise<void>;
  /** There may be something to hand out. */
  readonly wake: () => void;
  /** The consumer has a free slot again. */
  slotFree(): void;
  /** The consumer may use a free slot for a run that is just being accepted: nothing waits that was there before. */
  mayStartDirectly(): boolean;
  /** In the transaction that ends a run: the one that is to have its slot. Null when that comes by claim(). */
  readonly next: (tx: Tx) => Awaitable<Run | null>;
  /** Nothing is handed out any more. */
  stop(): Promise<void>;
}

/** The right of this process to have runs, and to write as the one that has them. */
export interface Lease extends Service {
  /** The id that it has runs under; null where it is alone with its storage. */
  readonly workerId: () => string | null;
  /** False from when on others may take its runs. Cheap: asked before each step of a run. */
  readonly holds: () => boolean;
  watch(watcher: LeaseWatcher): void;
}

export interface LeaseWatcher {
  readonly onLost: () => void;
  /** There is a new one, after one that was lost. */
  readonly onHeld: () => void;
  /** Called now and then: takes over from a worker that is no more. @returns false when there is none */
  readonly takeOver: (leaseMs: number) => Promise<boolean>;
}

/** What processes tell each other. All of it is a hint to look: what counts is stored. */
export type Notice =
  | { readonly kind: "abort"; readonly runId: string; readonly reason: "cancel" | "rollback" | "deleted" }
  /** `expected`: whoever waits for it is rather elsewhere. */
  | { readonly kind: "ended"; readonly threadId: string; readonly runId: string; readonly expected?: boolean }
  | { readonly kind: "gone"; readonly runId: string }
  /** What waits for people has changed. */
  | { readonly kind: "inbox" };

/** The other processes of this server. */
export interface Peers {
  /** There are no others, and never will be. */
  readonly alone: boolean;
  tell(notice: Notice): void;
  /** @param onMissed notices may have been missed: everything that was waited for has to be looked at. */
  listen(onNotice: (notice: Notice) => void, onMissed: () => void): void;
}

/** What runs and their readers need beside storage; one process has it in memory, many have it in their database. */
export interface Engine {
  readonly queue: Queue;
  readonly lease: Lease;
  readonly peers: Peers;
  readonly wakes: Wakes;
}

/** A request as far as authentication looks at it. */
export interface AccessRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What a caller is about to do: `threads:create_run` and the like, and the members of the request. */
export interface AccessQuestion {
  readonly event: string;
  readonly value: JsonObject;
}

export interface AccessAnswer {
  readonly scope: Scope;
  /** The members, possibly with additions of the handler, such as an owner in the metadata. */
  readonly value: JsonObject;
}

export interface Access {
  /** @throws {ApiError} `unauthenticated` */
  authenticate(request: AccessRequest): Promise<Caller>;
  /** @throws {ApiError} `forbidden` */
  authorize(caller: Caller, question: AccessQuestion): Promise<AccessAnswer>;
}

/** What a graph did with a run. */
export type GraphOutcome =
  | { readonly kind: "done"; readonly values: unknown }
  | { readonly kind: "question"; readonly values: unknown; readonly questions: readonly Question[] }
  /** `next`: the nodes that it holds back. */
  | { readonly kind: "breakpoint"; readonly values: unknown; readonly next: readonly string[] }
  | { readonly kind: "failed"; readonly error: ErrorInfo }
  /** Ended because its signal was aborted; the reason is the signal's. */
  | { readonly kind: "aborted" };

export type Question = Pick<
  Interrupt,
  | "interruptId"
  | "libraryId"
  | "taskId"
  | "graphNs"
  | "checkpointId"
  | "index"
  | "ns"
  | "position"
  | "value"
  | "responseSchema"
>;

/**
 * Where a run's checkpoints go while it is running. `take` yields what has come up since it was last called.
 * Neither call rejects: when a write fails or is refused, the run's signal is aborted.
 */
export interface RunSink {
  /** With one of the next commits. */
  readonly soon: (take: () => WriteSet) => void;
  /** Resolves after the commit. */
  readonly now: (take: () => WriteSet) => Promise<void>;
  /** Something that readers of the run see. */
  readonly emit: (event: RunEvent) => void;
}

/** Something that readers of a run see, before it has an id. */
export interface RunEvent {
  /** `values`, or `updates|child:<uuid>` in a subgraph. */
  readonly name: string;
  readonly data: EventData;
}

/**
 * JSON text, or a state that is stored elsewhere: `reference` is the checkpoint that has it. It is kept as that, and its
 * text is made only when somebody reads along.
 */
export type EventData = string | { readonly reference: string; readonly text: () => string };

/** An event that shows a pause: told when the pause is stored, with the questions as they are stored. */
export interface HeldEvent {
  readonly name: string;
  /** @param questions as clients see them, by the library's id. */
  readonly text: (questions: ReadonlyMap<string, JsonObject>) => string;
}

export interface GraphRunResult {
  readonly outcome: GraphOutcome;
  /** Written, but not stored yet: belongs in the transaction that ends the run. */
  readonly rest: WriteSet;
  readonly checkpointId: string | null;
  readonly overlay: Encoded | null;
  /** Carried answers that no task has used. */
  readonly unused: readonly CarriedAnswer[];
  readonly held: readonly HeldEvent[];
}

export interface GraphDescription {
  readonly graphId: string;
  readonly description: string | null;
  readonly fingerprint: Fingerprint;
  readonly nodeNames: readonly string[];
}

/** A saved state as the wire shows it, questions still under the library's ids. */
export interface StateSnapshot {
  readonly values: Json;
  readonly next: readonly string[];
  readonly tasks: readonly StateTask[];
  readonly metadata: Json;
  readonly createdAt: string | null;
  readonly checkpoint: StateCheckpoint | null;
  readonly parentCheckpoint: StateCheckpoint | null;
}

export interface StateCheckpoint {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_map: Json;
}

export interface StateTask {
  readonly id: string;
  readonly name: string;
  readonly path: Json;
  readonly error: string | null;
  readonly interrupts: readonly { readonly id: string | null; readonly value: Json }[];
  readonly checkpoint: Json;
  readonly state: StateSnapshot | null;
  readonly result: Json;
}

export interface StateAddress {
  readonly threadId: string;
  readonly graphId: string;
  readonly ns: string;
  readonly checkpointId: string | null;
}

export interface StateUpdate {
  readonly values: Json;
  readonly asNode: string | null;
  /** `{update, goto}` in place of values, as a node may return it. */
  readonly command?: JsonObject | null;
}

export interface UpdateResult {
  readonly set: WriteSet;
  readonly checkpoint: StateCheckpoint;
  /** Nodes that would run next on the edited graph. */
  readonly next: readonly string[];
}

/** Nodes and edges as the library draws them: `{id, type, data}` and `{source, target, data?, conditional?}`. */
export interface GraphDrawing {
  readonly nodes: readonly JsonObject[];
  readonly edges: readonly JsonObject[];
}

/** JSON Schemas of a graph. One that says nothing is `{}`; null where nothing was declared. */
export interface GraphSchemas {
  readonly input: JsonObject;
  readonly output: JsonObject;
  readonly state: JsonObject;
  readonly context: JsonObject | null;
}

/** Where webhooks may go, and what goes along. Unless it is opened: public addresses, over https. */
export interface WebhookPolicy {
  readonly requireHttps: boolean;
  readonly domains: readonly string[] | null;
  readonly ports: readonly number[] | null;
  readonly urlUnitsMax: number;
  /** Networks in CIDR form that are allowed although they are not public. */
  readonly networks: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

export interface Graphs {
  list(): readonly GraphDescription[];
  describe(graphId: string): GraphDescription | null;
  /**
   * Runs a graph until it ends, pauses, fails or `signal` aborts. Never rejects.
   * @param hasHistory false when the thread certainly has no checkpoint yet.
   */
  run(run: Run, sink: RunSink, signal: AbortSignal, hasHistory: boolean): Promise<GraphRunResult>;
  state(address: StateAddress, options: { readonly subgraphs: boolean }): Promise<StateSnapshot>;
  history(address: StateAddress, query: CheckpointQuery): Promise<readonly StateSnapshot[]>;
  /** Works out a state update without storing it. @throws {ApiError} `state_update_invalid`, `node_unknown` */
  update(address: StateAddress, update: StateUpdate, metadata: JsonObject, operationId: string): Promise<UpdateResult>;
  /** Works out the state of a thread that is yet to be made, superstep by superstep. @throws as update() */
  build(
    address: StateAddress,
    supersteps: readonly (readonly StateUpdate[])[],
    metadata: JsonObject,
    operationId: string,
  ): Promise<UpdateResult>;
  /** State values of a stored checkpoint, as wire JSON. */
  valuesOf(stored: StoredCheckpoint, fingerprint: Fingerprint): Json;
  /** What the deployed graph lacks to continue the pending work of this checkpoint; empty when it can. */
  missingFor(
    graphId: string,
    stored: StoredCheckpoint,
    from: Fingerprint,
    pausedAt: readonly (readonly string[])[],
  ): readonly string[];
  /** @param depth levels of subgraphs to open: 0 none, infinity all. */
  draw(graphId: string, depth: number): Promise<GraphDrawing>;
  schemas(graphId: string): Promise<GraphSchemas>;
  /** Schemas of subgraphs by namespace: `"child"`, `"child|grandchild"`. */
  subgraphSchemas(graphId: string): Promise<ReadonlyMap<string, GraphSchemas>>;
  encode(value: unknown): Encoded;
  toWire(encoded: Encoded): Json;
  /** A live value of the graph (may hold messages and the like) as wire JSON text. */
  wireText(value: unknown): string;
}

/** The end of a run, as those who wait for it need it. */
export interface RunEnd {
  readonly run: Run;
  /** State at the end as JSON text, present for an end seen as it happened. */
  readonly valuesText: string | null;
  readonly interrupts: readonly Interrupt[];
  readonly pause: PauseKind | null;
}

/** Tells what runs do. */
export interface Tracing {
  begin(run: Run): RunTrace;
}

/** One attempt of one run. Nothing of it throws. */
export interface RunTrace {
  /** @param value asked for only if content is wanted */
  input(value: () => unknown): void;
  step(step: TraceStep): TracedStep;
  /** `handed_back`: another attempt will take it up. */
  end(end: StepEnd | "handed_back"): void;
}

/** What a run does on its way. `input` is called at once or never. */
export type TraceStep =
  | { readonly kind: "node"; readonly name: string; readonly superstep: number; readonly input: () => unknown }
  | {
      readonly kind: "model";
      readonly model: string;
      readonly provider: string | null;
      readonly temperature: number | null;
      readonly tokensMax: number | null;
      /** `[{role, parts}, …]` */
      readonly input: () => unknown;
    }
  | { readonly kind: "tool"; readonly name: string; readonly callId: string | null; readonly input: () => unknown };

export interface TracedStep {
  step(step: TraceStep): TracedStep;
  end(end: StepEnd): void;
}

export interface StepEnd {
  readonly output?: () => unknown;
  readonly error?: { readonly name: string; readonly message: string };
  /** How it ended, where that is no error. */
  readonly state?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly tokens?: { readonly input: number; readonly output: number };
}
