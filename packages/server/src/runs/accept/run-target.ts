// Run target: the point of the thread where a run begins, and the answers and breakpoint that it ends.
import { isForPeopleOnly } from "@holdpoint/api/person-only.ts";
import { ApiError } from "@holdpoint/base/api-error.ts";
import { answererRefusal, requireAssignable } from "../../interrupts/assignments.ts";
import { acceptAnswers, olderCheckpoint } from "../../interrupts/resume-rules.ts";
import { type Intent, atBreakpoint, gotoTargets, withoutEnd } from "../../interrupts/run-intent.ts";
import { type ChooseAnswerer, settleVotes, type SettledAnswers } from "../../interrupts/settle-votes.ts";
import { openInterrupts } from "../../interrupts/problem-details.ts";
import { hasReviewRules, applyRules } from "../../model/review/review-rules.ts";
import { reviewRefusal } from "../../model/review/reviewers.ts";
import { countVote } from "../../model/review/votes.ts";
import type { Assistant, Caller, Interrupt, Thread } from "../../model/model.ts";
import type { CheckpointTx, InterruptTx, RunTx, Tx } from "../../ports/ports.ts";
import { findPassed } from "../../threads/behind-review.ts";
import { requireOnlyAnswer } from "./only-answer.ts";
import type { RunCall } from "./run-request.ts";
import type { PlacedRequest } from "./run-start.ts";

export interface Target extends SettledAnswers {
  /** The intent in view of the thread: a bare value at a breakpoint continues it. */
  readonly intent: Intent;
  /** Checkpoint of a fork; null if the run continues the thread. */
  readonly forkFrom: string | null;
  readonly breakpoint: Interrupt | null;
  /** The items at the pause where the run begins. */
  readonly waiting: readonly Interrupt[];
  /** The run continues beside, or behind, a question or breakpoint with review rules. */
  readonly isReviewed: boolean;
  /** The breakpoint that the run goes past without deciding it, with rules or without. */
  readonly passed: Interrupt | null;
  /** The run answers a question, votes on it, or continues a breakpoint, also one that was given up. */
  readonly decides: boolean;
}

/**
 * @param withoutLost drops votes of those who may not answer any more
 * @throws {ApiError} for a checkpoint that does not exist, and for every refused answer
 */
