// Thread: one conversation with durable state.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { ErrorInfo } from "./run.ts";
import type { Encoded } from "./checkpoint.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";
/** Kind of a pause: an open interrupt (`question`) or a breakpoint. */
export type PauseKind = "question" | "breakpoint";

/** Fate of a thread after its last run. Threads of stateless runs use `delete`. */
export type OnCompletion = "keep" | "delete";

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
  /** Names of the callers whose input or edits made the state; for four-eyes rules. */
  readonly startedBy: readonly string[];
}

/** `delete`: the thread with all its data. `keep_latest`: all checkpoints except the newest. */
export type TtlStrategy = "delete" | "keep_latest";
