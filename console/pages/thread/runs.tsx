// Runs: every run of the thread with its result and its request.
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { request } from "../../api/client.ts";
import { problemMessage } from "../../api/problem.ts";
import type { Run, Thread } from "../../api/types.ts";
import { JsonView } from "../../json/json-view.tsx";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { duration, shortId } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { useRefresh } from "./use-thread.ts";

const threadRoute = getRouteApi("/threads/$threadId");

const ROW_HEIGHT = 44;

export function RunsTab({
  thread,
  runs,
}: {
  readonly thread: Thread;
  readonly runs: UseQueryResult<readonly Run[]>;
}): ReactNode {
  const search = threadRoute.useSearch();
  const navigate = useNavigate();
  if (runs.isPending) return <Loading />;
  if (runs.isError) return <Failure error={runs.error} onRetry={() => void runs.refetch()} />;
  if (runs.data.length === 0) {
    return (
      <EmptyState icon="traces" title="No runs yet">
        <p>Start one in the chat.</p>
      </EmptyState>
    );
  }
  const chosen = runs.data.find(({ run_id: id }) => id === search.run) ?? runs.data[0];
  return (
    <div className="split">
      <div className="split-list">
        <VirtualList
          items={runs.data}
          rowHeight={ROW_HEIGHT}
          label="Runs, newest first"
          keyOf={(run) => run.run_id}
          renderRow={(run) => (
            <div role="listitem" className="step-item">
              <button
                type="button"
                className={`step ${run === chosen ? "active" : ""}`}
                aria-pressed={run === chosen}
                onClick={() =>
                  void navigate({
                    to: "/threads/$threadId",
                    params: { threadId: thread.thread_id },
                    search: { ...search, run: run.run_id },
                    replace: true,
                  })
                }
              >
                <span className="row run-row">
                  <Status status={run.status} />
                  <span className="mono muted truncate">{shortId(run.run_id)}</span>
                  <span className="muted numeric spread">{lengthOf(run)}</span>
                  <span className="muted">
                    <RelativeTime at={run.created_at} />
                  </span>
                </span>
              </button>
            </div>
          )}
        />
      </div>
      {chosen === undefined ? null : <Detail thread={thread} run={chosen} />}
    </div>
  );
}

const isActive = ({ status }: Run): boolean => status === "running" || status === "pending";

function lengthOf(run: Run): string {
  return isActive(run) ? "" : duration(Date.parse(run.updated_at) - Date.parse(run.created_at));
}

const ENDS: Readonly<Record<string, string>> = {
  done: "the graph ended",
  pause: "paused for an answer",
  cancel: "cancelled",
  rollback: "rolled back",
  failure: "failed",
  timeout: "timed out",
};

function Detail({ thread, run }: { readonly thread: Thread; readonly run: Run }): ReactNode {
  const refresh = useRefresh(thread.thread_id);
  const path = `/threads/${thread.thread_id}/runs/${run.run_id}`;
  const cancel = async (action: "interrupt" | "rollback"): Promise<void> => {
    try {
      await request("POST", `${path}/cancel`, { query: { action } });
      tell(action === "rollback" ? "Rolling back the run." : "Cancelling the run.");
    } catch (error) {
      tell(problemMessage(error), { tone: "red" });
    }
    await refresh();
  };
  const replay = Object.fromEntries(
    Object.entries(run.kwargs).filter(([name, value]) => value !== null && !NOT_ASKED.has(name)),
  );
  return (
    <div className="split-detail" role="region" aria-label="Run" tabIndex={0}>
      <div className="row detail-head">
        <h2>
          Run <span className="mono">{shortId(run.run_id)}</span>
        </h2>
        <CopyButton text={run.run_id} what="the run's id" />
        <Status status={run.status} />
      </div>
      <div className="actions">
        {isActive(run) ? (
          <>
            <Button kind="danger" onClick={() => void cancel("interrupt")}>
              Cancel
            </Button>
            <Button kind="danger" onClick={() => void cancel("rollback")}>
              Cancel and roll back
            </Button>
          </>
        ) : null}
        <Link
          to="/threads/$threadId"
          params={{ threadId: thread.thread_id }}
          search={{ tab: "trace" }}
          className="button quiet"
        >
          Trace
        </Link>
        <CopyCurl
          method="POST"
          path={`/threads/${thread.thread_id}/runs`}
          body={{ assistant_id: run.assistant_id, ...replay }}
        />
      </div>
      <dl className="facts">
        <div>
          <dt>Ended</dt>
          <dd>{run.ended_by === null ? "not yet" : (ENDS[run.ended_by] ?? run.ended_by)}</dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd className="numeric">{lengthOf(run) || "–"}</dd>
        </div>
        <div>
          <dt>Attempts</dt>
          <dd>
            {run.attempt} {run.attempt > 1 ? <Chip tone="amber">attempts</Chip> : null}
          </dd>
        </div>
        <div>
          <dt>When the thread is busy</dt>
          <dd>{run.multitask_strategy}</dd>
        </div>
        <div>
          <dt>Assistant</dt>
          <dd className="mono">{shortId(run.assistant_id)}</dd>
        </div>
      </dl>
      {run.error === undefined ? null : <Failure error={new Error(`${run.error.error}: ${run.error.message}`)} />}
      {run.error?.stack === undefined ? null : (
        <section className="card state-card">
          <h3>Stack trace</h3>
          <pre>{run.error.stack}</pre>
        </section>
      )}
      <section className="card state-card">
        <h3>Request</h3>
        <JsonView value={run.kwargs} label="the request" openLevels={1} />
      </section>
      <section className="card state-card">
        <h3>Metadata</h3>
        <JsonView value={run.metadata} label="the metadata" openLevels={1} />
      </section>
    </div>
  );
}

/** Members of the record with another name in a request. */
const NOT_ASKED = new Set(["subgraphs", "resumable"]);
