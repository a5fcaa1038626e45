// Inbox answers: several answers in one call, each with its own result.
// Invariants:
//   - One run takes all answers of a thread, or none.
//   - A refusal on one thread does not affect the others.
//   - Every answer gets a result: the run or the problem.
//   - The new run keeps the assistant, config, context and breakpoints of the paused run.
//   - A breakpoint that no run reached, in a state that somebody wrote, begins the first run of an assistant: the
//     caller is asked for that one. Elsewhere access to the thread implies access to its assistant.
import type { Remember } from "@holdpoint/api/policies.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { contentHash } from "@holdpoint/base/ids.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import { toApiError } from "@holdpoint/base/http/server/problem.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import type { Ask } from "../auth/authorize.ts";
import { inScope } from "../auth/scope.ts";
import type { AgentContext } from "../context/context.ts";
import { answererRefusal } from "../interrupts/assignments.ts";
import { RefusedAnswers } from "../interrupts/problem-details.ts";
import { pendingProblem } from "../interrupts/settle-votes.ts";
import { buildRefusals } from "../interrupts/resume-rules.ts";
import type { Caller, Interrupt, Policy, Run, Scope, Thread } from "../model/model.ts";
import { readRemembered } from "../policies/remember.ts";
import { signPolicy, storePolicies } from "../policies/write-policy.ts";
import type { AuditTx, PolicyTx, Tx } from "../ports/ports.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { continuation } from "../runs/accept/continuation.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { requireThread, threadNotFound } from "../threads/find-thread.ts";

export interface InboxAnswer {
  readonly threadId: string;
  readonly interruptId: string;
  /** Undefined for a breakpoint, which only continues. */
  readonly resume: Json | undefined;
  /** Also a policy for later questions; null and absent: none. */
  readonly remember?: Remember | null;
}

export type AnswerResult =
  | { readonly answer: InboxAnswer; readonly run: Run }
  /** Counted as a vote; the problem names the missing votes. */
  | { readonly answer: InboxAnswer; readonly pending: ApiError }
  | { readonly answer: InboxAnswer; readonly refusal: ApiError };

/** The caller of the inbox, and its permissions. */
export interface InboxCall {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly ask: Ask;
  /** Key of the whole call. Each run gets a key derived from it. */
  readonly idempotencyKey: string | null;
}

export async function answerInbox(
  agent: AgentContext,
  call: InboxCall,
  answers: readonly InboxAnswer[],
): Promise<readonly AnswerResult[]> {
  const threads = [...Map.groupBy(answers, ({ threadId }) => threadId).values()];
  const results = await Promise.all(threads.map((list) => answerThread(agent, call, list)));
  const byAnswer = new Map(results.flat().map((result) => [result.answer, result]));
  return answers.flatMap((answer) => byAnswer.get(answer) ?? []); // in the order of the call
}

async function answerThread(
  agent: AgentContext,
  inboxCall: InboxCall,
  answers: readonly InboxAnswer[],
): Promise<readonly AnswerResult[]> {
  const { caller } = inboxCall;
  const threadId = answers[0]?.threadId ?? "";
  try {
    const scope = await chooseScope(inboxCall, threadId, answers, null);
    const snapshot = await agent.storage.transaction((tx) => readSnapshot(tx, scope, threadId, answers));
    refuseMalformed(snapshot, answers, caller, agent.clock.now());
    const assistantId = findFirstAssistant(snapshot);
    if (assistantId !== null) await chooseScope(inboxCall, threadId, answers, assistantId);
    const policies = await remembered(agent, inboxCall, { snapshot, answers, reach: scope });
    const call = resumeCall(snapshot, answers, scope, inboxCall.idempotencyKey);
    const answered = (tx: AuditTx & PolicyTx): Promise<void> => storePolicies(tx, policies, { caller, via: "inbox" });
    const { run, voted } = await startRun(agent, caller, { threadId, call, answered });
    const pending = new Map(voted.map((one) => [one.interruptId, pendingProblem(one)]));
    return answers.map((answer) => toResult(answer, run, pending.get(answer.interruptId)));
  } catch (error) {
    // an internal error on one thread is a result of that thread
    const refusal = error instanceof ApiError ? error : toApiError(error, agent.log);
    return answers.map((answer) =>
      refusal.code === "approvals_pending"
        ? { answer, pending: refusalFor(answer, refusal) }
        : { answer, refusal: refusalFor(answer, refusal) },
    );
  }
}

function toResult(answer: InboxAnswer, run: Run, pending: ApiError | undefined): AnswerResult {
  return pending === undefined ? { answer, run } : { answer, pending };
}

/** A refusal names the answers that caused it; the others get `sibling_refused`. */
function refusalFor({ interruptId }: InboxAnswer, error: ApiError): ApiError {
  if (!(error instanceof RefusedAnswers)) return error;
  const own = error.byInterrupt.get(interruptId);
  return own ?? new ApiError("sibling_refused", "Another answer for this thread was refused, so none was accepted.");
}

/** Handlers authorize the run of each thread like a run created by the API. @throws {ApiError} `forbidden` */
async function chooseScope(
  { scope, ask }: InboxCall,
  threadId: string,
  answers: readonly InboxAnswer[],
  assistantId: string | null,
): Promise<Scope> {
  const resume = Object.fromEntries(answers.map((answer) => [answer.interruptId, answer.resume ?? null]));
  const parts = { ids: { thread_id: threadId }, query: {}, body: { assistant_id: assistantId, command: { resume } } };
  const own = await ask("threads:answer", toAccessValue("threads:answer", parts));
  return scope === null ? own : [...scope, ...(own ?? [])];
}

