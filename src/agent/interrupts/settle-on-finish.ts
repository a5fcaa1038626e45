// Interrupt rows at the end of a run: which interrupts are open after a pause, and after any other end. Pure.
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../base/json/json.ts";
import type { AuditEntry, EndedBy, ErrorInfo, Interrupt, PauseKind, Run } from "../model/model.ts";
import type { OpenInterrupt } from "../ports/ports.ts";
import { summarise } from "../serializers/interrupt-summary.ts";
import { excludeAuthors, lostVotes, withoutVotes } from "../review/four-eyes.ts";
import { reviewOf } from "../review/review-rules.ts";
import { answerSchema } from "./answer-schema.ts";
import { breakpointOf } from "./breakpoint.ts";
import { deadlineOf } from "./deadline.ts";

/** End of a run as the graph produced it, or as a cancellation imposed it. */
export interface RunOutcome {
  readonly endedBy: EndedBy;
  readonly pause: PauseKind | null;
  readonly error: ErrorInfo | null;
  /** The graph rejected an answer, so its interrupt is open again. */
  readonly answerRefused?: boolean;
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
  const open = outcome.interrupts.map((raised) => opened(paused, raised, before.get(interruptKey(raised)) ?? null));
  const cleared = open.filter((one) => lostVotes(before.get(interruptKey(one)), one));
  if (outcome.pause === "breakpoint" && rootCheckpointId !== null) {
    const { threadId } = run;
    const { assistant, startedBy } = paused;
    const review = reviewOf({ value: null, responseSchema: null, assistant, startedBy, at });
    const item = breakpointOf({ run, threadId, checkpointId: rootCheckpointId, next: outcome.next, at });
    open.push({ ...item, review, escalatesAt: review?.escalations[0]?.at ?? null });
  }
  const raisedIds = new Set(open.map((interrupt) => interrupt.interruptId));
  const dropped = known.filter((interrupt) => interrupt.state === "open" && !raisedIds.has(interrupt.interruptId));
  return { open, changed: [...open, ...dropped.map(abandoned)], audit: cleared.map((one) => votesCleared(one, at)) };
}

function votesCleared({ threadId, interruptId, runId }: Interrupt, at: number): AuditEntry {
  return { threadId, at, action: "votes_cleared", by: "server", via: "server", interruptId, runId, value: null };
}

/**
 * @param before the row of the same interrupt, if it was open already: it keeps its id, time, assignment and deadline,
 *   and with the same payload its rules and votes (votes.4)
 */
function opened(
  { run, rootCheckpointId, assistant, startedBy, outdated, at }: PausedOnThread,
  { deadline: configured, answers, ...raised }: OpenInterrupt,
  before: Interrupt | null,
): Interrupt {
  const source = configured === undefined ? raised : { ...raised, deadline: configured };
  const { expiresAt, onExpiry } = before ?? deadlineOf(source, assistant, at);
  const { value } = raised;
  const responseSchema = answerSchema({ ...raised, ...(answers === undefined ? {} : { answers }) });
  const isSame = before !== null && isDeepStrictEqual([value, responseSchema], [before.value, before.responseSchema]);
  const kept = isSame && outdated.has(before.interruptId) ? withoutVotes(before) : null;
  const review = isSame ? (kept ?? before).review : reviewOf({ value, responseSchema, assistant, startedBy, at });
  const interrupt: Interrupt = {
    ...raised,
    responseSchema,
    interruptId: before?.interruptId ?? raised.interruptId,
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
    escalatesAt: review?.escalations[0]?.at ?? null,
    answer: null,
  };
  return excludeAuthors(interrupt, startedBy);
}

export interface EndedOnThread extends FinishedOnThread {
  /** Ids of answers that no task consumed; null if the run was rolled back. */
  readonly unused: readonly string[] | null;
  /** A newer run replaced this one, so its interrupts stay closed. */
  readonly overruled: boolean;
}

/**
 * Interrupts after a run without a pause: none stays open, except those whose answers the run did not consume
 * (finish-run.3).
 */
export function interruptsAfterEnd({ run, outcome, known, unused, overruled, at }: EndedOnThread): InterruptChanges {
  const { endedBy, answerRefused = false } = outcome;
  const reopens = answerRefused || (isCancellation(endedBy) && !overruled);
  const carried = new Set((run.request.command?.answers ?? []).map((answer) => answer.interruptId));
  const isReopened = (interrupt: Interrupt): boolean =>
    reopens &&
    interrupt.answer?.runId === run.runId &&
    (unused === null ? carried.has(interrupt.interruptId) : unused.includes(interrupt.interruptId));
  const reopened = known.filter(isReopened).map((interrupt): Interrupt => {
    // A default answer rejected by the graph is not repeated: the interrupt stays open, overdue.
    const onExpiry = answerRefused && interrupt.answer?.by === "deadline" ? null : interrupt.onExpiry;
    const review = interrupt.review === null ? null : { ...interrupt.review, votes: [] }; // the decision starts anew
    return { ...interrupt, state: "open", answer: null, onExpiry, review };
  });
  const untouched = known.filter((interrupt) => interrupt.state === "open");
  // Siblings of an unused answer stay open. Without one, the run passed or failed the open interrupts.
  const staysOpen = reopens && (reopened.length > 0 || (!answerRefused && carried.size === 0 && run.request.goesFirst));
  const value = answerRefused ? (outcome.error?.error ?? "answer_invalid") : endedBy;
  return {
    open: staysOpen ? [...untouched, ...reopened] : [],
    changed: [...reopened, ...(staysOpen ? [] : untouched.map(abandoned))],
    audit: reopened.map(({ interruptId }) => {
      const { threadId, runId } = run;
      return { threadId, at, action: "reopened", by: "server", interruptId, runId, value };
    }),
  };
}

function abandoned(interrupt: Interrupt): Interrupt {
  return { ...interrupt, state: "abandoned" };
}

/** Identity of an interrupt across library versions, which change its id. An open interrupt keeps its id. */
export function interruptKey({ graphNs, taskId, index }: Pick<Interrupt, "graphNs" | "taskId" | "index">): string {
  return `${graphNs} ${taskId} ${index}`;
}
