// Port to the deployed graphs: describe and run them, read and edit their states.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type {
  CarriedAnswer,
  Encoded,
  ErrorInfo,
  Fingerprint,
  Interrupt,
  PauseKind,
  Run,
  WriteSet,
} from "../model/model.ts";
import type { StateSize } from "../model/state-memory.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";
import type { CheckpointQuery, CheckpointTx, History, StoredCheckpoint } from "./checkpoints.ts";

/** Result of running a graph. */
export type GraphOutcome =
  | { readonly kind: "done"; readonly values: unknown }
  | { readonly kind: "question"; readonly values: unknown; readonly interrupts: readonly OpenInterrupt[] }
  /** `next`: the nodes held back by the breakpoint. */
  | { readonly kind: "breakpoint"; readonly values: unknown; readonly next: readonly string[] }
  /**
   * `storageFailed`: the storage caused the failure, not the graph. `answerRefused`: the library rejected an answer and
   * accepts another one for the same interrupt. `inputRefused`: the state refused the input; nothing of the run stays.
   */
  | {
      readonly kind: "failed";
      readonly error: ErrorInfo;
      readonly storageFailed?: boolean;
      readonly answerRefused?: boolean;
      readonly inputRefused?: boolean;
    }
  /** The signal aborted the run; the signal has the reason. */
  | { readonly kind: "aborted" };

/** An open interrupt as the graph reports it. */
export type OpenInterrupt = Pick<
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
> & {
  /** Deadline that the deployment configures for interrupts of this node: `{expires_in_seconds, on_expiry}`. */
  readonly deadline?: JsonObject;
  /** The deployment takes answers as they are: no rules come from payloads. */
  readonly answers?: "as_given";
};

/**
 * Sink for the checkpoints of a running graph. `take` returns the writes since its previous call. Neither method
 * rejects: a failed or refused write aborts the run's signal.
 */
export interface RunSink {
  /** Stores with one of the next commits. */
  readonly soon: (take: () => WriteSet) => void;
  /** Resolves after the commit. */
  readonly now: (take: () => WriteSet) => Promise<void>;
  /** Notes the size of the state. @returns false if memory is short: the attempt ends, and the run waits for its turn */
  readonly holds: (size: StateSize) => boolean;
  /** Publishes an event to the readers of the run. */
  readonly emit: (event: RunEvent) => void;
  /** True while the run has readers in this process. */
  readonly isRead: () => boolean;
}

/** Event of a run before it has an id. */
export interface RunEvent {
  /** `values`, or `updates|child:<uuid>` in a subgraph. */
  readonly name: string;
  readonly data: EventData;
}

/**
 * JSON text, or a reference to a stored state. `reference` is the checkpoint with that state. The log keeps the
 * reference and renders the text only for active readers.
 */
export type EventData = string | { readonly reference: string; readonly text: () => string };

/** Event that shows a pause. It is published after the pause is stored, with the stored interrupts. */
export interface HeldEvent {
  readonly name: string;
  /** @param interrupts API objects of the interrupts by library id */
  readonly text: (interrupts: ReadonlyMap<string, JsonObject>) => string;
}

export interface GraphRunResult {
  readonly outcome: GraphOutcome;
  /** Writes not stored yet, for the transaction that ends the run. */
  readonly rest: WriteSet;
  readonly checkpointId: string | null;
  readonly overlay: Encoded | null;
  /** Answers that no task used; null if no graph ran, and only the stored state knows what earlier attempts used. */
  readonly unused: readonly UnusedAnswer[] | null;
  readonly held: readonly HeldEvent[];
}

/** An answer that is to be asked for again. */
export interface UnusedAnswer extends CarriedAnswer {
  /** The node got it, and threw or returned what the state refuses. */
  readonly threw?: true;
}

export interface GraphDescription {
  readonly graphId: string;
  readonly description: string | null;
  readonly fingerprint: Fingerprint;
  /** Null for a graph factory: its nodes depend on the config of the run. */
  readonly nodeNames: readonly string[] | null;
  /** Breakpoints compiled into the graph. */
  readonly breakpoints?: Breakpoints;
}

export interface Breakpoints {
  readonly before: "*" | readonly string[];
  readonly after: "*" | readonly string[];
}

/** Saved state in API shape, with the library's interrupt ids. */
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

/** Caller-supplied values for a graph. */
export interface GivenValues {
  readonly input?: unknown;
  readonly update?: unknown;
  readonly goto?: unknown;
  readonly answers?: readonly unknown[];
  /** Value of an item in the store: a node may return it. */
  readonly item?: unknown;
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
  /** `{update, goto}` instead of values, as a node may return it. */
  readonly command?: JsonObject | null;
}

