// Tool call: one call of an agent's tool, from the start of the run to a result, over any number of pauses.
// Invariants:
//   - A pause ends the call with a result, unless the client can ask its user.
//   - An answer that arrives elsewhere (inbox, another client) continues the call; its result says who answered.
//   - A form is answered only by the caller to whom the server has shown it.
//   - Cancellation of the call cancels the run in progress. A paused thread stays paused.
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { type Answered, answerItems, isForOthers, isStillOpen, type ItemAnswer } from "../calls/answer-items.ts";
import { readFormAnswer } from "../calls/flat-form.ts";
import { type Outcome, followThread } from "../calls/follow-thread.ts";
import type { RunPlace } from "../calls/run-object.ts";
import type { OwnApi } from "../calls/own-api.ts";
import { elsewhere, findItem, linkTo } from "../calls/inbox-items.ts";
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import { type AskedForms, NOT_ASKED } from "./asked-forms.ts";
import { callResult } from "./call-result.ts";
import { type Elicited, type ElicitParams, elicitParams, type Elicits } from "./elicitation.ts";

export interface ToolCall {
  readonly api: OwnApi;
  readonly asked: AskedForms;
  readonly config: Json;
  /** Address of the console, for links to items. */
  readonly publicUrl: string;
  readonly signal: AbortSignal;
  /** Ends a wait for a person: the call returns the paused run. */
  readonly stopping: AbortSignal;
  /** Lines for the result. */
  readonly notes: string[];
  /** Items that only others can answer now: the user of the client is not asked again. */
  readonly forOthers: Set<string>;
}

export function buildResult(call: ToolCall, outcome: Outcome): CallToolResult {
  return callResult(outcome, {
    notes: call.notes,
    publicUrl: call.publicUrl,
    linkTo: (item) => linkTo(call.publicUrl, item),
    isForPeopleOnly: (item) => isForPeopleOnly(item, call.config),
  });
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

export function follow({ api, signal }: ToolCall, place: RunPlace): Promise<Outcome> {
  return followThread(api, place, signal);
}

/** Reasons of refused answers, by interrupt id: the items are still open. */
export type Refusals = ReadonlyMap<string, string>;

/** The request to the user of the client about an item; null if this client cannot ask it. */
export async function paramsFor(
  call: ToolCall,
  item: InboxItem,
  elicits: Elicits,
  refusals: Refusals,
): Promise<ElicitParams | null> {
  if (call.forOthers.has(item.id)) return null;
  const params = elicitParams(item, {
    elicits,
    linkTo: (one) => linkTo(call.publicUrl, one),
    isForPeopleOnly: (one) => isForPeopleOnly(one, call.config),
    refused: refusals.get(item.id) ?? null,
  });
  if (params?.mode === "form") await call.asked.note(item.id);
  return params;
}

/** Answers from the user of the client. An item that is answered already adds a note. */
export async function answerElicited(
  call: ToolCall,
  threadId: string,
  elicited: ReadonlyMap<string, Elicited>,
): Promise<Refusals> {
  const refusals = new Map<string, string>();
  const answers: ItemAnswer[] = [];
  for (const [interruptId, { action, content }] of elicited) {
    const item = action === "accept" ? await findItem(call.api, threadId, interruptId) : null;
    if (item === null) continue;
    if (item.state !== "open") {
      call.notes.push(elsewhere(item));
      continue;
    }
    const answer = (await call.asked.has(interruptId))
      ? readFormAnswer(item, content)
      : { ok: false as const, reason: NOT_ASKED };
    if (answer.ok) answers.push({ item, resume: answer.resume });
    else refusals.set(interruptId, answer.reason);
  }
  if (answers.length === 0) return refusals;
  const results = await answerItems(call.api, answers);
  for (const [index, result] of results.entries()) await noteRefusal(call, answers[index]?.item, result, refusals);
  return refusals;
}

async function noteRefusal(
  call: ToolCall,
  item: ItemAnswer["item"] | undefined,
  result: Answered,
  refusals: Map<string, string>,
): Promise<void> {
  if (result.ok || item === undefined) return;
  if (isForOthers(result)) {
    call.forOthers.add(item.id);
    return void call.notes.push(result.reason);
  }
  if (isStillOpen(result)) return void refusals.set(item.id, result.reason);
  const now = await findItem(call.api, item.thread_id, item.id);
  call.notes.push(now === null || now.state === "open" ? result.reason : elsewhere(now));
}
