// Checkpoints in storage, with the values and writes that belong to them.
import type { JsonObject } from "../../base/json/json.ts";
import type { Checkpoint, Stored, TaskWrites, WriteSet } from "../model/model.ts";
import type { Awaitable } from "./awaitable.ts";
import type { RunAttempt } from "./runs.ts";

export interface CheckpointQuery {
  readonly ns: string;
  readonly before: string | null;
  readonly limit: number | null;
  /** Keep a checkpoint whose metadata contains this. */
  readonly metadata: JsonObject | null;
}

export interface Line {
  readonly limit: number;
  readonly channels: readonly string[];
}

/** A checkpoint as read: `values` has every channel that has a value. */
export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly values: ReadonlyMap<string, Stored>;
  readonly writes: readonly TaskWrites[];
  /** Blobs that `writes` refer to, by `#<hash>`. */
  readonly blobs: ReadonlyMap<string, Stored>;
}

/**
 * What a run goes on from, as far as is known before it begins: `none` when its thread certainly has no checkpoint yet,
 * the newest checkpoint when it has been read already, else `stored`.
 */
export type History = "none" | "stored" | StoredCheckpoint;

export interface CheckpointTx {
  /** A checkpoint with its values; the newest of the namespace when no id is given. */
  checkpoint(threadId: string, ns: string, checkpointId: string | null): Awaitable<StoredCheckpoint | null>;
  /** Fingerprint of the graph that wrote it; null when there is no such checkpoint. */
  checkpointFingerprint(threadId: string, checkpointId: string | null): Awaitable<string | null>;
  checkpoints(threadId: string, query: CheckpointQuery): Awaitable<readonly StoredCheckpoint[]>;
  /**
   * A checkpoint and those that it descends from, newest first: at most `limit`, with the values of these channels only.
   * Empty when there is no such checkpoint.
   */
  checkpointLine(
    threadId: string,
    ns: string,
    checkpointId: string,
    line: Line,
  ): Awaitable<readonly StoredCheckpoint[]>;
  /** Stores a write set of an operation that no run fences, such as a state update. */
  putWriteSet(set: WriteSet): Awaitable<void>;
  /**
   * Stores a run's write set if the run is still in this attempt.
   * @returns false, having written nothing, when it is not.
   */
  putRunWrites(run: RunAttempt, set: WriteSet): Awaitable<boolean>;
  /** Takes back everything that a run wrote on its thread. */
  deleteRunData(threadId: string, runId: string): Awaitable<void>;
}
