// Outcome: the end of an item that is no longer pending: the decision and its author, or the reason for having none.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { InboxItem } from "@holdpoint/api/inbox.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { CONSOLE_PATH } from "../../browser/address.ts";
import { getAudit } from "../../data/inbox/calls.ts";
import { formatEnd } from "../../data/inbox/item.ts";
import { INBOX } from "../../data/inbox/live.ts";
import type { Json } from "../../json/json.ts";
import { JsonView } from "../../json/json-view.tsx";
import { absoluteTime } from "../../ui/format.ts";
import { PartView } from "../../answering/confirm-dialog.tsx";
import { formatOutcome } from "../../answering/model/outcome.ts";
import { readDecisions, type Request } from "../../answering/model/request.ts";

const time = (at: string): string => absoluteTime(Date.parse(at));
/** An answer is short: open to its last level. */
const ANSWER_LEVELS = 6;

export function Outcome({ item, request }: { readonly item: InboxItem; readonly request: Request }): ReactNode {
  if (item.state === "open") {
    return item.thread_status === "busy" ? (
      <p className="note amber">The thread is running. You can answer when it pauses again.</p>
    ) : null;
  }
  if (item.answered === undefined) return <Ended item={item} />;
  const text = formatEnd(item, time);
  return (
    <div className="note green" role="status">
      <strong>{text.charAt(0).toUpperCase() + text.slice(1)}</strong>
      <Given request={request} answer={item.answered.value} />
      <ThreadLink item={item} />
    </div>
  );
}

/** The decision on each action in words, and the answer as the graph received it. */
function Given({ request, answer }: { readonly request: Request; readonly answer: Json }): ReactNode {
  const decisions = request.kind === "actions" ? readDecisions(request, answer) : null;
  const plain = <JsonView value={answer} label="the answer" openLevels={ANSWER_LEVELS} />;
  if (request.kind !== "actions" || decisions === null) return plain;
  return (
    <>
      {request.actions.map((action, at) => {
        const decision = decisions[at];
        // One tool may occur twice.
        return decision === undefined ? null : <PartView key={at} part={{ kind: "decision", action, decision }} />;
      })}
      <details className="fold">
        <summary>Answer as sent</summary>
        {plain}
      </details>
    </>
  );
}

/** Ended without an answer. The audit trail has the reason. */
function Ended({ item }: { readonly item: InboxItem }): ReactNode {
  const { data } = useQuery({
    queryKey: [INBOX, "audit", item.thread_id],
    queryFn: ({ signal }) => getAudit(item.thread_id, signal),
  });
  const outcome = data === undefined ? null : formatOutcome(item.id, data.items, time);
  return (
    <div className="note amber" role="status">
      <strong>{outcome ?? "No longer pending"}</strong>
      <ThreadLink item={item} />
    </div>
  );
}

export function ThreadLink({ item }: { readonly item: InboxItem }): ReactNode {
  return (
    <a href={`${CONSOLE_PATH}/threads/${item.thread_id}`} className="mono">
      thread {shortId(item.thread_id)}
    </a>
  );
}
