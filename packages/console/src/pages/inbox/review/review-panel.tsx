// Review panel: the reviewers of an item, the votes so far, and the missing ones.
import type { ReactNode } from "react";
import type { InboxItem, Review } from "@holdpoint/api/inbox.ts";
import { JsonView } from "../../../json/json-view.tsx";
import { Chip } from "../../../ui/controls.tsx";
import { Fact, Facts } from "../../../ui/facts.tsx";
import { RelativeTime } from "../../../ui/time.tsx";

export function ReviewPanel({ item }: { readonly item: InboxItem }): ReactNode {
  const { review } = item;
  if (review === undefined) return null;
  const needsVotes = review.approvals.needed > 1 || review.rejections.needed > 1;
  return (
    <section className="review" aria-label="Review">
      {review.fault === null ? null : (
        <p className="note red">Nobody may answer: the review rules are malformed ({review.fault}).</p>
      )}
      <Facts>
        {review.assignees.map((list, at) => (
          <Fact key={at} name={at === 0 ? "Assigned to" : "And to"}>
            {formatList(list)}
          </Fact>
        ))}
        {review.excluded.length === 0 ? null : <Fact name="Not by">{formatList(review.excluded)}</Fact>}
        {review.four_eyes ? <Fact name="Four eyes">whoever started the run may not answer</Fact> : null}
        {needsVotes ? <Votes review={review} open={item.state === "open"} /> : null}
        {review.next_escalation === null || item.state !== "open" ? null : (
          <Fact name="Escalates">
            to {formatList(review.next_escalation.assignees)} <RelativeTime at={review.next_escalation.at} />
          </Fact>
        )}
      </Facts>
      <VoteList review={review} />
    </section>
  );
}

function Votes({ review, open }: { readonly review: Review; readonly open: boolean }): ReactNode {
  const { approvals, rejections } = review;
  const missing = listMissing(review);
  return (
    <>
      <Fact name="Approvals">
        {approvals.given} of {approvals.needed}
      </Fact>
      {rejections.needed > 1 || rejections.given > 0 ? (
        <Fact name="Rejections">
          {rejections.given} of {rejections.needed}
        </Fact>
      ) : null}
      {open && missing.length > 0 ? <Fact name="Missing">{formatList(missing)}</Fact> : null}
    </>
  );
}

function VoteList({ review: { votes } }: { readonly review: Review }): ReactNode {
  if (votes.length === 0) return null;
  return (
    <ol className="votes">
      {votes.map(({ by, at, verdict, value }) => (
        <li key={by}>
          <div className="row">
            <Chip tone={verdict === "approve" ? "green" : "red"}>{verdict === "approve" ? "approves" : "rejects"}</Chip>
            <strong>{by}</strong>
            <span className="muted spread">
              <RelativeTime at={at} />
            </span>
          </div>
          {value === undefined ? null : (
            <details className="fold">
              <summary>Answer</summary>
              <JsonView value={value} label={`the answer of ${by}`} />
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Reviewers from whom a vote is still expected. A group stays: its members are unknown here. */
function listMissing({
  assignees,
  excluded,
  votes,
}: Pick<Review, "assignees" | "excluded" | "votes">): readonly string[] {
  const done = new Set([...votes.map(({ by }) => by), ...excluded]);
  return [...new Set(assignees.flat())].filter((entry) => !done.has(entry));
}

/** `group:finance` → `the group finance`. */
function formatList(entries: readonly string[]): string {
  return entries.map((entry) => (entry.startsWith("group:") ? `the group ${entry.slice(6)}` : entry)).join(", ");
}
