// Graph: the thread's graph with what has happened on it: the way that was taken, where it stands, where the next run stops.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { call } from "../../api/client.ts";
import type { Drawing, Run, Thread, ThreadState } from "../../api/types.ts";
import { Button, EmptyState, Failure, Loading } from "../../parts/controls.tsx";
import { copy } from "../../parts/copy.tsx";
import { duration, shortId } from "../../parts/format.ts";
import { mermaidOf } from "../../parts/graph-layout.ts";
import GraphView, { type GraphMarks, type NodeMark } from "../../parts/graph-view.tsx";
import { JsonDiff } from "../../parts/json-diff.tsx";
import { readList, writeList } from "../../parts/search-params.ts";
import { QuestionCard } from "./chat.tsx";
import { pausedNodes, storiesOf, waysOf } from "./graph-marks.ts";
import { idOf } from "./history.ts";
import type { Live } from "./live.ts";
import { threadRoute } from "./route.ts";
import { useHistory } from "./use-history.ts";

const SHOWN_CHECKPOINTS_MAX = 10;

export default function GraphTab({
  thread,
  live,
  runs,
}: {
  readonly thread: Thread;
  readonly live: Live | null;
  readonly runs: readonly Run[];
}): ReactNode {
  const assistant = runs[0]?.assistant_id ?? thread.metadata["assistant_id"] ?? thread.metadata["graph_id"];
  const [open, setOpen] = useState(true);
  const drawing = useQuery({
    queryKey: ["drawing", assistant, open],
    enabled: typeof assistant === "string",
    queryFn: ({ signal }) =>
      call<Drawing>("GET", `/assistants/${String(assistant)}/graph`, { query: { xray: open }, signal }),
  });
  const search = threadRoute.useSearch();
  const marks = useMarks(thread, live);
  if (typeof assistant !== "string") {
    return (
      <EmptyState icon="assistants" title="The thread has no graph yet">
        <p>Its first run gives it one.</p>
      </EmptyState>
    );
  }
  if (drawing.isPending) return <Loading />;
  if (drawing.isError) return <Failure error={drawing.error} onRetry={() => void drawing.refetch()} />;
  return (
    <div className="graph-tab">
      <div className="graph-canvas">
        <div className="graph-tools">
          <Button kind="quiet" aria-pressed={open} onClick={() => setOpen(!open)}>
            {open ? "Close subgraphs" : "Open subgraphs"}
          </Button>
          <Button kind="quiet" icon="copy" onClick={() => void copy(mermaidOf(drawing.data), "the graph as Mermaid")}>
            Mermaid
          </Button>
        </div>
        <GraphView drawing={drawing.data} marks={marks} label="Graph of the thread" />
      </div>
      <Side thread={thread} node={search.node ?? null} />
    </div>
  );
}

function useMarks(thread: Thread, live: Live | null): GraphMarks {
  const search = threadRoute.useSearch();
  const params = threadRoute.useParams();
  const navigate = useNavigate();
  const history = useHistory(thread);
  const states = useMemo(() => history.data?.pages.flat() ?? [], [history.data]);
  const stories = useMemo(() => storiesOf(states), [states]);
  const ways = useMemo(() => waysOf(states), [states]);
  const paused = pausedNodes(states[0], thread.status);
  const running = new Set(thread.status === "busy" ? (states[0]?.next ?? []) : []);
  const done = new Set(live?.nodesDone ?? []);
  const before = new Set(readList(search.before));
  const after = new Set(readList(search.after));
  const go = (change: object): void =>
    void navigate({ to: "/threads/$threadId", params, search: { ...search, ...change }, replace: true });
  const markOf = (node: string): NodeMark => {
    const story = stories.get(node);
    if (paused.has(node)) return "paused";
    if (story?.failed === true) return "failed";
    if (done.has(node)) return "done";
    if (running.has(node)) return "running";
    return (story?.times ?? 0) > 0 ? "done" : "never";
  };
  const left = (node: string): boolean => node === "__start__" || markOf(node) === "done";
  const reached = (node: string): boolean => (node === "__end__" ? thread.status === "idle" : markOf(node) !== "never");
  return {
    markOf,
    // Of what is inside a subgraph the checkpoints of the thread say nothing.
    isTaken: (source, target) =>
      ways.has(`${source} ${target}`) || (`${source}${target}`.includes(":") && left(source) && reached(target)),
    noteOf(node) {
      if (paused.has(node)) return "waits here";
      const times = stories.get(node)?.times ?? 0;
      return times > 1 ? `ran ${times} times` : null;
    },
    selected: search.node ?? null,
    onSelect: (node) => go({ node: node === search.node ? undefined : node }),
    breakpoints: {
      before,
      after,
      toggle(side, node) {
        const set = new Set(side === "before" ? before : after);
        if (!set.delete(node)) set.add(node);
        go({ [side]: writeList([...set]) });
      },
    },
  };
}

function Side({ thread, node }: { readonly thread: Thread; readonly node: string | null }): ReactNode {
  const questions = Object.values(thread.interrupts).flat();
  return (
    <aside className="graph-side" aria-label="What is known of the graph" tabIndex={0}>
      {questions.map((question) => (
        <QuestionCard key={question.id} threadId={thread.thread_id} question={question} />
      ))}
      {node === null ? (
        <section className="stack muted">
          <p>Choose a node to see what it has changed.</p>
          <p>The dots at a node stop the next run before or after it. The chat shows what is set.</p>
        </section>
      ) : (
        <NodeDetail thread={thread} node={node} />
      )}
    </aside>
  );
}

/** From one checkpoint to the next; a wait for a person is in it. */
function lengthOf(from: ThreadState | undefined, to: ThreadState | undefined): string {
  const [began, ended] = [Date.parse(from?.created_at ?? ""), Date.parse(to?.created_at ?? "")];
  return Number.isNaN(ended - began) ? "" : duration(ended - began);
}

function NodeDetail({ thread, node }: { readonly thread: Thread; readonly node: string }): ReactNode {
  const history = useHistory(thread);
  const states = history.data?.pages.flat() ?? [];
  const story = storiesOf(states).get(node);
  const shown = story?.checkpoints.slice(0, SHOWN_CHECKPOINTS_MAX) ?? [];
  return (
    <section className="stack">
      <div className="row">
        <h2>{node}</h2>
        <Link
          to="/threads/$threadId"
          params={{ threadId: thread.thread_id }}
          search={{ tab: "trace" }}
          className="spread"
        >
          Trace
        </Link>
      </div>
      {shown.length === 0 ? <p className="muted">It has not run on this thread.</p> : null}
      {shown.map((id) => {
        const from = states.find((state) => idOf(state) === id);
        const to = states.find((state) => state.parent_checkpoint?.checkpoint_id === id);
        return (
          <div key={id} className="card state-card">
            <p className="row">
              <Link
                to="/threads/$threadId"
                params={{ threadId: thread.thread_id }}
                search={{ tab: "history", checkpoint: id }}
                className="mono"
              >
                from {shortId(id)}
              </Link>
              <span className="muted numeric spread">{lengthOf(from, to)}</span>
            </p>
            {to === undefined ? (
              <p className="muted">It has not ended.</p>
            ) : (
              <JsonDiff before={from?.values} after={to.values} none="The step changed nothing." />
            )}
          </div>
        );
      })}
    </section>
  );
}
