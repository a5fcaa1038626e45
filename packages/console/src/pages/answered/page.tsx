// Page Answered: the decisions of all threads, with author, place, time and the end of the run that followed.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { FoundAuditEntry } from "@holdpoint/api/audit.ts";
import { request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import { FilterFields, FilteredList, NoItems } from "../../frames/filtered-list.tsx";
import { useCursorList } from "../../frames/list-page.tsx";
import { useGraphNames } from "../../graph/graph-names.ts";
import { Button, Chip } from "../../ui/controls.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import "./answered.css";
import { WaitsPanel } from "./waits-panel.tsx";
import { ACTIONS, CHANNELS, PERIODS, endWords, buildSearch, nameEntry, type AnsweredFilters } from "./query.ts";

const answeredRoute = getRouteApi("/answered");

export const page = createLazyRoute("/answered")({ component: AnsweredPage });

const REFRESH_MS = 10_000;
const ROW_HEIGHT = 46;

function AnsweredPage(): ReactNode {
  const filters = answeredRoute.useSearch();
  const navigate = useNavigate();
  const list = useCursorList<FoundAuditEntry>({
    key: ["answered", filters],
    path: "/audit",
    query: () => buildSearch(filters, Date.now()),
    refreshMs: REFRESH_MS,
  });
  const entries = list.items;
  const { loadMore } = list;
  // A page of rare matches may be empty, and a next one follows.
  useEffect(() => {
    if (entries.length === 0) loadMore?.();
  }, [entries.length, loadMore]);
  const graphs = useGraphNames();
  return (
    <FilteredList
      title="Answered"
      list={list}
      filters={
        <>
          <FilterFields
            path="/answered"
            filters={filters}
            fields={[
              { name: "text", label: "Search", placeholder: "Search", isSearch: true },
              { name: "action", label: "Decision", any: "Any decision", options: ACTIONS },
              { name: "by", label: "By", placeholder: "person" },
              { name: "via", label: "Where", any: "Anywhere", options: CHANNELS },
              { name: "graph", label: "Graph", any: "Any graph", options: graphs },
              { name: "since", label: "Period", any: "Any time", options: PERIODS },
            ]}
          >
            {(["csv", "ndjson"] as const).map((format) => (
              <Button key={format} kind="quiet" onClick={() => void save(filters, format)}>
                Save as {format === "csv" ? "CSV" : "JSON Lines"}
              </Button>
            ))}
          </FilterFields>
          <WaitsPanel filters={filters} />
        </>
      }
      headings={["Decision", "Request", "By", "Where", "What followed", "When"]}
      columns="answered-columns"
      rowHeight={ROW_HEIGHT}
      label="Answered items, newest first"
      noun="entry"
      buildKey={(entry) => `${entry.thread_id ?? entry.title}/${entry.seq}`} // acts about one thing have one numbering
      onOpen={(entry) => void navigate(linkTarget(entry))}
      renderRow={(entry, className) => <Row entry={entry} className={className} />}
      none={
        <NoItems path="/answered" filters={filters} icon="check" nouns="entries" title="Nothing answered yet">
          <p>Decisions from the inbox, the API, Slack and e-mail appear here, with the run that followed.</p>
        </NoItems>
      }
    />
  );
}

/** The item with its audit trail, or its thread; of an act, those like it. */
function linkTarget({ thread_id: threadId, interrupt_id: interruptId, kind, action }: FoundAuditEntry) {
  if (threadId === null) return { to: "/answered", search: { action } } as const;
  return interruptId === null || kind === null
    ? ({ to: "/threads/$threadId", params: { threadId } } as const)
    : ({ to: "/inbox/$threadId/$interruptId", params: { threadId, interruptId } } as const);
}

function Row({ entry, className }: { readonly entry: FoundAuditEntry; readonly className: string }): ReactNode {
  const end = endWords(entry.run_status, entry.run_ended_by);
  const place = entry.graph_id === null ? "" : `${entry.graph_id} › ${entry.node ?? ""}`;
  const [word, tone] = nameEntry(entry);
  return (
    <Link {...linkTarget(entry)} className={className}>
      <span>
        <Chip tone={tone}>{word}</Chip>
      </span>
      <span className="answered-lines" title={place}>
        <span className="truncate" dir="auto">
          {entry.title ?? <span className="muted">a run of the thread</span>}
        </span>
        {entry.answer === null || entry.answer === word ? null : (
          <span className="truncate muted small" dir="auto">
            {entry.answer}
          </span>
        )}
      </span>
      <span className="truncate">{entry.by}</span>
      <span className="muted truncate" title={entry.address ?? undefined}>
        {entry.via}
      </span>
      <span>{end === null ? <span className="muted">–</span> : <Status status={end} />}</span>
      <span className="muted numeric">
        <RelativeTime at={entry.at} />
      </span>
    </Link>
  );
}

/** A call instead of a link: it sends the key. */
async function save(filters: AnsweredFilters, format: "csv" | "ndjson"): Promise<void> {
  try {
    const response = await request("GET", "/audit", { query: { ...buildSearch(filters, Date.now()), format } });
    saveFile(await response.blob(), `answered.${format}`);
  } catch (error) {
    showToast(problemMessage(error), { tone: "red" });
  }
}
