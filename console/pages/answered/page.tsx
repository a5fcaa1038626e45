// Page Answered: the decisions of all threads, with author, place, time and the end of the run that followed.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { FoundAuditEntry } from "../../../src/api/audit/audit.ts";
import { request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import { ChoiceFilter, ListFilters, TextFilter } from "../../frames/list-filters.tsx";
import { ListBody, ListHeader, Rows, moveKeys, useCursorList } from "../../frames/list-page.tsx";
import { useGraphNames } from "../../graph/graph-names.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Button, Chip, EmptyState } from "../../ui/controls.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { glance } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import "./answered.css";
import { ACTIONS, CHANNELS, PERIODS, endWords, searchOf, type AnsweredFilters } from "./query.ts";

const answeredRoute = getRouteApi("/answered");

export const page = createLazyRoute("/answered")({ component: AnsweredPage });

const REFRESH_MS = 10_000;
const ROW_HEIGHT = 46;

function AnsweredPage(): ReactNode {
  const filters = answeredRoute.useSearch();
  const navigate = useNavigate();
  const [active, setActive] = useState(-1);
  const list = useCursorList<FoundAuditEntry>({
    key: ["answered", filters],
    path: "/audit",
    query: () => searchOf(filters, Date.now()),
    refreshMs: REFRESH_MS,
  });
  const entries = list.items;
  const { loadMore } = list;
  // A page of rare matches may be empty, and a next one follows.
  useEffect(() => {
    if (entries.length === 0) loadMore?.();
  }, [entries.length, loadMore]);
  useShortcuts("Answered", [
    ...moveKeys("entry", active, (at) => setActive(Math.max(0, Math.min(entries.length - 1, at)))),
    {
      keys: "Enter",
      label: "Open the item",
      run: () => {
        const entry = entries[active];
        if (entry !== undefined) void navigate(targetOf(entry));
      },
    },
  ]);
  return (
    <>
      <ListHeader title="Answered" list={list} />
      <FilterBar filters={filters} />
      <ListBody list={list}>
        {entries.length === 0 && !list.hasMore ? (
          <None filtered={Object.keys(filters).length > 0} />
        ) : (
          <>
            <div className="list-head answered-columns" aria-hidden="true">
              {["Decision", "Request", "By", "Where", "What followed", "When"].map((name) => (
                <span key={name}>{name}</span>
              ))}
            </div>
            <Rows
              list={list}
              rowHeight={ROW_HEIGHT}
              label="Answered items, newest first"
              keyOf={(entry) => `${entry.thread_id}/${entry.seq}`}
              active={active}
              renderRow={(entry, at) => <Row entry={entry} active={at === active} />}
            />
          </>
        )}
      </ListBody>
    </>
  );
}

/** The item with its audit trail, or its thread. */
function targetOf({ thread_id: threadId, interrupt_id: interruptId, kind }: FoundAuditEntry) {
  return interruptId === null || kind === null
    ? ({ to: "/threads/$threadId", params: { threadId } } as const)
    : ({ to: "/inbox/$threadId/$interruptId", params: { threadId, interruptId } } as const);
}

function Row({ entry, active }: { readonly entry: FoundAuditEntry; readonly active: boolean }): ReactNode {
  const end = endWords(entry.run_status, entry.run_ended_by);
  const place = entry.graph_id === null ? "" : `${entry.graph_id} › ${entry.node ?? ""}`;
  return (
    <div role="listitem" className="answered-item">
      <Link {...targetOf(entry)} className={`list-row answered-columns ${active ? "active" : ""}`}>
        <span>
          <Chip tone={entry.action.startsWith("answered") ? "green" : "neutral"}>
            {entry.action.replaceAll("_", " ")}
          </Chip>
        </span>
        <span className="truncate" title={place}>
          {entry.title ?? <span className="muted">a run of the thread</span>}
          {entry.action.startsWith("answered") ? (
            <span className="muted answered-value">{glance(entry.value, 80)}</span>
          ) : null}
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
    </div>
  );
}

function FilterBar({ filters }: { readonly filters: AnsweredFilters }): ReactNode {
  const navigate = useNavigate();
  const set = (name: keyof AnsweredFilters, value: string): void =>
    void navigate({ to: "/answered", search: { ...filters, [name]: value === "" ? undefined : value }, replace: true });
  return (
    <ListFilters
      onClear={Object.keys(filters).length === 0 ? null : () => void navigate({ to: "/answered", search: {} })}
    >
      <TextFilter
        label="Search"
        placeholder="request, answer, metadata"
        value={filters.text}
        onChange={(text) => set("text", text)}
      />
      <ChoiceFilter
        label="Decision"
        any="Any decision"
        value={filters.action}
        options={ACTIONS}
        onChange={(action) => set("action", action)}
      />
      <TextFilter label="By" placeholder="name" value={filters.by} onChange={(by) => set("by", by)} />
      <ChoiceFilter
        label="Where"
        any="Anywhere"
        value={filters.via}
        options={CHANNELS}
        onChange={(via) => set("via", via)}
      />
      <ChoiceFilter
        label="Graph"
        any="Any graph"
        value={filters.graph}
        options={useGraphNames()}
        onChange={(graph) => set("graph", graph)}
      />
      <ChoiceFilter
        label="Period"
        any="Any time"
        value={filters.since}
        options={PERIODS}
        onChange={(since) => set("since", since)}
      />
      {(["csv", "ndjson"] as const).map((format) => (
        <Button key={format} kind="quiet" onClick={() => void save(filters, format)}>
          Save as {format === "csv" ? "CSV" : "JSON Lines"}
        </Button>
      ))}
    </ListFilters>
  );
}

/** A call instead of a link: it sends the key. */
async function save(filters: AnsweredFilters, format: "csv" | "ndjson"): Promise<void> {
  try {
    const response = await request("GET", "/audit", { query: { ...searchOf(filters, Date.now()), format } });
    saveFile(await response.blob(), `answered.${format}`);
  } catch (error) {
    showToast(problemMessage(error), { tone: "red" });
  }
}

function None({ filtered }: { readonly filtered: boolean }): ReactNode {
  if (filtered) return <EmptyState icon="filter" title="No matching entries" />;
  return (
    <EmptyState icon="check" title="Nothing answered yet">
      <p>Decisions from the inbox, the API, Slack and e-mail appear here, with the run that followed.</p>
    </EmptyState>
  );
}