export interface UpdateResult {
  readonly set: WriteSet;
  readonly checkpoint: StateCheckpoint;
  /** Nodes that would run next on the edited state. */
  readonly next: readonly string[];
}

/** Nodes and edges as the library draws them: `{id, type, data}` and `{source, target, data?, conditional?}`. */
export interface GraphDrawing {
  readonly nodes: readonly JsonObject[];
  readonly edges: readonly JsonObject[];
}

/** JSON Schemas of a graph. `{}` accepts anything; null means that the graph declares no schema. */
export interface GraphSchemas {
  readonly input: JsonObject;
  readonly output: JsonObject;
  readonly state: JsonObject;
  readonly context: JsonObject | null;
}

/** Values of a state, decoded on demand. */
export interface StateValues {
  readonly json: () => Json;
  /** Large values that need no translation are passed through without parsing. */
  readonly text: () => string;
}

export interface Graphs {
  /** Those of the deployment: without the graph of requests. */
  list(): readonly GraphDescription[];
  describe(graphId: string): GraphDescription | null;
  /** Why a configured graph is not deployed, with its file and the cause; null for any other graph. */
  loadProblem(graphId: string): string | null;
  /** @throws {ApiError} `control_value_refused` if the library would execute a value instead of passing it on */
  checkGiven(values: GivenValues): void;
  /**
   * Checks the context of an accepted run, or without one its `configurable`, as the library does at its start.
   * @throws {ApiError} `context_invalid`
   */
  checkContext(run: Run): void;
  /** Runs a graph until it ends, pauses or fails, or `signal` aborts. Never rejects. */
  run(run: Run, sink: RunSink, signal: AbortSignal, history: History): Promise<GraphRunResult>;
  /** The answers of a run that no attempt has used, as its stored state says. */
  readUnused(tx: CheckpointTx, run: Run): Promise<readonly UnusedAnswer[]>;
  state(address: StateAddress, options: { readonly subgraphs: boolean }): Promise<StateSnapshot>;
  /** Newest first; reads each state on demand. */
  history(address: StateAddress, query: CheckpointQuery): AsyncIterable<StateSnapshot>;
  /** Computes a state update without storing it. @throws {ApiError} `state_update_invalid`, `node_unknown` */
  update(address: StateAddress, update: StateUpdate, metadata: JsonObject, operationId: string): Promise<UpdateResult>;
  /**
   * Computes the state of a new thread, superstep by superstep.
   * @throws as update()
   */
  build(
    address: StateAddress,
    supersteps: readonly (readonly StateUpdate[])[],
    metadata: JsonObject,
    operationId: string,
  ): Promise<UpdateResult>;
  /** State values of a stored checkpoint as API JSON. */
  readValues(tx: CheckpointTx, stored: StoredCheckpoint, fingerprint: Fingerprint): Promise<StateValues>;
  /**
   * Parts that the deployed graph lacks to continue the pending work of this checkpoint. Empty if none is missing, or
   * if only the config of the run decides; run() then fails the run with `graph_incompatible`.
   */
  missingFor(
    graphId: string,
    stored: StoredCheckpoint,
    from: Fingerprint,
    pausedAt: readonly (readonly string[])[],
  ): readonly string[];
  /**
   * @param depth levels of subgraphs to expand: 0 none, infinity all
   * @throws {ApiError} `graph_not_made`
   */
  draw(graphId: string, depth: number, config: JsonObject): Promise<GraphDrawing>;
  schemas(graphId: string): Promise<GraphSchemas>;
  /** Schemas of subgraphs by namespace: `"child"`, `"child|grandchild"`. */
  subgraphSchemas(graphId: string): Promise<ReadonlyMap<string, GraphSchemas>>;
  encode(value: unknown): Awaitable<Encoded>;
  toClientJson(encoded: Encoded): Json;
  /** Client JSON of an encoded value: mostly the very text, not parsed. */
  storedClientText(encoded: Encoded): string;
  /** API JSON text of a live graph value, which may contain messages and other library objects. */
  clientText(value: unknown): string;
}

/** End of a run, as waiting callers receive it. */
export interface RunEnd {
  readonly run: Run;
  /** Final state as JSON text; present if this process observed the end. */
  readonly valuesText: string | null;
  readonly interrupts: readonly Interrupt[];
  readonly pause: PauseKind | null;
}
