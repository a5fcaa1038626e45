import type { JsonObject } from "../../base/json/json.ts";
import type { AuditEntry, EndedBy, ErrorInfo, Interrupt, PauseKind, Run } from "../model/model.ts";
import type { Question } from "../ports/ports.ts";
import { summarise } from "../serializers/interrupt-summary.ts";
import { breakpointAt } from "./breakpoint.ts";
import { deadlineOf } from "./deadline.ts";

export interface Ending {
  readonly endedBy: EndedBy;
  readonly pause: PauseKind | null;
  readonly error: ErrorInfo | null;
  /** The graph refused an answer: its question is open again. */
  readonly answerRefused?: boolean;
  readonly questions: readonly Question[];
  /** Nodes that a breakpoint holds back. */
  readonly next: readonly string[];
}

export function isGivingWay(endedBy: EndedBy): boolean {
  return endedBy === "cancel" || endedBy === "rollback";
}

export interface Settled {
  readonly changed: readonly Interrupt[];
  readonly open: readonly Interrupt[];
  readonly audit: readonly AuditEntry[];
}

/** The questions of this pause, or its breakpoint, are open; whatever else was open is not waited for any more. */
export function settlePause(
  run: Run,
  { pause, questions, next }: Ending,
  known: readonly Interrupt[],
  rootCheckpointId: string | null,
  assistant: JsonObject,
  at: number,
): Settled {
  const before = new Map(known.filter(({ state }) => state === "open").map((one) => [askedBy(one), one]));
  const open = questions.map(({ deadline: rule, ...question }): Interrupt => {
    const waited = before.get(askedBy(question)) ?? null;
    const deadline = deadlineOf(rule === undefined ? question : { ...question, deadline: rule }, assistant, at);
    return {
      ...question,
      interruptId: waited?.interruptId ?? question.interruptId,
      threadId: run.threadId,
      rootCheckpointId: rootCheckpointId ?? question.checkpointId,
      state: "open",
      createdAt: waited?.createdAt ?? at,
      runId: run.runId,
      graphId: run.graphId,
      assistantId: run.assistantId,
      node: question.ns.at(-1)?.split(":")[0] ?? "",
      kind: summarise(question.value, question.responseSchema).kind,
      claim: waited?.claim ?? null,
      expiresAt: waited === null ? deadline.expiresAt : waited.expiresAt,
      onExpiry: waited === null ? deadline.onExpiry : waited.onExpiry,
      answer: null,
    };
  });
  if (pause === "breakpoint" && rootCheckpointId !== null) {
    const { threadId, runId, graphId, assistantId } = run;
    open.push(breakpointAt(threadId, rootCheckpointId, next, { runId, graphId, assistantId }, at));
  }
  const asked = new Set(open.map((interrupt) => interrupt.interruptId));
  const dropped = known.filter((interrupt) => interrupt.state === "open" && !asked.has(interrupt.interruptId));
  return {
    open,
    changed: [...open, ...dropped.map((interrupt): Interrupt => ({ ...interrupt, state: "abandoned" }))],
    audit: [],
  };
}

/**
 * A run that did not pause: after its end nothing is open, except what it was answering and did not get to (finish-run.3).
 * @param overruled another run came in its place: what it was answering is not waited for any more
 * @param unused ids of answers that no task used; null when all that the run did was taken back.
 */
export function settleEnd(
  run: Run,
  { endedBy, answerRefused = false }: Ending,
  unused: readonly string[] | null,
  overruled: boolean,
  known: readonly Interrupt[],
  at: number,
): Settled {
  const reopens = answerRefused || (isGivingWay(endedBy) && !overruled);
  const carried = new Set((run.request.command?.answers ?? []).map((answer) => answer.interruptId));
  const backOpen = (interrupt: Interrupt): boolean =>
    reopens &&
    interrupt.answer?.runId === run.runId &&
    (unused === null ? carried.has(interrupt.interruptId) : unused.includes(interrupt.interruptId));
  const reopened = known.filter(backOpen).map((interrupt): Interrupt => {
    // A default answer that the graph refuses is given once: the question waits on, overdue.
    const onExpiry = answerRefused && interrupt.answer?.by === "deadline" ? null : interrupt.onExpiry;
    return { ...interrupt, state: "open", answer: null, onExpiry };
  });
  const untouched = known.filter((interrupt) => interrupt.state === "open");
  // Siblings of an unused answer wait on; without one, an open question was passed by or failed.
  const waits = reopens && (reopened.length > 0 || (!answerRefused && carried.size === 0 && run.request.goesFirst));
  const dropped = waits ? [] : untouched.map((interrupt): Interrupt => ({ ...interrupt, state: "abandoned" }));
  return {
    open: waits ? [...untouched, ...reopened] : [],
    changed: [...reopened, ...dropped],
    audit: reopened.map(({ interruptId }) => ({
      threadId: run.threadId,
      at,
      action: "reopened",
      by: "server",
      interruptId,
      runId: run.runId,
      value: answerRefused ? "answer_invalid" : endedBy,
    })),
  };
}

/** Other versions of the library give the same question another id; while it is open, it keeps the one that it has. */
export function askedBy({ graphNs, taskId, index }: Pick<Interrupt, "graphNs" | "taskId" | "index">): string {
  return `${graphNs} ${taskId} ${index}`;
}
