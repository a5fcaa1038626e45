// Only the answer: what a call brings beside its answer, while a question with review rules is open.
// Invariants:
//   - People decide about the run that asked. So an answer changes nothing else of that run: no update, no other node,
//     assistant, config, context, checkpoint, breakpoint or receiver of its events. This holds for the answer to any
//     question of the thread, and for a run that only continues it: the next run asks in place of this one.
//   - A member that repeats what the run has already changes nothing.
//   - What the call leaves out stays as the run that asked has it.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isJsonObject, type JsonObject } from "@holdpoint/base/json/json.ts";
import type { Intent } from "../../interrupts/run-intent.ts";
import type { Assistant, Interrupt, Run, RunRequest } from "../../model/model.ts";
import { mergeConfigs, mergeContext, type RunCall } from "./run-request.ts";

export interface GivenAnswer {
  readonly call: RunCall;
  /** An update without an answer is an edit of the state, and continuing by another assistant has a right of its own. */
  readonly intent: Intent;
  readonly assistant: Assistant;
  /** Checkpoint of a fork; null if the run continues the thread. */
  readonly forkFrom: string | null;
  /** With review rules. */
  readonly interrupt: Interrupt;
  /** The run that asked; null if it was deleted. */
  readonly asker: Run | null;
}

/** @throws {ApiError} `invalid_request` */
export function requireOnlyAnswer(given: GivenAnswer): void {
  const members = changedMembers(given);
  const [first] = members;
  if (first === undefined) return;
  const { interruptId } = given.interrupt;
  const detail = `Interrupt ${interruptId} has review rules: a run that continues its thread carries nothing but answers, and this one has ${members.join(", ")}.`;
  const errors = members.map((path) => ({ path, message: "cannot stand beside an answer under review rules" }));
  throw new ApiError("invalid_request", detail, { interrupt_id: interruptId, errors });
}

function changedMembers({ call, intent, assistant, forkFrom, interrupt, asker }: GivenAnswer): readonly string[] {
  const request = asker?.request ?? null;
  const config = request?.config ?? {};
  const context = request?.context ?? null;
  const { update, goto } = intent.kind === "resume" ? intent : {};
  const isOther = (given: unknown, own: unknown): boolean => given !== null && !isDeepStrictEqual(given, own ?? null);
  const checks: Readonly<Record<string, boolean>> = {
    "command.update": update !== undefined,
    "command.goto": goto !== undefined,
    assistant_id:
      intent.kind === "resume" && interrupt.assistantId !== "" && assistant.assistantId !== interrupt.assistantId,
    checkpoint: forkFrom !== null,
    config: !isDeepStrictEqual(mergeConfigs(config, withoutPlace(call.config)), config),
    context: !isDeepStrictEqual(mergeContext(context, call.context), context),
    metadata: Object.keys(call.metadata).length > 0,
    interrupt_before: isOther(call.interruptBefore, request?.interruptBefore),
    interrupt_after: isOther(call.interruptAfter, request?.interruptAfter),
    webhook: isOther(call.webhook, request?.webhook),
    notify: isOther(call.notify, request?.notify),
    webhooks: (call.webhooks ?? []).length > 0,
  };
  return Object.entries(checks).flatMap(([name, isChanged]) => (isChanged ? [name] : []));
}

/** Neither the assistant's config of today nor a header of this call comes in. */
export function withOwnMembers(built: RunRequest, { request }: Run): RunRequest {
  const { webhook: _webhook, notify: _notify, ...rest } = built;
  const { config, context, interruptBefore, interruptAfter, webhook, notify } = request;
  const receivers = { ...(webhook === undefined ? {} : { webhook }), ...(notify === undefined ? {} : { notify }) };
  return { ...rest, config, context, interruptBefore, interruptAfter, ...receivers };
}

/** Clients repeat the place of the thread in `configurable`; it has no effect there. */
const PLACE = ["thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "run_id", "assistant_id", "graph_id"];

function withoutPlace(config: JsonObject): JsonObject {
  const { configurable, ...rest } = config;
  const entries = isJsonObject(configurable ?? null) ? Object.entries(configurable as JsonObject) : [];
  const own = entries.filter(([name]) => !PLACE.includes(name));
  const kept = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return own.length === 0 ? kept : { ...kept, configurable: Object.fromEntries(own) };
}
