// Start run: a run of an assistant for a gateway, on a thread of its own or on the caller's.
import type { Json, JsonObject } from "@holdpoint/base/json/json.ts";
import type { OwnApi } from "./own-api.ts";
import type { RunObject, RunPlace } from "./run-object.ts";

export interface RunStart {
  readonly assistantId: string;
  readonly input: Json;
  /** Null: a new thread, which is kept. */
  readonly threadId: string | null;
  /** A repeated call with the same key gets the run of the first one. */
  readonly idempotencyKey: string | null;
  readonly metadata: JsonObject;
  readonly streamModes: readonly string[];
  /** What the run does on a thread that waits for a person; absent: it is refused there. */
  readonly onPaused?: Json | undefined;
  /** Receivers of the ends of the run. */
  readonly webhooks?: readonly JsonObject[];
}

/** @returns the run as accepted, or as it is now for a repeated call. @throws {ApiRefusal} */
export async function startRun(api: OwnApi, start: RunStart): Promise<RunPlace & { readonly run: RunObject }> {
  const { assistantId, input, threadId, idempotencyKey, metadata, streamModes, onPaused, webhooks = [] } = start;
  const body = {
    assistant_id: assistantId,
    input,
    metadata,
    stream_mode: streamModes,
    stream_resumable: true,
    webhooks,
    ...(onPaused === undefined ? {} : { on_paused: onPaused }),
  };
  const [path, more] =
    threadId === null
      ? ["/runs", { on_completion: "keep" }]
      : [`/threads/${encodeURIComponent(threadId)}/runs`, { if_not_exists: "create", multitask_strategy: "reject" }];
  const started = await api.call("POST", path, { body: { ...body, ...more }, idempotencyKey });
  const run = started as unknown as RunObject;
  return { threadId: run.thread_id, runId: run.run_id, run };
}

/** Best effort: the run may have ended, and a paused run stays paused. */
export async function cancelRun(api: OwnApi, { threadId, runId }: RunPlace): Promise<void> {
  await api.call("POST", `/threads/${threadId}/runs/${runId}/cancel`).catch(() => undefined);
}
