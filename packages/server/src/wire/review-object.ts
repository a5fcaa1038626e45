// Review object: review rules and votes of an interrupt as JSON for clients.
import { isoTime } from "@holdpoint/base/clock.ts";
import type { JsonObject } from "@holdpoint/base/json/json.ts";
import { countVotes } from "../model/review/votes.ts";
import type { Interrupt } from "../model/model.ts";
import type { Show } from "../model/payload/mask-secrets.ts";

/** @param show the answers of the votes; null leaves them out */
export function serializeReview(interrupt: Interrupt, show: Show | null): JsonObject | null {
  const { review, responseSchema } = interrupt;
  if (review === null) return null;
  const { assignees, approvals, rejections, fourEyes, excluded, escalations, votes, fault } = review;
  const given = countVotes(interrupt);
  const [next] = escalations;
  return {
    assignees,
    approvals: { given: given.approvals, needed: approvals },
    rejections: { given: given.rejections, needed: rejections },
    four_eyes: fourEyes,
    excluded,
    votes: votes.map(({ by, at, verdict, value }) => ({
      by,
      at: isoTime(at),
      verdict,
      ...(show === null ? {} : { value: show(value, responseSchema) }),
    })),
    next_escalation: next === undefined ? null : { at: isoTime(next.at), assignees: next.assignees },
    fault,
  };
}
