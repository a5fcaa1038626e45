// Page Traces: the traces in the store, newest first, with filters and a histogram.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { NoItems } from "../../frames/filtered-list.tsx";
import { ListBody, ListHeader, Rows, moveKeys, useCursorList } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { PATH, SLOW_SHARE, type TraceFilters, latencyAt, traceQuery } from "./query.ts";
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
  const [active, setActive] = useState(-1);
  const list = useCursorList<TraceItem>({
    key: ["traces", filters],
    path: PATH,
    query: () => traceQuery(filters, Date.now()),
    refreshMs: REFRESH_MS,
  });
  const traces = list.items;
  const open = (trace: TraceItem | undefined): void => {
    if (trace !== undefined) void navigate({ to: "/traces/$traceId", params: { traceId: trace.trace_id } });
  };
  useShortcuts("Traces", [
    ...moveKeys("trace", active, (at) => setActive(Math.max(0, Math.min(traces.length - 1, at)))),
    { keys: "Enter", label: "Open the trace", run: () => open(traces[active]) },
  ]);
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
    <>
      <ListHeader title="Traces" list={list} />
      <FilterBar filters={filters} traces={traces} />
      <ListBody list={list}>
        {traces.length === 0 ? (
          <None filters={filters} />
        ) : (
          <>
            <Statistics traces={traces} more={list.hasMore} filters={filters} />
            <div className="list-head trace-columns" aria-hidden="true">
              {COLUMNS.map((name) => (
                <span key={name}>{name}</span>
              ))}
            </div>
            <Rows
              list={list}
              rowHeight={ROW_HEIGHT}
              label="Traces"
              buildKey={(trace) => trace.trace_id}
              active={active}
              renderRow={(trace, at) => <TraceRow trace={trace} active={at === active} slow={slow} longest={longest} />}
            />
          </>
        )}
      </ListBody>
    </>
  );
}

const COLUMNS = ["Status", "Name", "Input and output", "Latency", "Thread", "Tokens", "Cost", "Started"] as const;

function None({ filters }: { readonly filters: TraceFilters }): ReactNode {
  return (
    <NoItems path="/traces" filters={filters} icon="traces" nouns="traces" title="No traces yet">
      <p>
        Runs of this server appear here automatically. For others, <Link to="/collector">point an exporter here</Link>.
      </p>
    </NoItems>
  );
}
