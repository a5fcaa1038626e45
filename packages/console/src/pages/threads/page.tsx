// Page Threads: all threads, most recently updated first.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { recognise } from "@holdpoint/api/dialects.ts";
import { call } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { Thread } from "../../api/types.ts";
import { FilterFields, FilteredList, NoItems } from "../../frames/filtered-list.tsx";
import { usePagedList } from "../../frames/list-page.tsx";
import { useGraphNames } from "../../graph/graph-names.ts";
import { Chip } from "../../ui/controls.tsx";
import { glance } from "../../json/excerpt.ts";
import { guarded } from "../../ui/guarded.ts";
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { STATUSES, formatLine, searchBody } from "./query.ts";
import "./threads.css";

const threadsRoute = getRouteApi("/threads");

export const page = createLazyRoute("/threads")({ component: ThreadsPage });

const REFRESH_MS = 5000;
const ROW_HEIGHT = 46;

function ThreadsPage(): ReactNode {
  const filters = threadsRoute.useSearch();
  const navigate = useNavigate();
  const list = usePagedList({
    key: ["threads", filters],
    path: "/threads/search",
    body: (limit, offset) => searchBody(filters, limit, offset),
    listItems: (reply: readonly Thread[]) => reply,
    refreshMs: REFRESH_MS,
  });
  const create = useNewThread();
  const graphs = useGraphNames();
  return (
    <FilteredList
      title="Threads"
      list={list}
      create={create}
      shortcuts={[{ keys: "n", label: "New thread", run: guarded(create.needs, create.run), once: true }]}
      filters={
        <FilterFields
          path="/threads"
          filters={filters}
          fields={[
            { name: "text", label: "Search", placeholder: "Search", isSearch: true },
            { name: "status", label: "Status", any: "Any status", options: STATUSES },
            { name: "graph", label: "Graph", any: "Any graph", options: graphs },
            { name: "metadata", label: "Metadata", placeholder: "metadata: key=value" },
            { name: "id", label: "Thread id", placeholder: "thread id" },
            { name: "sort", label: "Order", any: "Recently updated", options: [["created", "Newest first"]] },
          ]}
        />
      }
      headings={["Status", "Last message", "Graph", "Thread", "Updated"]}
      columns="thread-columns"
      rowHeight={ROW_HEIGHT}
      label="Threads"
      noun="thread"
      buildKey={(thread) => thread.thread_id}
      onOpen={(thread) => void navigate({ to: "/threads/$threadId", params: { threadId: thread.thread_id } })}
      renderRow={(thread, className) => <Row thread={thread} className={className} />}
      none={
        <NoItems path="/threads" filters={filters} icon="threads" nouns="threads" title="No threads yet">
          <p>
            The first run creates a thread. <Link to="/assistants">Try an assistant</Link> to start one.
          </p>
        </NoItems>
      }
    />
  );
}

/** An empty thread; its page has the composer for the first run. */
function useNewThread() {
  const navigate = useNavigate();
  const create = async (): Promise<void> => {
    try {
      const { thread_id: threadId } = await call<Thread>("POST", "/threads", { body: {} });
      await navigate({ to: "/threads/$threadId", params: { threadId } });
    } catch (error) {
      showToast(problemMessage(error), { tone: "red" });
    }
  };
  return { label: "New thread", needs: "threads:create", run: () => void create() };
}

function Row({ thread, className }: { readonly thread: Thread; readonly className: string }): ReactNode {
  const questions = Object.values(thread.interrupts).flat();
  const [question] = questions;
  const asked = question === undefined ? "" : recognise(question.value ?? null, null).title;
  const line = formatLine(thread.extracted?.["last"]) || formatLine(thread.extracted?.["first"]) || asked;
  return (
    <Link to="/threads/$threadId" params={{ threadId: thread.thread_id }} className={className}>
      <span>
        <Status status={thread.status} />
      </span>
      <span className="truncate">
        {line !== "" ? visible(line) : <span className="muted">{thread.error?.message ?? fallbackLine(thread)}</span>}
        {questions.length > 0 ? (
          <span className="thread-waits">
            <Chip tone="amber">
              {questions.length === 1 ? "1 pending answer" : `${questions.length} pending answers`}
            </Chip>
          </span>
        ) : null}
      </span>
      <span className="muted truncate">{readGraphName(thread)}</span>
      <span className="mono muted truncate" title={thread.thread_id}>
        {shortId(thread.thread_id)}
      </span>
      <span className="muted numeric">
        <RelativeTime at={thread.updated_at} />
      </span>
    </Link>
  );
}

const OWN_KEYS = new Set(["graph_id", "assistant_id"]);

function fallbackLine({ metadata }: Thread): string {
  const own = Object.entries(metadata).filter(([key]) => !OWN_KEYS.has(key));
  return own.length === 0 ? "no messages" : own.map(([key, value]) => `${key}: ${glance(value)}`).join(" · ");
}

function readGraphName({ metadata }: Thread): string {
  const name = metadata["graph_id"];
  return typeof name === "string" ? name : "–";
}
