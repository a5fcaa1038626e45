// Saver state: the rows that a run has written since its last commit, and the part of its own history that the next
// write builds on.
import {
  BIG_VALUE_UNITS,
  type Blob,
  type Checkpoint,
  type Encoded,
  type TaskWrites,
  type WriteSet,
} from "../../model/model.ts";
import type { StateSize } from "../../model/state-memory.ts";
import type { CheckpointTx, History } from "../../ports/ports.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Library } from "../langgraph/library.ts";
import type { AnswerPlaces } from "./answer-places.ts";
import type { Codec } from "./codec/value-codec.ts";
import type { EncodedValue } from "./encode-values.ts";
import { type PendingTasks, createPendingTasks } from "./pending-tasks.ts";

export interface SaverOptions {
  readonly library: Library;
  readonly codec: Codec;
  readonly threadId: string;
  readonly runId: string;
  readonly fingerprint: string;
  /** Part of every checkpoint's metadata. */
  readonly metadata: JsonObject;
  /** Input of the run, and its text, which is in the storage already. */
  readonly storedInput: { readonly value: unknown; readonly text: Encoded } | null;
  /** Channels of the state. */
  readonly outputs: string | readonly string[];
  /** Channels that reads may skip. */
  readonly history: History;
  readonly read: <T>(query: (tx: CheckpointTx) => T | Promise<T>) => Promise<T>;
  /** Task id → number of its valid saved answers; reads drop the answers after those. */
  readonly answersKept: ReadonlyMap<string, number>;
  /** Absent where no graph runs. */
  readonly places?: AnswerPlaces;
  /** The run begins with new input: results of finished branches count, and their successors do not run. */
  readonly keepsResults: boolean;
  /** Size of the interrupts of one task, in bytes of JSON. */
  readonly interruptBytesMax: number;
  /** Told the size of the state whenever it is read or written: false ends the attempt. Absent where no graph runs. */
  readonly holds?: (size: StateSize) => boolean;
  /** Called after a write. With durability `sync` LangGraph awaits the result before the next superstep. */
  readonly onWrite: () => Promise<void> | undefined;
  /** Stores all writes so far, so that reads find them. */
  readonly settle: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Where the value of a channel is stored: a checkpoint's id, or `#hash` of a blob. */
export interface Origin {
  readonly version: unknown;
  readonly from: string;
}
export type Origins = ReadonlyMap<string, Origin>;

export interface KnownCheckpoint {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly origins: Origins;
}

export interface SaverState {
  readonly options: SaverOptions;
  /** Text of the metadata that every checkpoint begins with, without its closing brace. */
  readonly metadataStart: string;
  readonly pending: PendingTasks;
  readonly rootStates: RecentStates;
  readonly knownBlobs: Set<string>;
  /** The newest checkpoint of each namespace. */
  readonly originsByNamespace: Map<string, KnownCheckpoint>;
  /** Key of a task's writes → index → text of the write. */
  readonly listEntries: Map<string, Map<number, string>>;
  /** The same key → path of the task. */
  readonly taskPaths: Map<string, string>;
  /** Units of the values that are blobs: by namespace and channel. */
  readonly sizes: Map<string, number>;
  rootCheckpointId: string | null;
  failed: boolean;
  /** Results of finished branches are part of the state that the new input meets (keepResults). */
  keptResults: boolean;
  forgetsResults: boolean;
  checkpoints: Checkpoint[];
  writes: Map<string, TaskWrites>;
  blobs: Blob[];
}

export function newSaverState(options: SaverOptions): SaverState {
  return {
    options,
    metadataStart: JSON.stringify(callersMetadata(options.metadata)).slice(0, -1),
    pending: createPendingTasks(),
    rootStates: createRecentStates(options.outputs),
    knownBlobs: new Set(),
    originsByNamespace: new Map(),
    listEntries: new Map(),
    taskPaths: new Map(),
    sizes: new Map(),
    rootCheckpointId: null,
    failed: false,
    keptResults: false,
    forgetsResults: false,
    checkpoints: [],
    writes: new Map(),
    blobs: [],
  };
}

/** Notes the sizes of values before their rows are kept or their objects made. @throws {NoRoomError} */
export function noteSizes(
  { sizes, options }: SaverState,
  ns: string,
  values: Iterable<readonly [channel: string, units: number]>,
): void {
  for (const [channel, units] of values) {
    const key = `${ns}\n${channel}`;
    if (units > BIG_VALUE_UNITS) sizes.set(key, units);
    else sizes.delete(key);
  }
  if (sizes.size === 0 || options.holds === undefined) return;
  const all = [...sizes.values()];
  const size = { units: all.reduce((one, other) => one + other), largest: Math.max(...all) };
  if (!options.holds(size)) throw new NoRoomError();
}

/** The run goes on when memory is free. */
class NoRoomError extends Error {
  override readonly name = "no_room";
}

/** Place of the writes of one task. */
export interface TaskAddress {
  readonly ns: string;
  readonly checkpointId: string;
  readonly taskId: string;
}

export function taskKey({ ns, checkpointId, taskId }: TaskAddress): string {
  return `${ns}\n${checkpointId}\n${taskId}`;
}

export function taskOfKey(key: string): TaskAddress {
  const [ns = "", checkpointId = "", taskId = ""] = key.split("\n");
  return { ns, checkpointId, taskId };
}

/** LangGraph reads its own keys here, and some checkpoints lack them: a caller must not supply them instead. */
function callersMetadata(metadata: JsonObject): JsonObject {
  const { counters_since_delta_snapshot: _counters, delta_writes_versioned: _versioned, ...rest } = metadata;
  return rest;
}

/** Takes the rows since the last call. */
export function takeRows(state: SaverState): WriteSet {
  const set: WriteSet = { checkpoints: state.checkpoints, writes: [...state.writes.values()], blobs: state.blobs };
  state.checkpoints = [];
  state.writes = new Map();
  state.blobs = [];
  return set;
}

/** `#hash` of a large value, which is or becomes a blob; null for a small one. */
export function blobReference(state: SaverState, { encoded, hash }: EncodedValue): string | null {
  if (hash === null) return null;
  if (!state.knownBlobs.has(hash)) {
    state.knownBlobs.add(hash);
    const { threadId, storedInput } = state.options;
    if (encoded !== storedInput?.text) state.blobs.push({ threadId, hash, data: encoded });
  }
  return `#${hash}`;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Finds the checkpoint of a streamed state. The stream is slightly behind the checkpoints, and some are never streamed:
 * a match has the same object in every channel of the state.
 */
interface RecentStates {
  note(checkpointId: string, channels: Values): void;
  readonly findCheckpoint: (values: unknown) => string | null;
}

/** The stream is at most a few supersteps behind. */
const STATES_MAX = 8;

/** @param outputs the channels of the state, or the one channel that is the state */
function createRecentStates(outputs: string | readonly string[]): RecentStates {
  const recent: { readonly checkpointId: string; readonly channels: Values }[] = [];
  const has = (channels: Values, values: unknown): boolean =>
    typeof outputs === "string"
      ? channels[outputs] === values
      : typeof values === "object" &&
        values !== null &&
        outputs.every((channel) => channels[channel] === (values as Values)[channel]);
  return {
    note(checkpointId, channels) {
      recent.push({ checkpointId, channels });
      if (recent.length > STATES_MAX) recent.shift();
    },
    findCheckpoint: (values) => recent.findLast(({ channels }) => has(channels, values))?.checkpointId ?? null,
  };
}
