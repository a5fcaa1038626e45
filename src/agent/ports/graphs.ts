// Graphs: the deployed graphs, what running one gives, and what is read from and written to its state.
import type { Json, JsonObject } from "../../base/json/json.ts";
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
import type { CheckpointQuery, History, StoredCheckpoint } from "./checkpoints.ts";
import type { Tx } from "./storage.ts";

/** What a graph did with a run. */
export type GraphOutcome =
  | { readonly kind: "done"; readonly values: unknown }
  | { readonly kind: "question"; readonly values: unknown; readonly questions: readonly Question[] }
  /** `next`: the nodes that it holds back. */
  | { readonly kind: "breakpoint"; readonly values: unknown; readonly next: readonly string[] }
  /**
   * `storageFailed`: the cause is the storage, not the graph. `answerRefused`: the library refused an answer, and takes
   * another one for the same question.
   */
  | {
      readonly kind: "failed";
      readonly error: ErrorInfo;
      readonly storageFailed?: boolean;
      readonly answerRefused?: boolean;
    }
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
> & {
  /** What the deployment says of the questions of this node: `{expires_in_seconds, on_expiry}`. */
  readonly deadline?: JsonObject;
};

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
  /** Null where a function makes the graph for each run: its nodes depend on the run's config. */
  readonly nodeNames: readonly string[] | null;
  /** Those that the graph was compiled with. */
  readonly breakpoints?: Breakpoints;
}

export interface Breakpoints {
  readonly before: "*" | readonly string[];
  readonly after: "*" | readonly string[];
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

/** Values of a caller that a graph is to get. */
export interface GivenValues {
  readonly input?: unknown;
  readonly update?: unknown;
  readonly goto?: unknown;
  readonly answers?: readonly unknown[];
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

/** The values of a state, not looked into until they are needed. */
export interface StateValues {
  readonly json: () => Json;
  /** A big value that needs no translation is neither parsed nor written anew. */
  readonly text: () => string;
}

export interface Graphs {
  list(): readonly GraphDescription[];
  describe(graphId: string): GraphDescription | null;
  /** @throws {ApiError} `control_value_refused`: the library would act on a value instead of passing it on */
  checkGiven(values: GivenValues): void;
  /**
   * Runs a graph until it ends, pauses, fails or `signal` aborts. Never rejects.
   */
  run(run: Run, sink: RunSink, signal: AbortSignal, history: History): Promise<GraphRunResult>;
  state(address: StateAddress, options: { readonly subgraphs: boolean }): Promise<StateSnapshot>;
  /** Newest first, read as they are taken. */
  history(address: StateAddress, query: CheckpointQuery): AsyncIterable<StateSnapshot>;
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
  valuesOf(tx: Tx, stored: StoredCheckpoint, fingerprint: Fingerprint): Promise<StateValues>;
  /**
   * Parts that the deployed graph lacks to continue the pending work of this checkpoint; empty when it lacks none, or
   * when only the run's config decides it. Then run() fails the run with `graph_incompatible`.
   */
  missingFor(
    graphId: string,
    stored: StoredCheckpoint,
    from: Fingerprint,
    pausedAt: readonly (readonly string[])[],
  ): readonly string[];
  /** @param depth levels of subgraphs to open: 0 none, infinity all. @throws {ApiError} `graph_not_made` */
  draw(graphId: string, depth: number, config: JsonObject): Promise<GraphDrawing>;
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
