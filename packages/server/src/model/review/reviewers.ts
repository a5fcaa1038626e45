// Reviewers: whether a caller may answer an interrupt under its review rules. Pure.
// Invariants:
//   reviewers.1. An entry `group:<name>` matches the groups of the caller; any other entry the caller's name, or the
//     e-mail address of the caller's user in any case.
//   reviewers.2. An exclusion overrides every assignment. It fails closed: a caller whose groups the server does not
//     know may be in any excluded group. Authors of the state are in it by name, also one whose name looks like a group.
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Caller, Interrupt, Person, Review } from "../model.ts";

const GROUP = "group:";
/** Stands for the authors of a state that are too many to be listed (threads/starters.ts). */
export const EVERYBODY = "*";

/** reviewers.1. */
export function isNamedBy(entries: readonly string[], { name, user, groups = [] }: Caller): boolean {
  const email = user?.["email"];
  const address = typeof email === "string" ? email.toLowerCase() : null;
  return entries.some((entry) =>
    entry.startsWith(GROUP)
      ? groups.includes(entry.slice(GROUP.length))
      : entry === name || (address !== null && entry.toLowerCase() === address),
  );
}

export function isAssignee({ assignees }: Pick<Review, "assignees">, caller: Caller): boolean {
  return assignees.every((list) => isNamedBy(list, caller));
}

/** reviewers.2. */
function isExcluded(excluded: readonly string[], caller: Caller): boolean {
  const mayBeInGroup = caller.groups === undefined && excluded.some((entry) => entry.startsWith(GROUP));
  const isListed = excluded.includes(EVERYBODY) || excluded.includes(caller.name) || isNamedBy(excluded, caller);
  return mayBeInGroup || isListed;
}

/** @returns null if the caller may answer */
export function reviewRefusal({ threadId, interruptId, review }: Interrupt, caller: Caller): ApiError | null {
  if (review === null) return null;
  const details = { interrupt_id: interruptId, see: `/inbox/${threadId}/${interruptId}` };
  if (review.fault !== null) {
    const detail = `The interrupt accepts no answer: its review rules are malformed (${review.fault}).`;
    return new ApiError("review_rules_invalid", detail, details);
  }
  if (isExcluded(review.excluded, caller)) {
    const reason = review.fourEyes ? "Another person than the one who started the run" : "Another person";
    return new ApiError("reviewer_excluded", `${reason} must answer interrupt ${interruptId}.`, details); // reviewers.2
  }
  if (isAssignee(review, caller)) return null;
  const expected = review.assignees.map((list) => list.join(" or ")).join("; and ");
  const detail = `Interrupt ${interruptId} is assigned to ${expected}.`;
  return new ApiError("reviewer_not_assigned", detail, { ...details, assignees: review.assignees });
}

/** @throws {ApiError} `reviewer_not_assigned`, `reviewer_excluded`, `review_rules_invalid` */
export function requireReviewer(interrupt: Interrupt, caller: Caller): void {
  const refusal = reviewRefusal(interrupt, caller);
  if (refusal !== null) throw refusal;
}

/** A person as the caller that the person would be. */
export function toCaller({ name, email, groups }: Person): Caller {
  return { name, user: { email }, permissions: [], groups };
}

/**
 * As reviewRefusal() for a name whose groups and e-mail address the server does not know. A list with a group or an
 * address may mean that person; the answer itself decides.
 */
export function nameRefusal(interrupt: Interrupt, name: string): ApiError | null {
  const refusal = reviewRefusal(interrupt, { name, user: null, permissions: [] });
  if (refusal?.code !== "reviewer_not_assigned") return refusal;
  const mayMean = (entry: string): boolean => entry === name || entry.startsWith(GROUP) || entry.includes("@");
  return interrupt.review?.assignees.every((list) => list.some(mayMean)) === true ? null : refusal;
}
