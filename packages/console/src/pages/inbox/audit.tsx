// Audit: who acted on this item, when and from where; the whole trail of the thread as a file.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { AuditEntry, InboxItem } from "@holdpoint/api/inbox.ts";
import { formatGiven } from "../../answering/model/request.ts";
import { request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import { getAudit } from "../../data/inbox/calls.ts";
import { INBOX } from "../../data/inbox/live.ts";
import { Button, Failure, Loading } from "../../ui/controls.tsx";
import { JsonView } from "../../json/json-view.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";

const FORMATS = ["csv", "ndjson"] as const;

export function Audit({ item }: { readonly item: InboxItem }): ReactNode {
  const [open, setOpen] = useState(false);
  const { data, error } = useQuery({
    queryKey: [INBOX, "audit", item.thread_id],
    queryFn: ({ signal }) => getAudit(item.thread_id, signal),
    enabled: open,
  });
  const entries = data?.items.filter(({ interrupt_id }) => interrupt_id === item.id || interrupt_id === null) ?? [];
  return (
    <details className="fold" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Audit trail</summary>
      {error === null ? null : <Failure error={error} />}
      {data === undefined && error === null && open ? <Loading /> : null}
      {data !== undefined && entries.length === 0 ? <p className="muted">No activity yet.</p> : null}
      <ol className="audit">
        {entries.map((entry) => (
          <Entry key={entry.seq} item={item} entry={entry} />
        ))}
      </ol>
      <div className="actions">
        {FORMATS.map((format) => (
          <Button key={format} kind="quiet" onClick={() => void download(item.thread_id, format)}>
            Save the thread’s trail as {format.toUpperCase()}
          </Button>
        ))}
      </div>
    </details>
  );
}

function Entry({ item, entry }: { readonly item: InboxItem; readonly entry: AuditEntry }): ReactNode {
  const from = [entry.via, entry.address, entry.user_agent].filter((one) => one !== null).join(" · ");
  return (
    <li>
      <div className="row">
        <strong>{entry.action.replaceAll("_", " ")}</strong>
        <span>by {entry.by}</span>
        <span className="muted spread">
          <RelativeTime at={entry.at} />
        </span>
      </div>
      <p className="muted small truncate" title={from}>
        {from}
      </p>
      {entry.action.startsWith("answered") ? (
        <details className="fold">
          <summary dir="auto">{formatGiven(item, entry.value)}</summary>
          <JsonView value={entry.value} label="the answer" />
        </details>
      ) : null}
    </li>
  );
}

/** A call instead of a link: it sends the key. */
async function download(threadId: string, format: (typeof FORMATS)[number]): Promise<void> {
  try {
    const response = await request("GET", `/threads/${threadId}/audit`, { query: { format } });
    saveFile(await response.blob(), `audit-${threadId}.${format}`);
  } catch (error) {
    showToast(problemMessage(error), { tone: "red" });
  }
}
