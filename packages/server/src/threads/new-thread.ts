// A thread before its first run.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { Thread } from "../model/model.ts";

export type Ttl = Pick<Thread, "ttlMs" | "ttlStrategy">;

export const NO_TTL: Ttl = { ttlMs: null, ttlStrategy: "delete" };

export function newThread(threadId: string, metadata: JsonObject, ttl: Ttl, at: number): Thread {
  return {
    threadId,
    createdAt: at,
    updatedAt: at,
    metadata,
    config: {},
    status: "idle",
    pause: null,
    graphId: null,
    assistantId: null,
    checkpointId: null,
    overlay: null,
    error: null,
    stateUpdatedAt: at,
    onCompletion: "keep",
    startedBy: [],
    ...ttl,
  };
}
