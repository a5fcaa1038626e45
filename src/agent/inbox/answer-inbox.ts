// Inbox answers: many answers in one call, each with a result of its own.
// Invariants:
//   answer-inbox.1. All answers of one thread are given in one run, or none of them is.
//   answer-inbox.2. What is refused on one thread changes nothing on another.
//   answer-inbox.3. Every answer gets a result: the run that took it, or the problem.
//   answer-inbox.4. The run goes on as the one that asked did: same assistant, config, context and breakpoints.
import { ApiError } from "../../base/api-error.ts";
import { contentHash } from "../../base/ids.ts";
import type { Json } from "../../base/json/json.ts";
import { apiErrorOf } from "../../http/server/problem.ts";
import { toAccessValue } from "../auth/handler-value.ts";
import type { Ask } from "../auth/authorize.ts";
import type { AgentContext } from "../context.ts";
import { checkClaims } from "../interrupts/claims.ts";
import type { Caller, Interrupt, Run, Scope, Thread } from "../model/model.ts";
import type { Tx } from "../ports/ports.ts";
import { AT_OPEN_PAUSE, acceptAnswers } from "../interrupts/resume-rules.ts";
import type { RunCall } from "../runs/accept/run-request.ts";
import { continuation } from "../runs/accept/continuation.ts";
import { inScope } from "../auth/scope.ts";
import { startRun } from "../runs/accept/start-run.ts";
import { requireThread, threadNotFound } from "../threads/find-thread.ts";

export interface InboxAnswer {
  readonly threadId: string;
  readonly interruptId: string;
  /** Undefined for a breakpoint, which is not answered but passed. */
  readonly resume: Json | undefined;
}

export type AnswerResult =
  | { readonly answer: InboxAnswer; readonly run: Run }
  | { readonly answer: InboxAnswer; readonly refusal: ApiError };

/** @param idempotencyKey of the call; each thread's run has one of its own, made from it. */
export async function answerInbox(
  agent: AgentContext,
  caller: Caller,
  permission: { readonly scope: Scope; readonly ask: Ask },
  answers: readonly InboxAnswer[],
  idempotencyKey: string | null,
): Promise<readonly AnswerResult[]> {
  const threads = [...Map.groupBy(answers, ({ threadId }) => threadId).values()];
  const results = await Promise.all(
    threads.map((list) => answerThread(agent, caller, permission, list, idempotencyKey)),
  );
  const byAnswer = new Map(results.flat().map((result) => [result.answer, result]));
  return answers.flatMap((answer) => byAnswer.get(answer) ?? []); // answer-inbox.3, in the order of the call
}

/** answer-inbox.1. */
async function answerThread(
  agent: AgentContext,
  caller: Caller,
  permission: { readonly scope: Scope; readonly ask: Ask },
  answers: readonly InboxAnswer[],
  idempotencyKey: string | null,
): Promise<readonly AnswerResult[]> {
  const threadId = answers[0]?.threadId ?? "";
  let looked: Looked | null = null;
  try {
    const scope = await scopeOf(permission, threadId, answers);
    looked = await agent.storage.transaction((tx) => look(tx, scope, threadId, answers));
    for (const answer of answers) checkShape(looked, answer, answers);
    const call = callOf(looked, answers, scope, idempotencyKey);
    const { run } = await startRun(agent, caller, { threadId, call });
    return answers.map((answer) => ({ answer, run }));
  } catch (error) {
    const found = looked;
    return answers.map((answer) => ({
      answer,
      refusal:
        found !== null && error instanceof ApiError
          ? ownRefusal(agent, caller, found, answer, answers, error)
          : apiErrorOf(error, agent.log), // answer-inbox.2: a defect that one thread brings out is told there
    }));
  }
}

/** Handlers are asked about each thread's run as they are about a run made by the API. @throws {ApiError} `forbidden` */
async function scopeOf(
  { scope, ask }: { readonly scope: Scope; readonly ask: Ask },
  threadId: string,
  answers: readonly InboxAnswer[],
): Promise<Scope> {
  const resume = Object.fromEntries(answers.map((answer) => [answer.interruptId, answer.resume ?? null]));
  const parts = { ids: { thread_id: threadId }, query: {}, body: { command: { resume } } };
  const own = await ask("threads:create_run", toAccessValue("threads:create_run", parts));
  return scope === null ? own : [...scope, ...(own ?? [])];
}

