// Run call: the body of a run-creating call → what the operation takes. Shared by all routes that create runs.
import type { RunBody } from "../../api/runs.ts";
import { contentHash } from "../../base/ids.ts";
import { reachOf } from "../access.ts";
import type { Agent } from "../agent.ts";
import { VALUES_ONLY, type StreamRequest } from "../model.ts";
import type { RunCall } from "../run-request.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import type { Call } from "./route.ts";

/** @param part says which of several runs in one request this is: each has a key of its own. */
export async function runCall(
  agent: Agent,
  { request, scope, ask }: Call<unknown, unknown>,
  body: RunBody,
  part: number | null = null,
): Promise<RunCall> {
  const key = idempotencyKeyOf(request);
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
    idempotencyKey: key === undefined || part === null ? (key ?? null) : `${key}\n${part}`,
    requestHash: key === undefined ? "" : contentHash(`${request.path}\n${request.body.text}`),
    reach: await reachOf(agent, scope, body.assistant_id, ask),
    headers: agent.headers.pick(request.headers),
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
