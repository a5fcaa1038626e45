// Interrupt rows at the end of a run: which interrupts are open after a pause, and after any other end. Pure.
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import type { AnswerFailure, AuditEntry, EndedBy, ErrorInfo, Interrupt, PauseKind, Run } from "../model/model.ts";
import type { OpenInterrupt, UnusedAnswer } from "../ports/ports.ts";
import { summarise } from "../wire/interrupt-summary.ts";
import { excludeAuthors, lostVotes, withoutVotes } from "../model/review/four-eyes.ts";
import { buildReview, applyRules } from "../model/review/review-rules.ts";
import { answerSchema } from "./answer-schema.ts";
import { findAskedBefore, interruptKey } from "./asked-before.ts";
import { buildBreakpoint } from "./breakpoint.ts";
import { buildDeadline } from "./deadline.ts";
import { readPriority } from "./priority.ts";

/** End of a run as the graph produced it, or as a cancellation imposed it. */
export interface RunOutcome {
  readonly endedBy: EndedBy;
  readonly pause: PauseKind | null;
  readonly error: ErrorInfo | null;
  /** The graph rejected an answer, so its interrupt is open again. */
  readonly answerRefused?: boolean;
  /** The state refused the input, so nothing of the run stays. */
  readonly inputRefused?: boolean;
  readonly interrupts: readonly OpenInterrupt[];
  /** Nodes held back by a breakpoint. */
  readonly next: readonly string[];
}

export function isCancellation(endedBy: EndedBy): boolean {
  return endedBy === "cancel" || endedBy === "rollback";
}

export interface InterruptChanges {
  readonly changed: readonly Interrupt[];
  readonly open: readonly Interrupt[];
  readonly audit: readonly AuditEntry[];
}

/** A finished run, and the interrupts of its thread before the end. */
export interface FinishedOnThread {
  readonly run: Run;
  readonly outcome: RunOutcome;
  /** All interrupts of the thread. */
  readonly known: readonly Interrupt[];
  readonly at: number;
}

export interface PausedOnThread extends FinishedOnThread {
  readonly rootCheckpointId: string | null;
  /** Metadata of the run's assistant. */
  readonly assistant: JsonObject;
  /** Names of the callers who made the state of the thread. */
  readonly startedBy: readonly string[];
  /** Ids of open interrupts whose votes were for other circumstances than those of this run. */
  readonly outdated: ReadonlySet<string>;
}

/** Opens the interrupts or the breakpoint of a pause, and abandons other open interrupts. */
export function interruptsAfterPause(paused: PausedOnThread): InterruptChanges {
  const { run, outcome, known, rootCheckpointId, at } = paused;
  const before = new Map(known.filter(({ state }) => state === "open").map((one) => [interruptKey(one), one]));
  const open = outcome.interrupts.map((raised) => opened(paused, raised));
  const cleared = open.flatMap((one) => {
    const earlier = before.get(interruptKey(one));
    return earlier !== undefined && lostVotes(earlier, one) ? [earlier] : [];
  });
  if (outcome.pause === "breakpoint" && rootCheckpointId !== null) {
    const { threadId } = run;
    const { assistant, startedBy } = paused;
    const item = buildBreakpoint({ run, threadId, checkpointId: rootCheckpointId, next: outcome.next, at });
    open.push(applyRules(assistant, item, { startedBy, at }));
  }
  const raisedIds = new Set(open.map((interrupt) => interrupt.interruptId));
  const dropped = known.filter((interrupt) => interrupt.state === "open" && !raisedIds.has(interrupt.interruptId));
  const raisedAs = new Map(open.map((one) => [interruptKey(one), one.interruptId]));
  const replaced = dropped.filter((one) => raisedAs.has(interruptKey(one)));
  const audit = [
    ...cleared.map((one) => changedBy(run, one, { at, action: "votes_cleared" })),
    ...replaced.map((one) => changedBy(run, one, { at, action: "abandoned" })),
  ];
  return { open, changed: [...dropped.map(abandoned), ...open], audit };
}

function changedBy(
  { threadId, runId }: Run,
  { interruptId }: Interrupt,
  change: Pick<AuditEntry, "at" | "action">,
): AuditEntry {
  return { ...change, threadId, by: "server", via: "server", interruptId, runId, value: null };
}

/** A question that was open keeps everything but lost votes; one with another content is new (asked-before.1). */
function opened(
  { run, known, rootCheckpointId, assistant, startedBy, outdated, at }: PausedOnThread,
  { deadline: configured, answers, ...raised }: OpenInterrupt,
): Interrupt {
  const source = configured === undefined ? raised : { ...raised, deadline: configured };
  const { value } = raised;
  const responseSchema = answerSchema({ ...raised, ...(answers === undefined ? {} : { answers }) });
  const content = { ...raised, responseSchema, createdAt: at };
  const { interruptId, before, failure } = findAskedBefore(known, content, run.runId);
  const { expiresAt, onExpiry } = before ?? buildDeadline(source, assistant, at);
  const kept = before !== null && outdated.has(before.interruptId) ? withoutVotes(before) : null;
  const review =
    before === null ? buildReview({ value, responseSchema, assistant, startedBy, at }) : (kept ?? before).review;
  const interrupt: Interrupt = {
    ...raised,
    value: before === null ? value : before.value, // with the deadline that holds
    responseSchema,
    interruptId,
    threadId: run.threadId,
    rootCheckpointId: rootCheckpointId ?? raised.checkpointId,
    state: "open",
    createdAt: before?.createdAt ?? at,
    runId: run.runId,
    graphId: run.graphId,
    assistantId: run.assistantId,
    node: raised.ns.at(-1)?.split(":")[0] ?? "",
    kind: summarise(raised.value, raised.responseSchema).kind,
    claim: before?.claim ?? null,
    expiresAt,
    onExpiry,
    review,
    snoozedUntil: before?.snoozedUntil ?? null,
    priority: readPriority(raised.responseSchema),
    escalatesAt: review?.escalations[0]?.at ?? null,
    answer: null,
    failure,
  };
  return excludeAuthors(interrupt, startedBy);
}

