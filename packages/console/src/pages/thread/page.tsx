// Page Thread: the views of one thread. View and selection are in the URL.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { call, request } from "../../api/client.ts";
import type { Run, Thread } from "../../api/types.ts";
import { setTitle } from "../../browser/badge.ts";
import { DeleteDialog } from "../../frames/delete-dialog.tsx";
import { hasHeld, outbox } from "../../data/inbox/outbox.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { useValue } from "../../hooks/value.ts";
import { Button, Chip, EmptyState, Failure, IconButton, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { glance } from "../../json/excerpt.ts";
import { Icon } from "../../ui/icons.tsx";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
import { ChatTab } from "./chat.tsx";
import { HistoryTab } from "./history.tsx";
import { RunsTab } from "./runs.tsx";
import { StateTab } from "./state.tsx";
import "./thread.css";
import { TraceTab } from "./trace.tsx";
import { useLive, useRefresh, useRuns, useThread } from "./use-thread.ts";

const threadRoute = getRouteApi("/threads/$threadId");

export const page = createLazyRoute("/threads/$threadId")({ component: ThreadPage });

const GraphTab = lazy(() => import("./graph.tsx"));

const TABS = ["chat", "state", "history", "graph", "runs", "trace"] as const;
type Tab = (typeof TABS)[number];
const TAB_NAMES: Readonly<Record<Tab, string>> = {
  chat: "Chat",
  state: "State",
  history: "History",
  graph: "Graph",
  runs: "Runs",
  trace: "Trace",
};

function ThreadPage(): ReactNode {
  const { threadId } = threadRoute.useParams();
  const thread = useThread(threadId);
  useEffect(() => setTitle(`Thread ${shortId(threadId)}`), [threadId]);
  if (thread.data !== undefined) return <Loaded key={threadId} thread={thread.data} />;
  if (thread.isPending) return <Loading />;
  return (
    <>
      <header className="page-header">
        <h1>Thread</h1>
        <span className="mono muted">{threadId}</span>
      </header>
      <Failure error={thread.error} onRetry={() => void thread.refetch()} />
      <EmptyState icon="threads" title="Cannot show this thread">
        <p>
          <Link to="/threads">All threads</Link>
        </p>
      </EmptyState>
    </>
  );
}

function Loaded({ thread }: { readonly thread: Thread }): ReactNode {
  const search = threadRoute.useSearch();
  const navigate = useNavigate();
  const runs = useRuns(thread);
  const running = runs.data?.find(({ status }) => status === "running" || status === "pending") ?? null;
  const live = useLive(thread.thread_id, running);
  const tab = TABS.find((one) => one === search.tab) ?? "chat";
  const holdsAnswer = hasHeld(useValue(outbox));
  const go = (to: Tab): void =>
    void navigate({ to: "/threads/$threadId", params: { threadId: thread.thread_id }, search: { ...search, tab: to } });
  useShortcuts("Thread", [
    ...TABS.map((one, at) => ({ keys: `${at + 1}`, label: `Show ${TAB_NAMES[one]}`, run: () => go(one) })),
    ...(holdsAnswer // outbox.5
      ? []
      : [{ keys: "u", label: "Back to all threads", run: () => void navigate({ to: "/threads" }) }]),
  ]);
  return (
    <>
      <Header thread={thread} running={running} />
      <nav className="tabs" aria-label="Views of the thread">
        {TABS.map((one) => (
          <Link
            key={one}
            to="/threads/$threadId"
            params={{ threadId: thread.thread_id }}
            search={{ ...search, tab: one }}
            className="tab"
            activeProps={{}}
            aria-current={one === tab ? "page" : undefined}
          >
            {TAB_NAMES[one]}
            {one === "runs" && running !== null ? <span className="status-dot pulsing" aria-label="running" /> : null}
          </Link>
        ))}
      </nav>
      {tab === "chat" ? <ChatTab thread={thread} live={live} running={running} /> : null}
      {tab === "state" ? <StateTab thread={thread} /> : null}
      {tab === "history" ? <HistoryTab thread={thread} /> : null}
      {tab === "graph" ? (
        <Suspense fallback={<Loading label="Loading the drawing" />}>
          <GraphTab thread={thread} live={live} runs={runs.data ?? []} />
        </Suspense>
      ) : null}
      {tab === "runs" ? <RunsTab thread={thread} runs={runs} /> : null}
      {tab === "trace" ? <TraceTab thread={thread} /> : null}
    </>
  );
}

const OWN_KEYS = new Set(["graph_id", "assistant_id"]);
const CHIPS_MAX = 4;

function Header({ thread, running }: { readonly thread: Thread; readonly running: Run | null }): ReactNode {
  const { metadata } = thread;
  const graph = metadata["graph_id"];
  const own = Object.entries(metadata).filter(([key]) => !OWN_KEYS.has(key));
  return (
    <header className="page-header thread-header">
      <Link to="/threads" className="button quiet icon-only" aria-label="All threads">
        <Icon name="back" />
      </Link>
      <h1 className="thread-title">
        Thread <span className="mono">{shortId(thread.thread_id)}</span>
      </h1>
      <CopyButton text={thread.thread_id} what="the thread's id" />
      <Status status={thread.status} />
      {typeof graph === "string" ? (
        <Link to="/assistants" search={{ graph }} className="chip accent">
          {graph}
        </Link>
      ) : null}
      {own.slice(0, CHIPS_MAX).map(([key, value]) => (
        <Chip key={key} title={`${key}: ${glance(value)}`}>
          {key}: {glance(value, 24)}
        </Chip>
      ))}
      <span className="muted small thread-changed">
        changed <RelativeTime at={thread.updated_at} />
      </span>
      <Actions thread={thread} running={running} />
    </header>
  );
}

function Actions({ thread, running }: { readonly thread: Thread; readonly running: Run | null }): ReactNode {
  const [deleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  const refresh = useRefresh(thread.thread_id);
  const path = `/threads/${thread.thread_id}`;
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    await withToast(work, done);
    await refresh();
  };
  const duplicate = async (): Promise<void> => {
    const copied = await call<Thread>("POST", `${path}/copy`);
    await navigate({ to: "/threads/$threadId", params: { threadId: copied.thread_id }, search: {} });
  };
  const remove = async (): Promise<void> => {
    await request("DELETE", path);
    await navigate({ to: "/threads" });
  };
  return (
    <span className="row spread">
      {running === null ? null : (
        <Button
          kind="danger"
          needs="threads:update"
          onClick={() =>
            void act(() => request("POST", `${path}/runs/${running.run_id}/cancel`), "Cancelling the run.")
          }
        >
          Cancel run
        </Button>
      )}
      <Button
        kind="quiet"
        icon="copy"
        needs="threads:create"
        onClick={() => void act(duplicate, "Thread duplicated. This is the copy.")}
      >
        Duplicate
      </Button>
      <CopyCurl method="GET" path={`${path}/state`} />
      <IconButton icon="cross" label="Delete the thread" needs="threads:delete" onClick={() => setDeleting(true)} />
      {deleting ? (
        <DeleteDialog
          title="Delete this thread?"
          description="Deletes its runs, checkpoints and open interrupts too. This cannot be undone."
          call={{ path }}
          onDelete={() => void act(remove, "Thread deleted.")}
          onClose={() => setDeleting(false)}
        >
          <p className="mono">{thread.thread_id}</p>
        </DeleteDialog>
      ) : null}
    </span>
  );
}