interface Looked {
  readonly thread: Thread;
  /** Every question of the thread. */
  readonly known: readonly Interrupt[];
  readonly items: ReadonlyMap<string, Interrupt>;
  /** The run that asked, as far as it is still on record. */
  readonly asker: Run | null;
}

async function look(tx: Tx, scope: Scope, threadId: string, answers: readonly InboxAnswer[]): Promise<Looked> {
  const thread = await requireThread(tx, threadId);
  if (!inScope(thread.metadata, scope)) throw threadNotFound(threadId);
  const items = new Map<string, Interrupt>();
  for (const { interruptId } of answers) {
    const item = await tx.interrupt(threadId, interruptId);
    if (item !== null) items.set(interruptId, item);
  }
  const first = items.values().next().value;
  const asker = first === undefined ? null : await tx.run(threadId, first.runId);
  return { thread, known: await tx.interrupts(threadId, null), items, asker };
}

/** @throws {ApiError} `interrupt_unknown`, `invalid_request` */
function checkShape({ items }: Looked, answer: InboxAnswer, all: readonly InboxAnswer[]): void {
  const { interruptId, resume } = answer;
  const item = items.get(interruptId);
  if (item === undefined) {
    throw new ApiError("interrupt_unknown", `No interrupt ${interruptId} was ever asked on this thread.`);
  }
  const wrong = (detail: string): ApiError => new ApiError("invalid_request", detail);
  if (all.filter((other) => other.interruptId === interruptId).length > 1) {
    throw wrong(`Interrupt ${interruptId} has several answers in this call.`);
  }
  if (item.kind === "breakpoint" && resume !== undefined) {
    throw wrong("A breakpoint asks nothing: leave `resume` out to go on.");
  }
  if (item.kind !== "breakpoint" && resume === undefined) throw wrong("`resume` is missing: it is the answer.");
  if (item.kind === "breakpoint" && all.length > 1) throw wrong("A thread at a breakpoint has nothing else to answer.");
}

function callOf(looked: Looked, answers: readonly InboxAnswer[], scope: Scope, idempotencyKey: string | null): RunCall {
  const { threadId, interruptId } = answers[0] as InboxAnswer;
  const item = looked.items.get(interruptId) as Interrupt;
  const map = answers.map((answer): [string, Json] => [answer.interruptId, answer.resume ?? null]);
  const key = idempotencyKey === null ? null : `inbox ${threadId} ${idempotencyKey}`;
  return {
    ...continuation(looked.asker, item.assistantId || (looked.thread.assistantId ?? item.graphId)),
    ...(item.kind === "breakpoint"
      ? { command: null, atBreakpoint: interruptId }
      : { command: { resume: Object.fromEntries(map) } }),
    reach: { threads: scope, assistants: null }, // the thread is theirs, so its assistant serves them already
    via: "inbox",
    idempotencyKey: key,
    requestHash: key === null ? "" : contentHash(JSON.stringify([item.kind === "breakpoint", map])),
  };
}

/** Which of the answers is to blame: each is looked at alone. Those that are not are told so. */
function ownRefusal(
  agent: AgentContext,
  caller: Caller,
  looked: Looked,
  answer: InboxAnswer,
  all: readonly InboxAnswer[],
  thrown: ApiError,
): ApiError {
  if (thrown.status >= 500 || thrown.code === "idempotency_key_reused") return thrown; // no single answer's fault
  const own = blame(agent, caller, looked, answer, all);
  if (own !== null) return own;
  const others = all.some((other) => other !== answer && blame(agent, caller, looked, other, all) !== null);
  return others
    ? new ApiError("sibling_refused", "Another answer for this thread was refused, so none of them was taken.")
    : thrown;
}

function blame(
  agent: AgentContext,
  caller: Caller,
  looked: Looked,
  answer: InboxAnswer,
  all: readonly InboxAnswer[],
): ApiError | null {
  try {
    checkShape(looked, answer, all);
    const item = looked.items.get(answer.interruptId) ?? null;
    if (item?.kind === "breakpoint") return null;
    checkClaims([item], caller, agent.clock.now());
    acceptAnswers(looked.thread, looked.known, { [answer.interruptId]: answer.resume ?? null }, AT_OPEN_PAUSE);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
