// Votes: counted answers to an interrupt that needs several people. Pure.
// Invariants:
//   votes.1. A person has one vote; a later one replaces it.
//   votes.2. An answer is approved once `approvals` people gave answers that agree (verdict.2). `rejections` people
//     reject, whatever they write. The vote that reaches a count decides, and its answer goes to the graph.
//   votes.3. One vote decides: it is counted and compared in the transaction that accepts the answer.
//   - Votes are about one payload: another payload or schema under the same id starts anew.
import { isDeepStrictEqual } from "node:util";
import { ApiError } from "@holdpoint/base/api-error.ts";
import type { Json } from "@holdpoint/base/json/json.ts";
import type { Caller, Interrupt, Review, Vote } from "../model.ts";
import { formatProposal, toVerdict } from "./verdict.ts";

const VOTES_MAX = 100;

export interface Counted {
  /** With the new vote; the same object if the vote repeats one. */
  readonly interrupt: Interrupt;
  readonly decided: boolean;
}

/** True if one answer does not settle the interrupt. */
export function needsVotes(review: Review | null): review is Review {
  return review !== null && (review.approvals > 1 || review.rejections > 1);
}

/** @throws {ApiError} `too_many_votes` */
export function countVote(interrupt: Interrupt, value: Json, { name, origin }: Caller, at: number): Counted {
  const { review } = interrupt;
  if (!needsVotes(review)) return { interrupt, decided: true };
  const vote: Vote = { by: name, at, verdict: toVerdict(interrupt, value), value, ...readService(origin) };
  const others = review.votes.filter(({ by }) => by !== name); // votes.1
  if (others.length >= VOTES_MAX) {
    throw new ApiError(
      "too_many_votes",
      `Interrupt ${interrupt.interruptId} has ${VOTES_MAX} votes without a decision.`,
    );
  }
  const before = review.votes.find(({ by }) => by === name);
  if (before !== undefined && isDeepStrictEqual(before.value, value)) return { interrupt, decided: false };
  const votes = [...others, vote];
  const claim = interrupt.claim?.by === name ? null : interrupt.claim; // the others vote next
  const counted: Interrupt = { ...interrupt, claim, review: { ...review, votes } };
  const needed = vote.verdict === "approve" ? review.approvals : review.rejections;
  return { interrupt: counted, decided: agreeing(counted, vote).length >= needed }; // votes.2
}

function readService(origin: Caller["origin"]): Pick<Vote, "via"> {
  return origin?.via === "slack" || origin?.via === "email" ? { via: origin.via } : {};
}

/** The votes that count together with this one (votes.2). */
function agreeing(interrupt: Interrupt, { verdict, value }: Vote): readonly Vote[] {
  const same = (interrupt.review?.votes ?? []).filter((other) => other.verdict === verdict);
  if (verdict === "reject") return same;
  const proposal = formatProposal(interrupt, value);
  return same.filter((other) => formatProposal(interrupt, other.value) === proposal);
}

export interface Tally {
  /** Votes for the answer with most of them. */
  readonly approvals: number;
  readonly rejections: number;
}

export function countVotes(interrupt: Interrupt): Tally {
  const votes = interrupt.review?.votes ?? [];
  const approvals = votes.filter(({ verdict }) => verdict === "approve");
  return {
    approvals: Math.max(0, ...approvals.map((vote) => agreeing(interrupt, vote).length)),
    rejections: votes.length - approvals.length,
  };
}
