// Votes and claims of one question: the model that the checker holds their histories against.
//   vote-model.1. A person counts once: a repeated vote changes nothing, not even the claim. The vote that completes the
//        number decides, and no other does.
//   vote-model.2. At most one person holds the question; while one does, nobody else votes or claims. A release frees it,
//        and so does a new vote of its holder.
//   vote-model.3. After the decision every call is refused.
import type { Call, Model } from "./linearizable.ts";

export type ReviewOp =
  /** `decided`: what the caller heard; null without a reply. */
  | { readonly verb: "vote"; readonly by: string; readonly decided: boolean | null }
  | { readonly verb: "claim" | "release"; readonly by: string };

export interface Review {
  readonly voted: readonly string[];
  readonly isDecided: boolean;
  readonly holder: string | null;
}

export const OPEN: Review = { voted: [], isDecided: false, holder: null };

/** @returns the state after the call; null for one that is refused */
export function applyReview(approvals: number, review: Review, { verb, by }: ReviewOp): Review | null {
  const { voted, isDecided, holder } = review;
  if (isDecided || (holder !== null && holder !== by)) return null; // vote-model.2, vote-model.3
  if (verb !== "vote") return { ...review, holder: verb === "claim" ? by : null };
  if (voted.includes(by)) return review; // vote-model.1
  const all = [...voted, by].toSorted();
  return { voted: all, holder: null, isDecided: all.length >= approvals };
}

/** @param approvals number of people who decide */
export function modelReview(approvals: number): Model<ReviewOp, Review> {
  const step = (review: Review, { op }: Call<ReviewOp>): readonly Review[] => {
    const after = applyReview(approvals, review, op);
    if (after === null) return [];
    const isAsHeard = op.verb !== "vote" || op.decided === null || op.decided === after.isDecided;
    return isAsHeard ? [after] : [];
  };
  return { fresh: OPEN, step };
}
