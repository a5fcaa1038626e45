// Escalation: the assignees of an interrupt after a step whose time has come. Pure.
// Invariants:
//   escalation.1. A step acts once: it leaves the list of pending steps. Several steps that are due act together.
//   escalation.2. The claim and the follow-up date end, so that nothing keeps the new assignees from the answer.
import type { Interrupt } from "../model.ts";

export interface Escalated {
  readonly interrupt: Interrupt;
  /** People who join the assignees. */
  readonly added: readonly string[];
}

/** @returns null if no step is due */
export function escalate(interrupt: Interrupt, now: number): Escalated | null {
  const { review } = interrupt;
  const due = review?.escalations.filter(({ at }) => at <= now) ?? [];
  if (review === null || due.length === 0) return null;
  const pending = review.escalations.slice(due.length); // escalation.1
  const assignees = review.assignees.map((list, index) => [
    ...new Set([...list, ...due.flatMap((step) => (step.list === index ? step.assignees : []))]),
  ]);
  const escalated: Interrupt = {
    ...interrupt,
    claim: null, // escalation.2
    snoozedUntil: null,
    review: { ...review, assignees, escalations: pending },
    escalatesAt: pending[0]?.at ?? null,
  };
  return { interrupt: escalated, added: [...new Set(due.flatMap((step) => step.assignees))] };
}