export interface EndedOnThread extends FinishedOnThread {
  /** Answers that no task used; null if the run was rolled back. */
  readonly unused: readonly UnusedAnswer[] | null;
  /** Interrupts that this run abandoned at its start, if its input never reached the state. */
  readonly givenUp: readonly string[];
  /** A newer run replaced this one, so its interrupts stay closed. */
  readonly overruled: boolean;
  /** Newest checkpoint of the thread. */
  readonly rootCheckpointId: string | null;
  /** How often a question is asked again after its node threw. */
  readonly askAgainMax: number;
}

/**
 * Interrupts after a run without a pause. After a result none stays open. After another end, those are
 * open at which the state still waits: answers that were not used are asked for again, and their siblings stay open.
 */
export function interruptsAfterEnd(ended: EndedOnThread): InterruptChanges {
  const { run, outcome, known, overruled, rootCheckpointId, at } = ended;
  const { endedBy, answerRefused = false } = outcome;
  const untouched = known.filter(({ state }) => state === "open");
  if (endedBy === "done" || overruled) return { open: [], changed: untouched.map(abandoned), audit: [] };
  const again = known.filter((one) => isUnused(ended, one) || isGivenUp(ended, one));
  const after = again.map((one): Interrupt => askedAgain(one, findAnswerFailure(ended, one), ended));
  const reopened = after.filter(({ state }) => state === "open");
  const stays = (one: Interrupt): boolean =>
    isCancellation(endedBy)
      ? reopened.length > 0 || ((run.request.command?.answers ?? []).length === 0 && run.request.goesFirst)
      : one.rootCheckpointId === rootCheckpointId;
  const [left, dropped] = [untouched.filter(stays), untouched.filter((one) => !stays(one))];
  const value = answerRefused ? (outcome.error?.error ?? "answer_invalid") : endedBy;
  return {
    open: [...left, ...reopened],
    changed: [...after, ...dropped.map(abandoned)],
    audit: reopened.map(({ interruptId }) => {
      const { threadId, runId } = run;
      return { threadId, at, action: "reopened", by: "server", interruptId, runId, value };
    }),
  };
}

function isUnused({ run, unused, outcome, rootCheckpointId }: EndedOnThread, interrupt: Interrupt): boolean {
  const { answer, interruptId } = interrupt;
  if (interrupt.state !== "answered" || answer?.runId !== run.runId) return false;
  if (!isCancellation(outcome.endedBy) && interrupt.rootCheckpointId !== rootCheckpointId) return false;
  return (unused ?? run.request.command?.answers ?? []).some((one) => one.interruptId === interruptId);
}

function isGivenUp({ givenUp, rootCheckpointId }: EndedOnThread, interrupt: Interrupt): boolean {
  return givenUp.includes(interrupt.interruptId) && interrupt.rootCheckpointId === rootCheckpointId;
}

/** Null for a cancelled answer, which did not fail. */
function findAnswerFailure({ run, outcome, unused, at }: EndedOnThread, interrupt: Interrupt): AnswerFailure | null {
  const { endedBy, error } = outcome;
  if (isCancellation(endedBy) || interrupt.answer === null) return interrupt.failure;
  const threw = unused?.some((one) => one.interruptId === interrupt.interruptId && one.threw === true) === true;
  const times = (interrupt.failure?.times ?? 0) + (threw && outcome.answerRefused !== true ? 1 : 0);
  return { runId: run.runId, error: error?.error ?? endedBy, message: error?.message ?? "", at, times };
}

/** Beyond the limit the answer stays: the thread fails, and a person may ask again. */
function askedAgain(interrupt: Interrupt, failure: AnswerFailure | null, { askAgainMax }: EndedOnThread): Interrupt {
  const isNew = failure !== interrupt.failure;
  if (isNew && failure !== null && failure.times > askAgainMax && failure.times > (interrupt.failure?.times ?? 0)) {
    return { ...interrupt, failure };
  }
  // A default answer that failed is not repeated: the interrupt stays open, overdue.
  const onExpiry = isNew && interrupt.answer?.by === "deadline" ? null : interrupt.onExpiry;
  const review = interrupt.review === null ? null : { ...interrupt.review, votes: [] }; // the decision starts anew
  return { ...interrupt, state: "open", answer: null, onExpiry, review, failure };
}

function abandoned(interrupt: Interrupt): Interrupt {
  return { ...interrupt, state: "abandoned" };
}
