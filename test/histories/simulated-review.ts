// A question with votes and claims, with a fault that can be planted: what the checker is measured with.
import type { Call } from "./linearizable.ts";
import { applyReview, OPEN, type Review, type ReviewOp } from "./reviews.ts";
import { simulateCalls, type System, type TimingFault } from "./simulated-calls.ts";

export type ReviewFault =
  | TimingFault
  /** The second vote of a person counts as one more. */
  | "a vote counts twice"
  /** After a kill the last vote is gone. */
  | "a forgotten vote"
  /** A claim does not look whether the question is held. */
  | "two holders"
  /** A released question stays held. */
  | "a claim kept after its release";

const PEOPLE = ["ann", "bob", "carl", "dora"];
export const APPROVALS = 3;

/** @param next random numbers from 0 to 1; the same numbers make the same history */
export function simulateReview(next: () => number, fault: ReviewFault | null): readonly Call<ReviewOp>[] {
  const isOfTiming = fault === "no lock" || fault === "reply before the commit";
  return simulateCalls(next, createReview(next, fault), isOfTiming ? fault : null);
}

function createReview(next: () => number, fault: ReviewFault | null): System<ReviewOp> {
  let review: Review = OPEN;
  let twice = 0;
  const apply = (op: ReviewOp): Review | null => {
    if (fault === "two holders" && op.verb === "claim" && !review.isDecided) return { ...review, holder: op.by };
    const after = applyReview(APPROVALS, review, op);
    if (after === null || op.verb !== "vote" || fault !== "a vote counts twice") return after;
    const again = twice + Number(review.voted.includes(op.by));
    return { ...after, isDecided: after.voted.length + again >= APPROVALS };
  };
  return {
    choose() {
      const by = PEOPLE[Math.floor(next() * PEOPLE.length)] ?? "";
      const chance = next();
      if (chance < 0.4) return { verb: "vote", by, decided: null };
      return { verb: chance < 0.7 ? "claim" : "release", by };
    },
    decide(op) {
      const after = apply(op);
      if (after === null) return null;
      return op.verb === "vote" ? { ...op, decided: after.isDecided } : op;
    },
    apply(op) {
      const after = apply(op) ?? review;
      if (op.verb === "vote" && review.voted.includes(op.by)) twice++;
      const isKept = fault === "a claim kept after its release" && op.verb === "release";
      review = isKept ? { ...after, holder: review.holder } : after;
    },
    kill() {
      if (fault === "a forgotten vote" && !review.isDecided) review = { ...review, voted: review.voted.slice(0, -1) };
    },
  };
}