/** @returns null if a run asked */
function findFirstAssistant({ items }: Pick<ThreadSnapshot, "items">): string | null {
  const written = [...items.values()].find(({ runId }) => runId === "");
  return written === undefined ? null : written.assistantId || written.graphId;
}

interface ThreadSnapshot {
  readonly thread: Thread;
  /** All interrupts of the thread. */
  readonly known: readonly Interrupt[];
  readonly items: ReadonlyMap<string, Interrupt>;
  /** The paused run, if it still exists. */
  readonly pausedRun: Run | null;
}

async function readSnapshot(
  tx: Pick<Tx, "thread" | "interrupt" | "interrupts" | "run">,
  scope: Scope,
  threadId: string,
  answers: readonly InboxAnswer[],
): Promise<ThreadSnapshot> {
  const thread = await requireThread(tx, threadId);
  if (!inScope(thread.metadata, scope)) throw threadNotFound(threadId);
  const items = new Map<string, Interrupt>();
  for (const { interruptId } of answers) {
    const item = await tx.interrupt(threadId, interruptId);
    if (item !== null) items.set(interruptId, item);
  }
  const first = items.values().next().value;
  const pausedRun = first === undefined ? null : await tx.run(threadId, first.runId);
  return { thread, known: await tx.interrupts(threadId, null), items, pausedRun };
}

/**
 * Checks the form of every answer. If one is malformed, the others get their own refusals too.
 * @throws {RefusedAnswers} `interrupt_unknown`, `invalid_request`
 */
function refuseMalformed(
  { thread, known, items }: ThreadSnapshot,
  answers: readonly InboxAnswer[],
  caller: Caller,
  at: number,
): void {
  const refusals = new Map<string, ApiError>();
  for (const answer of answers) {
    const malformed = malformedRefusal(items.get(answer.interruptId), answer, answers);
    if (malformed !== null) refusals.set(answer.interruptId, malformed);
  }
  const [first] = refusals.values();
  if (first === undefined) return;
  const wellFormed = answers.filter(({ interruptId }) => !refusals.has(interruptId));
  const resume = Object.fromEntries(wellFormed.map((answer) => [answer.interruptId, answer.resume ?? null]));
  const target = {
    olderCheckpoint: null,
    fork: false,
    refusal: answererRefusal(() => caller, "inbox", at),
  };
  const others = buildRefusals(thread, known, resume, target).byInterrupt;
  throw new RefusedAnswers(first, new Map([...refusals, ...others]));
}

function malformedRefusal(
  item: Interrupt | undefined,
  { interruptId, resume }: InboxAnswer,
  all: readonly InboxAnswer[],
): ApiError | null {
  if (item === undefined) {
    return new ApiError("interrupt_unknown", `This thread has no interrupt ${interruptId}.`);
  }
  const wrong = (detail: string): ApiError => new ApiError("invalid_request", detail);
  if (all.filter((other) => other.interruptId === interruptId).length > 1) {
    return wrong(`Interrupt ${interruptId} has several answers in this call.`);
  }
  if (item.kind !== "breakpoint") return resume === undefined ? wrong("`resume` is missing: it is the answer.") : null;
  if (resume !== undefined) return wrong("A breakpoint takes no answer: leave `resume` out to continue.");
  return all.length > 1 ? wrong("A thread paused at a breakpoint has nothing else to answer.") : null;
}

/** The policies of the answers, signed by the caller. @throws {RefusedAnswers} `policy_invalid`, `forbidden` */
async function remembered(
  agent: AgentContext,
  { caller, ask }: InboxCall,
  {
    snapshot: { thread, items },
    answers,
    reach,
  }: { readonly snapshot: ThreadSnapshot; readonly answers: readonly InboxAnswer[]; readonly reach: Scope },
): Promise<readonly Policy[]> {
  const policies: Policy[] = [];
  for (const { interruptId, resume, remember = null } of answers) {
    const item = items.get(interruptId);
    if (remember === null || item === undefined) continue;
    try {
      await ask("policies:create", { thread_id: thread.threadId });
      const rule = readRemembered(remember, resume, { item, metadata: thread.metadata, now: agent.clock.now() });
      policies.push(await signPolicy(agent, { caller, ask, reach }, rule));
    } catch (error) {
      throw error instanceof ApiError ? new RefusedAnswers(error, new Map([[interruptId, error]])) : error;
    }
  }
  return policies;
}

function resumeCall(
  { thread, items, pausedRun }: ThreadSnapshot,
  answers: readonly InboxAnswer[],
  scope: Scope,
  idempotencyKey: string | null,
): RunCall {
  const { threadId, interruptId } = answers[0] as InboxAnswer;
  const item = items.get(interruptId) as Interrupt;
  const map = answers.map((answer): [string, Json] => [answer.interruptId, answer.resume ?? null]);
  const rules = answers.flatMap(({ remember = null }) => (remember === null ? [] : [remember]));
  const key = idempotencyKey === null ? null : `inbox ${threadId} ${idempotencyKey}`;
  return {
    ...continuation(pausedRun, item.assistantId || (thread.assistantId ?? item.graphId)),
    ...(item.kind === "breakpoint"
      ? { command: null, atBreakpoint: interruptId }
      : { command: { resume: Object.fromEntries(map) } }),
    reach: { threads: scope, assistants: null }, // access to the thread implies access to its assistant
    via: "inbox",
    idempotencyKey: key,
    requestHash: key === null ? "" : contentHash(JSON.stringify([item.kind === "breakpoint", map, ...rules])),
  };
}
