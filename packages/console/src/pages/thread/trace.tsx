// Trace: the traces of this thread's runs, from the local trace store.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../../api/client.ts";
import { measureTrace } from "@holdpoint/api/traces/trace-times.ts";
import type { TraceItem, TracePage } from "@holdpoint/api/traces/traces.ts";
import type { Thread } from "../../api/types.ts";
import { EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { count, duration } from "../../ui/format.ts";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";

const TRACES_MAX = 100;
const US_IN_MS = 1000;

export function TraceTab({ thread }: { readonly thread: Thread }): ReactNode {
  const traces = useQuery({
    queryKey: ["thread-traces", thread.thread_id, thread.updated_at],
    queryFn: ({ signal }) =>
      call<TracePage>("GET", "/console/api/traces", {
        query: { thread_id: thread.thread_id, limit: TRACES_MAX },
        signal,
      }),
  });
  if (traces.isPending) return <Loading />;
  if (traces.isError) {
    if (isAbsent(traces.error)) return <NoTraceStore />;
    return <Failure error={traces.error} onRetry={() => void traces.refetch()} />;
  }
  if (traces.data.items.length === 0) {
    return (
      <EmptyState icon="traces" title="No traces for this thread">
        <p>Traces arrive a moment after a run ends. The store removes the oldest traces when it is full.</p>
      </EmptyState>
    );
  }
  return (
    <div className="page-body">
      <ul className="card trace-cards">
        {traces.data.items.map((trace) => (
          <li key={trace.trace_id}>
            <Link to="/traces/$traceId" params={{ traceId: trace.trace_id }} className="trace-card">
              <Status status={trace.status} />
              <span className="truncate">{trace.name}</span>
              <span className="muted numeric">{count(trace.runs)} spans</span>
              <span className="muted numeric">
                <TraceTime trace={trace} />
              </span>
              <span className="muted">
                <RelativeTime at={new Date(trace.start_us / US_IN_MS).toISOString()} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function TraceTime({ trace }: { readonly trace: TraceItem }): ReactNode {
  const { whole, wait } = measureTrace(trace, Date.now() * US_IN_MS);
  if (whole === null) return "–";
  return `${duration(whole / US_IN_MS)}${wait === 0 ? "" : `, ${duration(wait / US_IN_MS)} waiting`}`;
}
