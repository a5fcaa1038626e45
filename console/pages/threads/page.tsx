// Page Threads: all threads, most recently updated first.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Thread } from "../../api/types.ts";
import { ChoiceFilter, ListFilters, TextFilter } from "../../frames/list-filters.tsx";
import { ListBody, ListHeader, Rows, moveKeys, usePagedList } from "../../frames/list-page.tsx";
import { useGraphNames } from "../../graph/graph-names.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Chip, EmptyState } from "../../ui/controls.tsx";
import { glance, shortId } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { STATUSES, type ThreadFilters, lineOf, searchBody } from "./query.ts";
import "./threads.css";

const threadsRoute = getRouteApi("/threads");

export const page = createLazyRoute("/threads")({ component: ThreadsPage });

const REFRESH_MS = 5000;
const ROW_HEIGHT = 46;

function ThreadsPage(): ReactNode {
  const filters = threadsRoute.useSearch();
  const navigate = useNavigate();
  const [active, setActive] = useState(-1);
  const list = usePagedList({
    key: ["threads", filters],
    path: "/threads/search",
    body: (limit, offset) => searchBody(filters, limit, offset),
    itemsOf: (reply: readonly Thread[]) => reply,
    refreshMs: REFRESH_MS,
  });
  const threads = list.items;
  const chosen = threads[active];
  useShortcuts("Threads", [
    ...moveKeys("thread", active, (at) => setActive(Math.max(0, Math.min(threads.length - 1, at)))),
    {
      keys: "Enter",
      label: "Open the thread",
      run: () => {
        if (chosen !== undefined) void navigate({ to: "/threads/$threadId", params: { threadId: chosen.thread_id } });
      },
    },
  ]);
  return (
    <>
      <ListHeader title="Threads" list={list} />
      <FilterBar filters={filters} />
      <ListBody list={list}>
        {threads.length === 0 ? (
          <None filtered={Object.keys(filters).length > 0} />
        ) : (
          <>
            <div className="list-head thread-columns" aria-hidden="true">
              <span>Status</span>
              <span>Last message</span>
              <span>Graph</span>
              <span>Thread</span>
              <span>Updated</span>
            </div>
            <Rows
              list={list}
              rowHeight={ROW_HEIGHT}
              label="Threads"
              keyOf={(thread) => thread.thread_id}
              active={active}
              renderRow={(thread, at) => <Row thread={thread} active={at === active} />}
            />
          </>
        )}
      </ListBody>
    </>
  );
}

function Row({ thread, active }: { readonly thread: Thread; readonly active: boolean }): ReactNode {
  const questions = Object.values(thread.interrupts).flat().length;
  const line = lineOf(thread.extracted?.["last"]) || lineOf(thread.extracted?.["first"]);
  return (
    <div role="listitem" className="thread-item">
      <Link
        to="/threads/$threadId"
        params={{ threadId: thread.thread_id }}
        className={`list-row thread-columns ${active ? "active" : ""}`}
      >
        <span>
          <Status status={thread.status} />
        </span>
        <span className="truncate">
          {line !== "" ? line : <span className="muted">{thread.error?.message ?? fallbackLine(thread)}</span>}
          {questions > 0 ? (
            <span className="thread-waits">
              <Chip tone="amber">{questions === 1 ? "1 pending answer" : `${questions} pending answers`}</Chip>
            </span>
          ) : null}
        </span>
        <span className="muted truncate">{graphOf(thread)}</span>
        <span className="mono muted truncate" title={thread.thread_id}>
          {shortId(thread.thread_id)}
        </span>
        <span className="muted numeric">
          <RelativeTime at={thread.updated_at} />
        </span>
      </Link>
    </div>
  );
}

const OWN_KEYS = new Set(["graph_id", "assistant_id"]);

function fallbackLine({ metadata }: Thread): string {
  const own = Object.entries(metadata).filter(([key]) => !OWN_KEYS.has(key));
  return own.length === 0 ? "no messages" : glance(Object.fromEntries(own));
}

function graphOf({ metadata }: Thread): string {
  const name = metadata["graph_id"];
  return typeof name === "string" ? name : "–";
}

function FilterBar({ filters }: { readonly filters: ThreadFilters }): ReactNode {
  const navigate = useNavigate();
  const set = (name: keyof ThreadFilters, value: string): void =>
    void navigate({ to: "/threads", search: { ...filters, [name]: value === "" ? undefined : value }, replace: true });
  return (
    <ListFilters
      onClear={Object.keys(filters).length === 0 ? null : () => void navigate({ to: "/threads", search: {} })}
    >
      <ChoiceFilter
        label="Status"
        any="Any status"
        value={filters.status}
        options={STATUSES}
        onChange={(status) => set("status", status)}
      />
      <ChoiceFilter
        label="Graph"
        any="Any graph"
        value={filters.graph}
        options={useGraphNames()}
        onChange={(graph) => set("graph", graph)}
      />
      <TextFilter
        label="Metadata"
        placeholder="metadata: key=value"
        value={filters.metadata}
        onChange={(metadata) => set("metadata", metadata)}
      />
      <TextFilter label="Thread id" value={filters.id} onChange={(id) => set("id", id)} />
      <ChoiceFilter
        label="Order"
        any="Recently updated"
        value={filters.sort}
        options={[["created", "Newest first"]]}
        onChange={(sort) => set("sort", sort)}
      />
    </ListFilters>
  );
}

function None({ filtered }: { readonly filtered: boolean }): ReactNode {
  if (filtered) return <EmptyState icon="filter" title="No matching threads" />;
  return (
    <EmptyState icon="threads" title="No threads yet">
      <p>
        The first run creates a thread. <Link to="/assistants">Try an assistant</Link> to start one.
      </p>
    </EmptyState>
  );
}
