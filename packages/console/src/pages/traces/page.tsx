// Page Traces: the traces in the store, newest first, with filters and a histogram.
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useMemo } from "react";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { FilteredList, NoItems } from "../../frames/filtered-list.tsx";
import { useCursorList } from "../../frames/list-page.tsx";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { PATH, SLOW_SHARE, type TraceFilters, US_IN_MS, countBins, latencyAt, traceQuery } from "./query.ts";
import { TraceRow } from "./trace-row.tsx";
import "./traces.css";
import { count, duration } from "../../ui/format.ts";

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

// Number, failures and latencies of the listed traces, and a histogram of their start times.

const Histogram = lazy(() => import("../../charts/histogram.tsx"));

const BINS_MOST = 60;

function Statistics({
  traces,
  more,
  filters,
}: {
  readonly traces: readonly TraceItem[];
  readonly more: boolean;
  readonly filters: TraceFilters;
}): ReactNode {
  const navigate = useNavigate();
  const bins = useMemo(() => countBins(traces, BINS_MOST), [traces]);
  const [median, slow] = [latencyAt(traces, 0.5), latencyAt(traces, SLOW_SHARE)];
  const errors = traces.filter(({ status }) => status === "error").length;
  const range = (from: number, to: number): void =>
    void navigate({
      to: "/traces",
      search: { ...filters, since: undefined, from: String(Math.floor(from)), to: String(Math.ceil(to)) },
    });
  return (
    <section className="trace-figures" aria-label="Statistics of the listed traces">
      <dl className="figures">
        <div>
          <dt>{more ? "newest" : "traces"}</dt>
          <dd className="numeric">{count(traces.length)}</dd>
        </div>
        <div>
          <dt>failed</dt>
          <dd className={errors > 0 ? "numeric bad" : "numeric"}>{count(errors)}</dd>
        </div>
        <div>
          <dt>p50</dt>
          <dd className="numeric">{median === null ? "–" : duration(median / US_IN_MS)}</dd>
        </div>
        <div>
          <dt>p95</dt>
          <dd className="numeric">{slow === null ? "–" : duration(slow / US_IN_MS)}</dd>
        </div>
      </dl>
      <div className="figures-chart">
        <Suspense fallback={null}>
          <Histogram
            {...bins}
            label={`Start times of the traces, in bins of ${duration(bins.widthSecs * 1000)}`}
            onRange={range}
          />
        </Suspense>
      </div>
    </section>
  );
}
