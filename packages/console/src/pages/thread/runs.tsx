// Runs: every run of the thread with its result and its request.
import { shortId } from "@holdpoint/api/text/short-id.ts";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { request } from "../../api/client.ts";
import type { Run, Thread } from "../../api/types.ts";
import { ChoiceRow } from "../../frames/list-page.tsx";
import { JsonCard } from "../../json/json-card.tsx";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { duration } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { withToast } from "../../ui/with-toast.ts";
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
  const choose = (id: string): void =>
    void navigate({
      to: "/threads/$threadId",
      params: { threadId: thread.thread_id },
      search: { ...search, run: id },
      replace: true,
    });
  const chosen = runs.data.find(({ run_id: id }) => id === search.run) ?? runs.data[0];
  return (
    <div className="split">
      <div className="split-list">
        <VirtualList
          items={runs.data}
          rowHeight={ROW_HEIGHT}
          label="Runs, newest first"
          buildKey={(run) => run.run_id}
          renderRow={(run) => (
            <ChoiceRow chosen={run === chosen} onChoose={() => choose(run.run_id)}>
              <span className="row run-row">
                <Status status={run.status} />
                <span className="mono muted truncate">{shortId(run.run_id)}</span>
                <span className="muted numeric spread">{formatLength(run)}</span>
                <span className="muted">
                  <RelativeTime at={run.created_at} />
                </span>
              </span>
            </ChoiceRow>
          )}
        />
      </div>
      {chosen === undefined ? null : <Detail thread={thread} run={chosen} />}
    </div>
  );
}

const isActive = ({ status }: Run): boolean => status === "running" || status === "pending";

function formatLength(run: Run): string {
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
  return (
    <div className="split-detail" role="region" aria-label="Run" tabIndex={0}>
      <div className="row detail-head">
        <h2>
          Run <span className="mono">{shortId(run.run_id)}</span>
        </h2>
        <CopyButton text={run.run_id} what="the run's id" />
        <Status status={run.status} />
      </div>
      <Actions thread={thread} run={run} />
      <Facts>
        <Fact name="Ended">{run.ended_by === null ? "not yet" : (ENDS[run.ended_by] ?? run.ended_by)}</Fact>
        <Fact name="Duration" className="numeric">
          {formatLength(run) || "–"}
        </Fact>
        <Fact name="Attempts">
          {run.attempt} {run.attempt > 1 ? <Chip tone="amber">attempts</Chip> : null}
        </Fact>
        <Fact name="When the thread is busy">{run.multitask_strategy}</Fact>
        <Fact name="Assistant" className="mono">
          {shortId(run.assistant_id)}
        </Fact>
      </Facts>
      {run.error === undefined ? null : <Failure error={new Error(`${run.error.error}: ${run.error.message}`)} />}
      {run.error?.stack === undefined ? null : (
        <section className="card state-card">
          <h3>Stack trace</h3>
          <pre>{run.error.stack}</pre>
        </section>
      )}
      <JsonCard title="Request" value={run.kwargs} openLevels={1} />
      <JsonCard title="Metadata" value={run.metadata} openLevels={1} />
    </div>
  );
}

function Actions({ thread, run }: { readonly thread: Thread; readonly run: Run }): ReactNode {
  const refresh = useRefresh(thread.thread_id);
  const path = `/threads/${thread.thread_id}/runs/${run.run_id}`;
  const cancel = async (action: "interrupt" | "rollback"): Promise<void> => {
    const done = action === "rollback" ? "Rolling back the run." : "Cancelling the run.";
    await withToast(() => request("POST", `${path}/cancel`, { query: { action } }), done);
    await refresh();
  };
  const replay = Object.fromEntries(
    Object.entries(run.kwargs).filter(([name, value]) => value !== null && !NOT_IN_REQUESTS.has(name)),
  );
  return (
    <div className="actions">
      {isActive(run) ? (
        <>
          <Button kind="danger" needs="threads:update" onClick={() => void cancel("interrupt")}>
            Cancel
          </Button>
          <Button kind="danger" needs="threads:update" onClick={() => void cancel("rollback")}>
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
  );
}

/** Members of the record with another name in a request. */
const NOT_IN_REQUESTS = new Set(["subgraphs", "resumable"]);
