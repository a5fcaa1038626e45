// Run body: members of a run-creating request → parameters of the operation. Used by calls and crons.
import type { RunBody } from "@holdpoint/api/runs.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { Reach } from "../../auth/authorize.ts";
import { VALUES_ONLY, type StreamRequest } from "../../model/model.ts";
import type { RunCall } from "./run-request.ts";

export function callFromBody(body: RunBody, reach: Reach): RunCall {
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
    onPaused: body.on_paused ?? null,
    ifNotExists: body.if_not_exists ?? "reject",
    durability: body.durability ?? exit,
    ...startingPoint(body),
    stream: streamRequest(body),
    webhook: body.webhook ?? null,
    notify: body.notify ?? null,
    afterSeconds: body.after_seconds ?? 0,
    idempotencyKey: null,
    requestHash: "",
    reach,
  };
}

/** Clients send the checkpoint of a state unchanged. Below the root it requires the checkpoints of its parents. */
function startingPoint({ checkpoint, checkpoint_id: bareId }: RunBody): Pick<RunCall, "checkpointId" | "subgraph"> {
  const ns = checkpoint?.checkpoint_ns ?? "";
  if (ns === "") return { checkpointId: checkpoint?.checkpoint_id ?? bareId ?? null, subgraph: null };
  const map: Record<string, string> = {};
  for (const [name, id] of Object.entries(checkpoint?.checkpoint_map ?? {})) {
    if (typeof id === "string" && isUuid(id)) map[name] = id.toLowerCase();
  }
  const [root, own] = [map[""], checkpoint?.checkpoint_id ?? map[ns]];
  if (root === undefined || own === undefined) {
    const message =
      'a checkpoint of a subgraph requires the checkpoint_map of the same state: "" and its own namespace';
    throw new ApiError("invalid_request", `body field checkpoint.checkpoint_map: ${message}`, {
      errors: [{ path: "checkpoint.checkpoint_map", message }],
    });
  }
  return { checkpointId: root, subgraph: { ns, checkpointId: own, map: { ...map, [ns]: own } } };
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
