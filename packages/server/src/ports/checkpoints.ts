// Storage port for checkpoints, their values and their writes.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Checkpoint, Stored, TaskWrites, WriteSet } from "../model/model.ts";
import type { Awaitable } from "@holdpoint/base/awaitable.ts";
import type { RunAttempt } from "./runs.ts";

export interface CheckpointQuery {
  readonly ns: string;
  readonly before: string | null;
  readonly limit: number | null;
  /** Subset of the checkpoint metadata. */
  readonly metadata: JsonObject | null;
}

export interface Line {
  readonly limit: number;
  readonly channels: readonly string[];
}

/** Checkpoint as read; `values` contains every channel with a value. */
export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly values: ReadonlyMap<string, Stored>;
  readonly writes: readonly TaskWrites[];
  /** Blobs referenced by `writes`, by `#<hash>`. */
  readonly blobs: ReadonlyMap<string, Stored>;
}

/**
 * Starting point of a run as far as known before it starts. `none`: the thread certainly has no checkpoint. A
 * checkpoint: the newest, already read. `stored`: anything else.
 */
export type History = "none" | "stored" | StoredCheckpoint;

/** Bytes that the checkpoints of a thread take: those of their own members, of their values, of pending writes. */
export interface StoredBytes {
  readonly checkpoints: { readonly count: number; readonly bytes: number };
  /** By channel; a large value counts once however many checkpoints have it. */
  readonly channels: Readonly<Record<string, number>>;
  readonly writes: { readonly count: number; readonly bytes: number };
}

export interface CheckpointTx {
  /** Checkpoint with its values; the newest of the namespace if the id is null. */
  checkpoint(threadId: string, ns: string, checkpointId: string | null): Awaitable<StoredCheckpoint | null>;
  /** Fingerprint of the graph that wrote the checkpoint; null if the checkpoint does not exist. */
  checkpointFingerprint(threadId: string, checkpointId: string | null): Awaitable<string | null>;
  checkpoints(threadId: string, query: CheckpointQuery): Awaitable<readonly StoredCheckpoint[]>;
  /**
   * A checkpoint and its ancestors, newest first: at most `limit`, with the values of these channels only. Empty if the
   * checkpoint does not exist.
   */
  checkpointLine(
    threadId: string,
    ns: string,
    checkpointId: string,
    line: Line,
  ): Awaitable<readonly StoredCheckpoint[]>;
  /** Stores the write set of an operation without a run fence, such as a state update. */
  putWriteSet(set: WriteSet): Awaitable<void>;
  /**
   * Stores the write set of a run if the run is still in this attempt.
   * @returns false, without any write, if it is not
   */
  putRunWrites(run: RunAttempt, set: WriteSet): Awaitable<boolean>;
  storedBytes(threadId: string): Awaitable<StoredBytes>;
  /** Rolls back all writes of a run on its thread. */
  deleteRunData(threadId: string, runId: string): Awaitable<void>;
}