export async function chooseTarget(
  tx: InterruptTx & RunTx & CheckpointTx,
  thread: Thread,
  { caller, start: { call }, intent: given, snapshot, at, waits }: PlacedRequest,
  withoutLost: (items: readonly Interrupt[]) => Promise<readonly Interrupt[]>,
): Promise<Target> {
  const { known, writtenBy } = snapshot;
  const { threadId } = thread;
  const forkFrom = olderCheckpoint(call, thread, known, given);
  const intent = forkFrom === null && thread.pause === "breakpoint" ? atBreakpoint(given) : given;
  if (call.afterSeconds !== 0) refuseDelayedAnswer(thread, intent);
  if (call.subgraph !== null) await requireCheckpoint(tx, threadId, call.subgraph.ns, call.subgraph.checkpointId);
  if (forkFrom !== null && writtenBy === null)
    throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${forkFrom}.`);
  const passing = { intent, forkFrom, caller, call, assistant: snapshot.assistant, at };
  const settled = intent.kind === "resume" ? await settle(tx, thread, { ...passing, intent, known }) : NO_ANSWERS;
  const asked = await listAsked(tx, thread, { call, known });
  const open = waits || isWayAround(intent, forkFrom) ? [] : asked;
  const forked = forkFrom === null ? [] : (settled.answers?.interrupts ?? []);
  const reviewed = [...forked, ...open].filter(({ review }) => review !== null);
  for (const interrupt of reviewed) {
    const asker = await tx.run(threadId, interrupt.runId);
    requireOnlyAnswer({ ...passing, interrupt, asker });
  }
  const stored = thread.pause === "breakpoint" ? await tx.openBreakpoint(threadId) : null;
  const [held = null] = stored === null ? [] : await withoutLost([stored]);
  const breakpoint = held === null ? null : underOwnRules(held, thread, { assistant: snapshot.assistant, at });
  if (call.atBreakpoint !== undefined && breakpoint?.interruptId !== call.atBreakpoint) {
    const detail = `The thread is no longer paused at the breakpoint ${call.atBreakpoint}.`;
    throw new ApiError("interrupt_stale", detail);
  }
  if (call.via === "inbox" && breakpoint !== null) requireAssignable(breakpoint, caller, at);
  const counted =
    breakpoint === null || intent.kind === "resume" ? settled : await passBreakpoint(tx, breakpoint, passing);
  const isReviewed = reviewed.length > 0 || (breakpoint !== null && breakpoint.review !== null);
  const waiting = breakpoint === null ? asked : [...asked, breakpoint];
  const goesAround = isWayAround(intent, forkFrom);
  const continuesOpen = breakpoint !== null && forkFrom === null;
  const passed = continuesOpen ? null : await findPassed(tx, thread, { intent, forkFrom });
  const decides = intent.kind === "resume" || passed !== null || (breakpoint !== null && !goesAround);
  return { intent, forkFrom, breakpoint, waiting, isReviewed: isReviewed && !goesAround, passed, decides, ...counted };
}

/** A breakpoint that no run reached, but a state that somebody wrote: the assistant that would continue it has the rules. */
function underOwnRules(
  breakpoint: Interrupt,
  { startedBy }: Pick<Thread, "startedBy">,
  { assistant: { assistantId, metadata }, at }: Pick<Answering, "assistant" | "at">,
): Interrupt {
  if (breakpoint.runId !== "" || breakpoint.review !== null || !hasReviewRules(metadata)) return breakpoint;
  return applyRules(metadata, { ...breakpoint, assistantId }, { startedBy, at });
}

/** New work, and what has a right of its own: it answers nothing (docs/reference/interrupts.md, ways around a question). */
function isWayAround(intent: Intent, forkFrom: string | null): boolean {
  if (intent.kind === "resume") return false;
  if (intent.kind === "input" || intent.kind === "end_thread" || forkFrom !== null) return true;
  return intent.kind === "command" && withoutEnd(gotoTargets(intent.goto)).length > 0;
}

/**
 * Questions at the pause where the run begins. A run that displaces the active one begins at the pause before that: what
 * the active run answers is asked there.
 */
async function listAsked(
  tx: Pick<Tx, "activeRuns">,
  thread: Thread,
  { call, known }: Pick<Answering, "call" | "known">,
): Promise<readonly Interrupt[]> {
  const displaces = call.multitaskStrategy === "interrupt" || call.multitaskStrategy === "rollback";
  if (thread.status !== "busy" || !displaces || known.length === 0) return openInterrupts(thread, known);
  const active = new Set((await tx.activeRuns(thread.threadId)).map(({ runId }) => runId));
  return known.filter(({ state, answer }) => state === "open" || active.has(answer?.runId ?? ""));
}

const NO_ANSWERS: SettledAnswers = { answers: null, voted: [], changed: [] };

interface Answering {
  readonly intent: Extract<Intent, { readonly kind: "resume" }>;
  readonly forkFrom: string | null;
  readonly caller: Caller;
  readonly call: RunCall;
  readonly known: readonly Interrupt[];
  readonly assistant: Assistant;
  readonly at: number;
}

export function answererFor({ answerers }: Pick<RunCall, "answerers">, caller: Caller): ChooseAnswerer {
  return ({ interruptId }) => answerers?.get(interruptId) ?? caller;
}

/** Gateways for the models of other programs. */
const PROGRAMS: ReadonlySet<string> = new Set(["mcp", "a2a"]);

/** @throws {ApiError} for every refused answer, and `forbidden` */
async function settle(
  tx: Pick<Tx, "run">,
  thread: Thread,
  { intent, forkFrom, caller, call, known, assistant, at }: Answering,
): Promise<SettledAnswers> {
  const { via } = call;
  const chooseAnswerer = answererFor(call, caller);
  const refusal = answererRefusal(chooseAnswerer, via, at);
  const accepted = acceptAnswers(thread, known, intent.resume, {
    olderCheckpoint: forkFrom,
    fork: intent.fork === true,
    refusal,
  });
  if (via === "deadline") return { answers: accepted, voted: [], changed: [] }; // the rules of the interrupt have the default answer
  const byProgram = PROGRAMS.has(caller.origin?.via ?? "") ? accepted.interrupts : [];
  for (const interrupt of byProgram) {
    const asker = await tx.run(thread.threadId, interrupt.runId);
    if (isForPeopleOnly(interrupt, asker?.request.config ?? assistant.config)) {
      const detail = `Only a person may answer the interrupt ${interrupt.interruptId}.`;
      throw new ApiError("forbidden", detail, { interrupt_id: interrupt.interruptId });
    }
  }
  return forkFrom === null ? settleVotes(accepted, chooseAnswerer, at) : { answers: accepted, voted: [], changed: [] };
}

/**
 * A breakpoint of an assistant with review rules: whoever continues it must be a reviewer, and so many must agree.
 * @throws {ApiError} for a caller whom the rules exclude
 */
async function passBreakpoint(
  tx: Pick<Tx, "run">,
  breakpoint: Interrupt,
  { intent, forkFrom, caller, call, assistant, at }: Omit<Answering, "intent" | "known"> & { readonly intent: Intent },
): Promise<SettledAnswers> {
  const { review, threadId, runId } = breakpoint;
  const continues = (intent.kind === "continue" || intent.kind === "command") && forkFrom === null;
  const update = intent.kind === "command" ? intent.update : undefined;
  if (review === null || !continues || isWayAround(intent, forkFrom)) return NO_ANSWERS;
  const asker = runId === "" ? null : await tx.run(threadId, runId);
  const answer = { kind: "resume", resume: null, ...(update === undefined ? {} : { update }) } as const;
  requireOnlyAnswer({ call, intent: answer, assistant, forkFrom, interrupt: breakpoint, asker });
  const refusal = reviewRefusal(breakpoint, caller);
  if (refusal !== null) throw refusal;
  const { interrupt, decided } = countVote(breakpoint, null, caller, at);
  return decided
    ? NO_ANSWERS
    : { answers: null, voted: [interrupt], changed: interrupt === breakpoint ? [] : [interrupt] };
}

/** The human waits that the run ends. */
export function answeredWaits({ answers, breakpoint }: Target, continuesPause: boolean): readonly Interrupt[] {
  return answers?.interrupts ?? (continuesPause && breakpoint !== null ? [breakpoint] : []);
}

/** @throws {ApiError} `checkpoint_not_found` */
async function requireCheckpoint(
  tx: Pick<CheckpointTx, "checkpoint">,
  threadId: string,
  ns: string,
  checkpointId: string,
): Promise<void> {
  if ((await tx.checkpoint(threadId, ns, checkpointId)) !== null) return;
  throw new ApiError("checkpoint_not_found", `The thread has no checkpoint ${checkpointId} in "${ns}".`);
}

/** A run that ends a pause claims the thread at acceptance, so it cannot start later. */
function refuseDelayedAnswer(thread: Thread, intent: Intent): void {
  const continues = thread.status === "interrupted" && intent.kind === "continue";
  if (intent.kind !== "resume" && !continues) return;
  throw new ApiError("answer_delayed", "A run that answers or continues a pause cannot have after_seconds.");
}
