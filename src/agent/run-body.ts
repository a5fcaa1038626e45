// Run body: the members of a run-creating request → what the operation takes. Shared by calls and crons.
import type { RunBody } from "../api/runs.ts";
import type { Reach } from "./access.ts";
import { VALUES_ONLY, type StreamRequest } from "./model.ts";
import type { RunCall } from "./run-request.ts";

export function callOf(body: RunBody, reach: Reach): RunCall {
  const exit = body.checkpoint_during === false ? "exit" : "async";
  return {
    assistantId: body.assistant_id,
    input: body.input,
    command: body.command ?? null,
    config: body.config ?? {},
    context: body.context ?? null,
    metadata: body.metadata ?? {},
    interruptBefore: body.interrupt_before ?? null,
    interruptAfter: body.interrupt_after ?? null,
    multitaskStrategy: body.multitask_strategy ?? "enqueue",
    ifNotExists: body.if_not_exists ?? "reject",
    durability: body.durability ?? exit,
    checkpointId: body.checkpoint?.checkpoint_id ?? body.checkpoint_id ?? null,
    stream: streamRequest(body),
    webhook: body.webhook ?? null,
    afterSeconds: body.after_seconds ?? 0,
    idempotencyKey: null,
    requestHash: "",
    reach,
  };
}

function streamRequest(body: RunBody): StreamRequest {
  const { stream_mode: given = null } = body;
  const list = given === null ? [] : Array.isArray(given) ? given : [given];
  return {
    modes: list.length === 0 ? VALUES_ONLY.modes : [...new Set(list)],
    subgraphs: body.stream_subgraphs ?? false,
    resumable: body.stream_resumable ?? false,
  };
}
