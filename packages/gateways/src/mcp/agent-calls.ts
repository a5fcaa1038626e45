// Agent calls: `tools/call` for the agents and for the answering tool.
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { isUuid } from "@holdpoint/base/ids.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { answerItems } from "../calls/answer-items.ts";
import type { ConfigOf } from "../calls/assistant-config.ts";
import { type Outcome, openItems } from "../calls/follow-thread.ts";
import { linkTo } from "../calls/inbox-items.ts";
import { ApiRefusal } from "../calls/own-api.ts";
import type { RunPlace } from "../calls/run-object.ts";
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import { cancelRun, type RunStart, startRun } from "../calls/start-run.ts";
import type { Elicits } from "./elicitation.ts";
import { applyAnswers, askAgain, type RepeatedCall } from "./pause-modern.ts";
import { askAndWait, type CallStream, type ElicitReplies } from "./pause-legacy.ts";
import { errorResult, follow, type Refusals, buildResult, type ToolCall } from "./tool-call.ts";
import type { Agent } from "./tools.ts";

export interface AgentCall {
  readonly args: JsonObject;
  /** Cancels the run; the call's own signal only ends the wait. */
  readonly cancelOn: AbortSignal;
  /** `_meta` of the request. */
  readonly meta: JsonObject;
  readonly elicits: Elicits;
  /** Null for the first call, and for revisions of 2025. */
  readonly repeated: RepeatedCall | null;
  /** The stream of the call; null for revisions that ask by `input_required`. */
  readonly legacy: { readonly stream: CallStream; readonly replies: ElicitReplies } | null;
  /** Called with the place of the run as soon as there is one. */
  readonly onRun: (place: RunPlace) => void;
}

const NO_REFUSALS: Refusals = new Map();

export async function callAgent(
  call: ToolCall,
  { assistantId }: Agent,
  asked: AgentCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { repeated } = asked;
  const place = repeated?.place ?? (await startRun(call.api, buildStart(assistantId, asked.args, asked.meta)));
  asked.onRun(place);
  const cancel = (): void => void cancelRun(call.api, place);
  asked.cancelOn.addEventListener("abort", cancel, { once: true });
  try {
    const answers = repeated === null ? null : await applyAnswers(call, repeated);
    const outcome = await follow(call, place);
    if (answers?.kind === "declined") return buildResult(call, outcome);
    return await finish(call, outcome, asked, answers?.refusals ?? NO_REFUSALS);
  } finally {
    asked.cancelOn.removeEventListener("abort", cancel);
  }
}

/** A result, or the question to the user of the client, for as long as the run pauses. */
export async function finish(
  call: ToolCall,
  first: Outcome,
  { elicits, legacy }: Pick<AgentCall, "elicits" | "legacy">,
  refused: Refusals,
): Promise<CallToolResult | InputRequiredResult> {
  let [outcome, refusals] = [first, refused];
  for (let round = 1; outcome.kind === "paused"; round++) {
    if (legacy === null) return (await askAgain(call, outcome, elicits, refusals)) ?? buildResult(call, outcome);
    const end = await askAndWait({ call, outcome, elicits, refusals, round }, legacy.stream, legacy.replies);
    if (end.kind === "unasked" || end.kind === "declined") break;
    refusals = end.kind === "refused" ? end.refusals : NO_REFUSALS;
    outcome = await follow(call, outcome);
  }
  return buildResult(call, outcome);
}

/**
 * Members of `_meta`: the thread, the key by which a repeated call finds its run, the choice for a paused thread.
 * @throws {ApiRefusal} for one that says nothing: the call would run elsewhere, or once more
 */
export function buildStart(assistantId: string, args: JsonObject, meta: JsonObject): RunStart {
  return {
    assistantId,
    input: args,
    threadId: readMetaText(meta, "thread_id", isUuid, "a UUID"),
    idempotencyKey: readMetaText(meta, "idempotency_key"),
    metadata: { source: "mcp" },
    streamModes: ["updates"],
    onPaused: meta["on_paused"],
  };
}

/** The answering tool: a model answers the interrupts here that it may answer. @throws {ApiRefusal} */
export async function callResume(call: ToolCall, args: JsonObject, chooseConfig: ConfigOf): Promise<CallToolResult> {
  const { thread_id: threadId, interrupt_id: wanted, answer } = args;
  if (typeof threadId !== "string")
    return errorResult("`thread_id` is missing: it is in the result of the paused call.");
  const open = await openItems(call.api, threadId);
  const named = wanted === undefined ? open : open.filter(({ id }) => id === wanted);
  const [item, other] = named;
  if (item === undefined) return errorResult("The thread has no such open interrupt. It may already be answered.");
  if (other !== undefined)
    return errorResult(`Several interrupts are open: name one. ${open.map(({ id }) => id).join(", ")}`);
  if (isForPeopleOnly(item, await chooseConfig(call.api, item.assistant_id)))
    return errorResult(
      `Only a person may answer this interrupt. A person can open it at ${linkTo(call.publicUrl, item)}`,
    );
  const [result] = await answerItems(call.api, [
    { item, resume: item.kind === "breakpoint" ? undefined : (answer ?? null) },
  ]);
  if (result === undefined) throw new Error("the inbox returned no result");
  if (!result.ok && result.code === "approvals_pending" && item.run_id !== null) {
    call.notes.push(result.reason); // a counted vote is no failure
    return buildResult(call, await follow(call, { threadId, runId: item.run_id }));
  }
  if (!result.ok) return errorResult(`${result.reason} (${result.code})`);
  return buildResult(call, await follow(call, { threadId, runId: result.runId }));
}

function readMetaText(
  meta: JsonObject,
  name: string,
  fits: (text: string) => boolean = () => true,
  what = "a text",
): string | null {
  const value = meta[name] ?? "";
  if (value === "") return null;
  if (typeof value === "string" && fits(value)) return value;
  throw new ApiRefusal(422, "invalid_request", `_meta.${name} must be ${what}.`);
}
