// Assignments: the rule that keeps others from answering an assigned inbox item.
import { ApiError } from "@holdpoint/base/api-error.ts";
import { isoTime } from "@holdpoint/base/clock.ts";
import type { Assignment, AuditVia, Caller, Interrupt } from "../model/model.ts";
import { reviewRefusal } from "../model/review/reviewers.ts";
import type { ChooseAnswerer } from "./settle-votes.ts";

/** @returns the refusal of an item that another caller holds; null if this caller may answer it */
export function assignmentRefusal({ interruptId, claim }: Interrupt, caller: Caller, at: number): ApiError | null {
  if (claim === null || hasExpired(claim, at) || claim.by === caller.name) return null;
  return new ApiError("interrupt_claimed", `${claim.by} has claimed interrupt ${interruptId}.`, {
    interrupt_id: interruptId,
    claim: { by: claim.by, at: isoTime(claim.at), until: claim.until === null ? null : isoTime(claim.until) },
  });
}

/**
 * Refusals of answers by this caller: its exclusion by the review rules, on every channel, and in the inbox the
 * assignment to another person. Closed interrupts have their own refusals.
 */
export function answererRefusal(
  chooseAnswerer: ChooseAnswerer,
  via: AuditVia | undefined,
  at: number,
): (interrupt: Interrupt) => ApiError | null {
  if (via === "deadline") return () => null;
  return (interrupt) => {
    if (interrupt.state !== "open") return null;
    const caller = chooseAnswerer(interrupt);
    const refusal = via === "inbox" ? assignmentRefusal(interrupt, caller, at) : null;
    return refusal ?? reviewRefusal(interrupt, caller);
  };
}

function hasExpired({ until }: Assignment, at: number): boolean {
  return until !== null && until <= at;
}

/** @throws {ApiError} `interrupt_claimed` */
export function requireAssignable(item: Interrupt, caller: Caller, at: number): void {
  const refusal = assignmentRefusal(item, caller, at);
  if (refusal !== null) throw refusal;
}
