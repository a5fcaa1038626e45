// Graph: the thread's graph with its history: the taken edges, the current position, the next breakpoints.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import type { Run, Thread, ThreadState } from "../../api/types.ts";
import { GraphFrame, addressMarks } from "../../frames/graph-frame.tsx";
import type { GraphMarks, NodeMark } from "../../graph/graph-view.tsx";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { EmptyState } from "../../ui/controls.tsx";
import { duration } from "../../ui/format.ts";
import { AnswerLink, QuestionCard } from "./question/question-card.tsx";
import { pausedNodes, buildHistories, traversedEdges } from "./graph-marks.ts";
import { readCheckpointId } from "./history.ts";
import type { Live } from "./live.ts";
import { useHistory } from "./use-history.ts";

const threadRoute = getRouteApi("/threads/$threadId");

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
  const search = threadRoute.useSearch();
  const marks = useMarks(thread, live);
  if (typeof assistant !== "string") {
    return (
      <EmptyState icon="assistants" title="No graph yet">
        <p>The first run of the thread determines its graph.</p>
      </EmptyState>
    );
  }
  return (
    <GraphFrame
      assistant={assistant}
      label="Graph of the thread"
      marks={marks}
      side={() => <Side thread={thread} node={search.node ?? null} />}
    />
  );
}

function useMarks(thread: Thread, live: Live | null): GraphMarks {
  const search = threadRoute.useSearch();
  const params = threadRoute.useParams();
  const navigate = useNavigate();
  const history = useHistory(thread);
  const states = useMemo(() => history.data?.pages.flat() ?? [], [history.data]);
  const stories = useMemo(() => buildHistories(states), [states]);
  const ways = useMemo(() => traversedEdges(states), [states]);
  const paused = pausedNodes(states[0], thread.status);
  const running = new Set(thread.status === "busy" ? (states[0]?.next ?? []) : []);
  const done = new Set(live?.nodesDone ?? []);
  const chooseMark = (node: string): NodeMark => {
    const story = stories.get(node);
    if (paused.has(node)) return "paused";
    if (story?.failed === true) return "failed";
    if (done.has(node)) return "done";
    if (running.has(node)) return "running";
    return (story?.times ?? 0) > 0 ? "done" : "never";
  };
  const left = (node: string): boolean => node === "__start__" || chooseMark(node) === "done";
  const reached = (node: string): boolean =>
    node === "__end__" ? thread.status === "idle" : chooseMark(node) !== "never";
  return {
    chooseMark,
    // The checkpoints of the thread do not cover the inside of subgraphs.
    isTraversed: (source, target) =>
      ways.has(`${source} ${target}`) || (`${source}${target}`.includes(":") && left(source) && reached(target)),
    findNote(node) {
      if (paused.has(node)) return "paused here";
      const times = stories.get(node)?.times ?? 0;
      return times > 1 ? `ran ${times} times` : null;
    },
    ...addressMarks(
      search,
      (change) => void navigate({ to: "/threads/$threadId", params, search: { ...search, ...change }, replace: true }),
    ),
  };
}

function Side({ thread, node }: { readonly thread: Thread; readonly node: string | null }): ReactNode {
  const questions = Object.values(thread.interrupts).flat();
  return (
    <aside className="graph-side" aria-label="Graph details" tabIndex={0}>
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question}>
          <AnswerLink threadId={thread.thread_id} question={question} />
        </QuestionCard>
      ))}
      {node === null ? (
        <section className="stack muted">
          <p>Select a node to see its changes.</p>
          <p>The dots at a node set a breakpoint before or after it for the next run. The chat lists them.</p>
        </section>
      ) : (
        <NodeDetail thread={thread} node={node} />
      )}
    </aside>
  );
}

/** From one checkpoint to the next, including waits for a person. */
function formatLength(from: ThreadState | undefined, to: ThreadState | undefined): string {
  const [began, ended] = [Date.parse(from?.created_at ?? ""), Date.parse(to?.created_at ?? "")];
  return Number.isNaN(ended - began) ? "" : duration(ended - began);
}

function NodeDetail({ thread, node }: { readonly thread: Thread; readonly node: string }): ReactNode {
  const history = useHistory(thread);
  const states = history.data?.pages.flat() ?? [];
  const story = buildHistories(states).get(node);
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
      {shown.length === 0 ? <p className="muted">This node has not run on this thread.</p> : null}
      {shown.map((id) => {
        const from = states.find((state) => readCheckpointId(state) === id);
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
              <span className="muted numeric spread">{formatLength(from, to)}</span>
            </p>
            {to === undefined ? (
              <p className="muted">Not finished.</p>
            ) : (
              <JsonDiff before={from?.values} after={to.values} none="The step changed nothing." />
            )}
          </div>
        );
      })}
    </section>
  );
}
