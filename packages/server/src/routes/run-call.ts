// Run call: the body of a run-creating call → parameters of the operation. Used by all routes that create runs.
import type { RunBody } from "@holdpoint/api/runs.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import type { AgentContext } from "../context/context.ts";
import { type Intent, readIntent } from "../interrupts/run-intent.ts";
import { askForRights } from "../threads/bypass.ts";
import { callFromBody } from "../runs/accept/run-body.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { buildReach } from "./path-scope.ts";
import type { Call } from "./route.ts";

const CONTINUING: ReadonlySet<Intent["kind"]> = new Set(["continue", "command"]);

/** @param part position of the run in a batch: each run has its own key */
export async function runCall(
  agent: AgentContext,
  { ids, request, scope, ask }: Call<unknown, unknown>,
  body: RunBody & { readonly thread_id?: string | null | undefined },
  part: number | null = null,
): Promise<RunCall> {
  const key = readIdempotencyKey(request);
  const rights = await askForRights(agent, ask, {
    assistantId: body.assistant_id,
    threadId: ids["thread_id"] ?? body.thread_id ?? null,
    before: body.interrupt_before,
    after: body.interrupt_after,
    goto: body.command?.goto,
    continues: CONTINUING.has(readIntent(body.input, body.command ?? null).kind),
    changes: [body.command?.update, body.checkpoint, body.checkpoint_id].some((one) => (one ?? null) !== null),
  });
  return {
    ...callFromBody(body, await buildReach(agent, scope, body.assistant_id, ask)),
    webhooks: (body.webhooks ?? []).map(({ webhook_id: webhookId, ...rest }) => ({
      webhookId: webhookId ?? null,
      ...rest,
    })),
    idempotencyKey: key === undefined || part === null ? (key ?? null) : `${key}\n${part}`,
    requestHash: key === undefined ? "" : contentHash(`${request.path}\n${request.body.text}`),
    headers: agent.headers.pick(request.headers),
    rights,
  };
}
