// Assistant: a graph with its config, and the crons that run it.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { Caller, Scope } from "./caller.ts";
import type { OnCompletion } from "./thread.ts";

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
  /** Why the server disabled the cron; null if it did not. */
  readonly disabledReason: string | null;
  /** Whoever made or changed it last. Runs of the cron have the same identity and reach. */
  readonly caller: Caller;
  readonly reach: { readonly threads: Scope; readonly assistants: Scope };
}
