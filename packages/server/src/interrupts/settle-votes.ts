// Vote settlement: accepted answers → those that decide their interrupt, and those that only count towards a decision.
// Invariants:
//   - A run carries deciding answers only. The other answers of the call are votes on interrupts that stay open;
//     without a deciding answer there is no run.
//   - Every vote has an audit entry.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { AuditEntry, AuditVia, Caller, Interrupt } from "../model/model.ts";
import { nameAuthor } from "../model/audit-author.ts";
import type { InterruptTx } from "../ports/ports.ts";
import { serializeReview } from "../wire/review-object.ts";
import { RefusedAnswers } from "./problem-details.ts";
import type { AcceptedAnswers } from "./resume-rules.ts";
import { countVote, countVotes } from "../model/review/votes.ts";

export interface SettledAnswers {
  /** Null if no answer decides. */
  readonly answers: AcceptedAnswers | null;
  /** Interrupts that stay open, each with the vote. */
  readonly voted: readonly Interrupt[];
  /** Those of them whose vote is new. */
  readonly changed: readonly Interrupt[];
}

/** Who gives the answer: the caller, or the author of a policy. */
export type ChooseAnswerer = (interrupt: Interrupt) => Caller;

/** @throws {ApiError} `too_many_votes` */
export function settleVotes(
  { answers, interrupts }: AcceptedAnswers,
  chooseAnswerer: ChooseAnswerer,
  at: number,
): SettledAnswers {
  const counted = interrupts.map((one, index) =>
    countVote(one, answers[index]?.value ?? null, chooseAnswerer(one), at),
  );
  const deciding = counted.flatMap(({ decided }, index) => (decided ? [index] : []));
  const voted = counted.flatMap(({ decided, interrupt }) => (decided ? [] : [interrupt]));
  const changed = voted.filter((one) => !interrupts.includes(one));
  if (deciding.length === 0) return { answers: null, voted, changed };
  const chosen = {
    answers: answers.filter((_answer, index) => deciding.includes(index)),
    interrupts: counted.flatMap(({ decided, interrupt }) => (decided ? [interrupt] : [])),
  };
  return { answers: chosen, voted, changed };
}

export async function storeVotes(
  tx: Pick<InterruptTx, "putInterrupts" | "audit">,
  voted: readonly Interrupt[],
  {
    chooseAnswerer,
    via,
    at,
  }: { readonly chooseAnswerer: ChooseAnswerer; readonly via: AuditVia | undefined; readonly at: number },
): Promise<void> {
  if (voted.length === 0) return;
  const entries = voted.map((one): AuditEntry => {
    const { threadId, interruptId, review } = one;
    const answerer = chooseAnswerer(one);
    const vote = review?.votes.find(({ by }) => by === answerer.name);
    const value = vote === undefined ? null : { verdict: vote.verdict, answer: vote.value };
    return { ...nameAuthor(answerer, via), threadId, at, action: "voted", interruptId, runId: null, value };
  });
  await tx.putInterrupts(voted);
  await tx.audit(entries);
}

/** The reply to a call whose answers all count as votes only. */
export function approvalsPending(voted: readonly Interrupt[]): RefusedAnswers {
  const problems = new Map(voted.map((interrupt) => [interrupt.interruptId, pendingProblem(interrupt)]));
  const [first] = problems.values();
  if (first === undefined) throw new Error("a call without any vote");
  return new RefusedAnswers(first, problems);
}

export function pendingProblem(interrupt: Interrupt): ApiError {
  const { threadId, interruptId, review } = interrupt;
  const { approvals, rejections } = countVotes(interrupt);
  const counts = [
    `${approvals} of ${review?.approvals ?? 1} approvals`,
    ...(rejections === 0 ? [] : [`${rejections} of ${review?.rejections ?? 1} rejections`]),
  ];
  const detail = `Your answer is counted: interrupt ${interruptId} has ${counts.join(" and ")}.`;
  return new ApiError("approvals_pending", detail, {
    interrupt_id: interruptId,
    review: review === null ? null : serializeReview(interrupt, null),
    see: `/inbox/${threadId}/${interruptId}`,
  });
}
