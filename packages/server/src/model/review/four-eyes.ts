// Four eyes: new authors of a state while its question is open. Pure.
// Invariants:
//   - An author of the state never decides: also not by a vote or a claim from before the edit.
import type { Interrupt } from "../model.ts";

/** @returns the same object if nothing changes */
export function excludeAuthors(interrupt: Interrupt, authors: readonly string[]): Interrupt {
  const { review, claim } = interrupt;
  if (review?.fourEyes !== true) return interrupt;
  const added = authors.filter((name) => !review.excluded.includes(name));
  if (added.length === 0) return interrupt;
  const excluded = [...review.excluded, ...added];
  const votes = review.votes.filter(({ by }) => !added.includes(by));
  const isFree = claim !== null && added.includes(claim.by);
  return { ...interrupt, claim: isFree ? null : claim, review: { ...review, excluded, votes } };
}

/** For a copy of the thread, where people decide anew. @returns null without votes */
export function withoutVotes(interrupt: Interrupt): Interrupt | null {
  const { review } = interrupt;
  return review === null || review.votes.length === 0 ? null : { ...interrupt, review: { ...review, votes: [] } };
}

/** For an item that takes the place of another: the rules, and no votes. */
export function underSameRules(
  interrupt: Interrupt,
  { review, escalatesAt }: Pick<Interrupt, "review" | "escalatesAt">,
): Interrupt {
  return { ...interrupt, review: review === null ? null : { ...review, votes: [] }, escalatesAt };
}

/** True if `after` has fewer votes than the same interrupt had before. */
export function lostVotes(before: Interrupt | undefined, after: Interrupt): boolean {
  return (before?.review?.votes.length ?? 0) > (after.review?.votes.length ?? 0);
}
