// Failed answer: an answer whose run failed without using it, with its words and the error; and the way to have its
// question asked again, once the server does not do it by itself.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { AuditEntry, InboxItem } from "@holdpoint/api/inbox.ts";
import { problemMessage } from "../api/problem.ts";
import { getAudit, getItem } from "../data/inbox/calls.ts";
import { askAgain } from "../data/inbox/item-calls.ts";
import { buildKey } from "../data/inbox/item.ts";
import { INBOX } from "../data/inbox/live.ts";
import { Button } from "../ui/controls.tsx";
import { RelativeTime } from "../ui/time.tsx";
import { showToast } from "../ui/toast.tsx";
import { formatGiven } from "./model/request.ts";

export function FailedAnswer({ item }: { readonly item: InboxItem }): ReactNode {
  const { failed_answer: failed, answered, state, thread_status: status } = item;
  if (failed === undefined) return null;
  const waits = state === "answered" && status === "error" && answered?.run_id === failed.run_id;
  if (state !== "open" && !waits) return null;
  return (
    <div className="note amber" role="status">
      <strong>
        The answer failed <RelativeTime at={failed.at} />
      </strong>
      <Given item={item} runId={failed.run_id} />
      <span>
        {failed.error}: {failed.message}
      </span>
      {waits ? <AskAgain item={item} /> : <span>The question is open again.</span>}
    </div>
  );
}

/** Who answered what; the trail keeps it also while the question is open again. */
function Given({ item, runId }: { readonly item: InboxItem; readonly runId: string }): ReactNode {
  const { data: trail } = useTrail(item.thread_id);
  const entry = trail?.items.findLast((one) => one.interrupt_id === item.id && one.run_id === runId && isAnswer(one));
  if (entry === undefined) return null;
  return (
    <span dir="auto">
      {entry.by}: {formatGiven(item, entry.value)}
    </span>
  );
}

const isAnswer = ({ action }: AuditEntry): boolean => action === "answered" || action === "answered_as_fork";

const useTrail = (threadId: string) =>
  useQuery({ queryKey: [INBOX, "audit", threadId], queryFn: ({ signal }) => getAudit(threadId, signal) });

function AskAgain({ item }: { readonly item: InboxItem }): ReactNode {
  const [sending, setSending] = useState(false);
  const queries = useQueryClient();
  const send = async (): Promise<void> => {
    setSending(true);
    try {
      queries.setQueryData([INBOX, "item", buildKey(item)], await askAgain(item));
      showToast("The question is asked again.");
    } catch (error) {
      showToast(problemMessage(error), { tone: "amber" });
    }
    setSending(false);
    await queries.invalidateQueries({ queryKey: [INBOX, "item", buildKey(item)] });
  };
  return (
    <Button needs="threads:answer" disabled={sending} onClick={() => void send()}>
      Ask again
    </Button>
  );
}

/** The failed answer at which a thread has ended. */
export function FailedAnswerOfThread({ threadId }: { readonly threadId: string }): ReactNode {
  const { data: trail } = useTrail(threadId);
  const id = trail?.items.findLast(({ action }) => action === "answered")?.interrupt_id ?? null;
  const named = { thread_id: threadId, id: id ?? "" };
  const { data: item } = useQuery({
    queryKey: [INBOX, "item", buildKey(named)],
    enabled: id !== null,
    queryFn: ({ signal }) => getItem(named, signal),
  });
  return item === undefined ? null : <FailedAnswer item={item} />;
}
