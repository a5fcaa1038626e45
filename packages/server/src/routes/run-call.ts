// Run call: the body of a run-creating call → parameters of the operation. Used by all routes that create runs.
// Invariant: a call that may answer a question, by its command, by its input or by continuing a breakpoint,
// asks for `threads:answer` as the inbox does. Acceptance knows whether it does, and requires it then.
import type { RunBody } from "@holdpoint/api/runs.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import { askRight, GRANTED, type Right } from "../auth/authorize.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AgentContext } from "../context/context.ts";
import { mayAnswerByInput } from "../interrupts/on-paused.ts";
import { type Intent, readIntent } from "../interrupts/run-intent.ts";
import { toAssistantId } from "../model/built-in-assistant.ts";
import { askForRights } from "../threads/bypass.ts";
import { callFromBody } from "../runs/accept/run-body.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { buildReach } from "./path-scope.ts";
import type { Call } from "./route.ts";

const CONTINUING: ReadonlySet<Intent["kind"]> = new Set(["continue", "command"]);

type Body = RunBody & { readonly thread_id?: string | null | undefined };

interface CallPart {
  /** Position of the run in a batch: each run has its own key. */
  readonly part?: number;
  /** The right to answer, if the call itself was authorized by it. */
  readonly answer?: Right;
}

export async function runCall(
  agent: AgentContext,
  call: Call<unknown, unknown>,
  body: Body,
  { part, answer }: CallPart = {},
): Promise<RunCall> {
  const { ids, request, scope, ask } = call;
  const key = readIdempotencyKey(request);
  const threadId = ids["thread_id"] ?? body.thread_id ?? null;
  const intent = readIntent(body.input, body.command ?? null);
  const rights = await askForRights(agent, ask, {
    assistantId: body.assistant_id,
    threadId,
    before: body.interrupt_before,
    after: body.interrupt_after,
    goto: body.command?.goto,
    continues: CONTINUING.has(intent.kind),
    changes: [body.command?.update, body.checkpoint, body.checkpoint_id].some((one) => (one ?? null) !== null),
  });
  const made = callFromBody(body, await buildReach(agent, scope, body.assistant_id, ask));
  const mayAnswer = answer ?? (threadId === null ? undefined : await askToAnswer(agent, call, { made, intent, body }));
  return {
    ...made,
    webhooks: (body.webhooks ?? []).map(({ webhook_id: webhookId, ...rest }) => ({
      webhookId: webhookId ?? null,
      ...rest,
    })),
    idempotencyKey: key === undefined || part === undefined ? (key ?? null) : `${key}\n${part}`,
    requestHash: key === undefined ? "" : contentHash(`${request.path}\n${request.body.text}`),
    headers: agent.headers.pick(request.headers),
    rights: { ...rights, ...(mayAnswer === undefined ? {} : { answer: mayAnswer }) },
  };
}

/** @returns undefined for a call that answers nothing, whatever its thread waits for */
async function askToAnswer(
  agent: AgentContext,
  { ids, ask }: Pick<Call<unknown, unknown>, "ids" | "ask">,
  { made, intent, body }: { readonly made: RunCall; readonly intent: Intent; readonly body: Body },
): Promise<Right | undefined> {
  if (agent.access === null) return GRANTED;
  if (intent.kind === "end_thread") return undefined;
  if (intent.kind === "input") {
    const isOpen = made.onPaused === null; // the assistant has the choice
    const assistant = isOpen ? await agent.storage.read((tx) => tx.assistant(toAssistantId(body.assistant_id))) : null;
    if (!mayAnswerByInput(made, assistant?.metadata ?? {})) return undefined;
  }
  return askRight(ask, "threads:answer", toAccessValue("threads:answer", { ids, query: {}, body: body as JsonObject }));
}
