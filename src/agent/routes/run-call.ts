// Run call: the body of a run-creating call → what the operation takes. Shared by all routes that create runs.
import type { RunBody } from "../../api/runs.ts";
import { contentHash } from "../../base/ids.ts";
import type { AgentContext } from "../context.ts";
import { askToSwitchOff } from "../threads/bypass.ts";
import { callOf } from "../runs/accept/run-body.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { reachOf } from "./path-scope.ts";
import type { Call } from "./route.ts";

/** @param part says which of several runs in one request this is: each has a key of its own. */
export async function runCall(
  agent: AgentContext,
  { ids, request, scope, ask }: Call<unknown, unknown>,
  body: RunBody,
  part: number | null = null,
): Promise<RunCall> {
  const key = idempotencyKeyOf(request);
  const given = { before: body.interrupt_before, after: body.interrupt_after };
  const more = await askToSwitchOff(agent, ask, body.assistant_id, ids["thread_id"] ?? null, given);
  const threads = more === null ? scope : [...(scope ?? []), ...more];
  return {
    ...callOf(body, await reachOf(agent, threads, body.assistant_id, ask)),
    idempotencyKey: key === undefined || part === null ? (key ?? null) : `${key}\n${part}`,
    requestHash: key === undefined ? "" : contentHash(`${request.path}\n${request.body.text}`),
    headers: agent.headers.pick(request.headers),
  };
}
