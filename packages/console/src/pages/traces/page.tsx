// Page Traces: the traces in the store, newest first, with filters and a histogram.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { FilteredList, NoItems } from "../../frames/filtered-list.tsx";
import { useCursorList } from "../../frames/list-page.tsx";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { PATH, SLOW_SHARE, latencyAt, traceQuery } from "./query.ts";
import { Statistics } from "./statistics.tsx";
import { TraceRow } from "./trace-row.tsx";
import "./traces.css";

const tracesRoute = getRouteApi("/traces");

export const page = createLazyRoute("/traces")({ component: TracesPage });

const REFRESH_MS = 5000;
const ROW_HEIGHT = 44;

function TracesPage(): ReactNode {
  const filters = tracesRoute.useSearch();
  const navigate = useNavigate();
  const list = useCursorList<TraceItem>({
    key: ["traces", filters],
    path: PATH,
    query: () => traceQuery(filters, Date.now()),
    refreshMs: REFRESH_MS,
  });
  const traces = list.items;
  if (list.isError && isAbsent(list.error)) {
    return (
      <>
        <header className="page-header">
          <h1>Traces</h1>
        </header>
        <NoTraceStore />
      </>
    );
  }
  const [slow, longest] = [latencyAt(traces, SLOW_SHARE), latencyAt(traces, 1)];
  return (
    <FilteredList
      title="Traces"
      list={list}
      filters={<FilterBar filters={filters} traces={traces} />}
      summary={<Statistics traces={traces} more={list.hasMore} filters={filters} />}
      headings={["Status", "Name", "Input and output", "Latency", "Thread", "Tokens", "Cost", "Started"]}
      columns="trace-columns"
      rowHeight={ROW_HEIGHT}
      label="Traces"
      noun="trace"
      buildKey={(trace) => trace.trace_id}
      onOpen={(trace) => void navigate({ to: "/traces/$traceId", params: { traceId: trace.trace_id } })}
      renderRow={(trace, className) => <TraceRow trace={trace} className={className} slow={slow} longest={longest} />}
      none={
        <NoItems path="/traces" filters={filters} icon="traces" nouns="traces" title="No traces yet">
          <p>
            Runs of this server appear here automatically. For others,{" "}
            <Link to="/collector">point an exporter here</Link>.
          </p>
        </NoItems>
      }
    />
  );
}
