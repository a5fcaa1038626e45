// Remote answer: the decision of a person outside the console, through the rules of the inbox.
// Invariants:
//   - The answer is one that the item allows, in its dialect; everything else is refused with a reason.
//   - It passes the transaction of every inbox answer, in the name of the person: one of racing answers wins, and a
//     repetition under the same key is the same answer.
//   - Four eyes, exclusions and votes compare names. Where handlers of the deployment give the names, a person whom the
//     notification file does not list has only an address here, and may be the author, somebody who is excluded or has
//     voted: such a person does not answer.
import { answerAll, type Decision, recognise } from "@holdpoint/api/dialects.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { toApiError } from "@holdpoint/base/http/server/problem.ts";
import { type Ask, authorize } from "@holdpoint/server/auth/authorize.ts";
import type { AgentContext } from "@holdpoint/server/context/context.ts";
import { answerInbox } from "@holdpoint/server/inbox/answer-inbox.ts";
import { getItem } from "@holdpoint/server/inbox/inbox.ts";
import type { Caller, Interrupt } from "@holdpoint/server/model/model.ts";
import { needsVotes } from "@holdpoint/server/model/review/votes.ts";
import { type Choice, buildItemView } from "./item-view.ts";
import { parseTypedJson } from "./typed-json.ts";

export interface RemoteAnswer {
  readonly threadId: string;
  readonly interruptId: string;
  readonly choice: Choice;
  /** Reason, answer or arguments, as the person wrote them; `""` without any. */
  readonly text: string;
  /** The text is JSON of a value that the form offered. */
  readonly picked?: boolean;
  /** The notification file names the person. */
  readonly isListed: boolean;
  /** The same for a repetition of the same request. */
  readonly key: string;
}

export type RemoteOutcome =
  /** `note`: the votes still missing, if the answer counts as one of several votes. */
  | { readonly kind: "accepted"; readonly note: string | null }
  /** `closed`: the item takes no more answers. */
  | { readonly kind: "refused"; readonly reason: string; readonly closed: boolean };

const UNLISTED =
  "The rules of this question tell people apart by name, and you are not in the notification file: answer in the console.";

function comparesNames(review: Interrupt["review"]): boolean {
  return review !== null && (review.fourEyes || review.excluded.length > 0 || needsVotes(review));
}

const CLOSED = new Set([
  "interrupt_stale",
  "interrupt_not_found",
  "interrupt_unknown",
  "no_pending_interrupt",
  "thread_not_found",
]);

/** Never throws. */
export async function answerRemotely(
  agent: AgentContext,
  caller: Caller,
  answer: RemoteAnswer,
): Promise<RemoteOutcome> {
  const { threadId, interruptId, isListed, key } = answer;
  try {
    const { interrupt } = await getItem(agent, { threadId, interruptId });
    const isByHandlers = agent.access !== null && agent.access.isCurrent === undefined;
    if (isByHandlers && !isListed && comparesNames(interrupt.review))
      return { kind: "refused", reason: UNLISTED, closed: false };
    const built = buildResume(interrupt, answer);
    if (!built.ok) return { kind: "refused", reason: sentence(built.reason), closed: false };
    const ask: Ask = async (event, value) =>
      agent.access === null ? null : (await authorize(agent.access, caller, event, value)).scope;
    const call = { caller, scope: null, ask, idempotencyKey: key };
    const [result] = await answerInbox(agent, call, [{ threadId, interruptId, resume: built.value }]);
    if (result !== undefined && "refusal" in result) throw result.refusal;
    return { kind: "accepted", note: result !== undefined && "pending" in result ? result.pending.message : null };
  } catch (error) {
    return toRefusedOutcome(error instanceof ApiError ? error : toApiError(error, agent.log));
  }
}

/** @throws {unknown} an error of another kind */
export function toRefusedOutcome(error: unknown): RemoteOutcome {
  if (!(error instanceof ApiError)) throw error;
  return { kind: "refused", reason: error.message, closed: CLOSED.has(error.code) };
}

type Built = { readonly ok: true; readonly value: Json | undefined } | { readonly ok: false; readonly reason: string };

function buildResume(item: Interrupt, { choice, text, picked = false }: RemoteAnswer): Built {
  if (choice === "continue" || item.kind === "breakpoint") {
    if (choice === "continue" && item.kind === "breakpoint") return { ok: true, value: undefined };
    return { ok: false, reason: "the question does not allow this decision" };
  }
  const decision = buildDecision(item, choice, { text, picked });
  return typeof decision === "string"
    ? { ok: false, reason: decision }
    : answerAll(recognise(item.value, item.responseSchema), decision);
}

/** @returns the decision, or the reason why there is none */
function buildDecision(
  item: Interrupt,
  choice: Exclude<Choice, "continue">,
  { text, picked }: Required<Pick<RemoteAnswer, "text" | "picked">>,
): Decision | string {
  if (choice === "approve" || choice === "ignore") return { type: choice };
  if (choice === "reject") return text.trim() === "" ? { type: "reject" } : { type: "reject", message: text };
  const { plainText, editable } = buildItemView(item);
  if (choice === "respond" && plainText && !picked) return { type: "respond", value: text };
  if (choice === "edit" && editable === undefined) return "the arguments cannot be edited";
  try {
    const value = parseTypedJson(text);
    return choice === "edit" ? { type: "edit", args: value } : { type: "respond", value };
  } catch (error) {
    return `the text is not JSON: ${error instanceof Error ? error.message : "unreadable"}`;
  }
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
