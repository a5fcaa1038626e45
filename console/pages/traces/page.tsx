// Page Traces: the traces in the store, newest first, with filters and a histogram.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useEffect, useMemo, useState } from "react";
import type { TraceItem, TracePage } from "../../../src/api/traces.ts";
import { call } from "../../api/client.ts";
import { setTitle } from "../../browser/badge.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Tokens } from "../../messages/tokens.tsx";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyCurl } from "../../ui/copy.tsx";
import { absoluteTime, count, duration } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { SINCE, STATUSES, type TraceFilters, binsOf, latencyAt, traceQuery } from "./query.ts";
import "./traces.css";

const tracesRoute = getRouteApi("/traces");

export const page = createLazyRoute("/traces")({ component: TracesPage });

const Histogram = lazy(() => import("../../charts/histogram.tsx"));

const PAGE_SIZE = 100;
const REFRESH_MS = 5000;
const ROW_HEIGHT = 44;
const BINS_MOST = 60;
const US_IN_MS = 1000;
const SLOW_SHARE = 0.95;
const PATH = "/console/api/traces";

function TracesPage(): ReactNode {
  useEffect(() => setTitle("Traces"), []);
  const filters = tracesRoute.useSearch();
  const navigate = useNavigate();
  const [active, setActive] = useState(-1);
  const list = useInfiniteQuery({
    queryKey: ["traces", filters],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      call<TracePage>("GET", PATH, {
        query: { ...traceQuery(filters, Date.now()), limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  const traces = useMemo(() => list.data?.pages.flatMap(({ items }) => items) ?? [], [list.data]);
  const move = (by: number): void => setActive(Math.max(0, Math.min(traces.length - 1, active + by)));
  useShortcuts("Traces", [
    { keys: "j", label: "Next trace", run: () => move(1) },
    { keys: "k", label: "Previous trace", run: () => move(-1) },
    {
      keys: "Enter",
      label: "Open the trace",
      run: () => {
        const chosen = traces[active];
        if (chosen !== undefined) void navigate({ to: "/traces/$traceId", params: { traceId: chosen.trace_id } });
      },
    },
  ]);
  if (list.isError && isAbsent(list.error)) return <Absent />;
  return (
    <>
      <header className="page-header">
        <h1>Traces</h1>
        <span className="spread">
          <CopyCurl method="GET" path={PATH} query={{ ...traceQuery(filters, Date.now()), limit: PAGE_SIZE }} />
        </span>
      </header>
      <FilterBar filters={filters} traces={traces} />
      {list.isError && traces.length === 0 ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading />
      ) : traces.length === 0 ? (
        <None filtered={Object.keys(filters).length > 0} />
      ) : (
        <>
          <Figures traces={traces} more={list.hasNextPage} filters={filters} />
          <div className="list-head trace-columns" aria-hidden="true">
            <span>Status</span>
            <span>Name</span>
            <span>Latency</span>
            <span>Model</span>
            <span>Tokens</span>
            <span>Spans</span>
            <span>Project</span>
            <span>Started</span>
          </div>
          <Rows
            traces={traces}
            active={active}
            onNearEnd={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined}
          />
        </>
      )}
    </>
  );
}

function Absent(): ReactNode {
  return (
    <>
      <header className="page-header">
        <h1>Traces</h1>
      </header>
      <NoTraceStore />
    </>
  );
}

function Rows({
  traces,
  active,
  onNearEnd,
}: {
  readonly traces: readonly TraceItem[];
  readonly active: number;
  readonly onNearEnd: (() => void) | undefined;
}): ReactNode {
  const slow = latencyAt(traces, SLOW_SHARE);
  const longest = latencyAt(traces, 1);
  return (
    <VirtualList
      items={traces}
      rowHeight={ROW_HEIGHT}
      label="Traces"
      keyOf={(trace) => trace.trace_id}
      active={active}
      onNearEnd={onNearEnd}
      renderRow={(trace, at) => <Row trace={trace} active={at === active} slow={slow} longest={longest} />}
    />
  );
}

function Row({
  trace,
  active,
  slow,
  longest,
}: {
  readonly trace: TraceItem;
  readonly active: boolean;
  readonly slow: number | null;
  readonly longest: number | null;
}): ReactNode {
  const { latency_us: latency } = trace;
  const share = latency === null || longest === null || longest === 0 ? 0 : (latency / longest) * 100;
  const isSlow = latency !== null && slow !== null && latency >= slow && latency !== 0;
  return (
    <div role="listitem" className="trace-item">
      <Link
        to="/traces/$traceId"
        params={{ traceId: trace.trace_id }}
        className={`list-row trace-columns ${active ? "active" : ""}`}
      >
        <span>
          <Status status={trace.status} />
        </span>
        <span className="truncate" title={trace.error ?? undefined}>
          {trace.name}
          {trace.errors > 0 && trace.status !== "error" ? (
            <span className="trace-errors">
              <Chip tone="red">{count(trace.errors)} failed</Chip>
            </span>
          ) : null}
          {trace.error === null ? null : <span className="trace-error">{trace.error}</span>}
        </span>
        <span className="trace-latency">
          <span className="numeric">{latency === null ? "–" : duration(latency / US_IN_MS)}</span>
          <span className="latency-track" aria-hidden="true">
            <span className={isSlow ? "latency-bar slow" : "latency-bar"} style={{ width: `${share}%` }} />
          </span>
        </span>
        <span className="muted truncate">{trace.models.join(", ")}</span>
        <span className="truncate">
          <Tokens input={trace.input_tokens} output={trace.output_tokens} cost={trace.cost} />
        </span>
        <span className="muted numeric">{count(trace.runs)}</span>
        <span className="muted truncate">{trace.project}</span>
        <span className="muted numeric">
          <RelativeTime at={new Date(trace.start_us / US_IN_MS).toISOString()} />
        </span>
      </Link>
    </div>
  );
}

function Figures({
  traces,
  more,
  filters,
}: {
  readonly traces: readonly TraceItem[];
  readonly more: boolean;
  readonly filters: TraceFilters;
}): ReactNode {
  const navigate = useNavigate();
  const bins = useMemo(() => binsOf(traces, BINS_MOST), [traces]);
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

function FilterBar({
  filters,
  traces,
}: {
  readonly filters: TraceFilters;
  readonly traces: readonly TraceItem[];
}): ReactNode {
  const navigate = useNavigate();
  const projects = useQuery({
    queryKey: ["trace-projects"],
    queryFn: ({ signal }) => call<readonly { readonly name: string }[]>("GET", `${PATH}/projects`, { signal }),
  });
  const models = [
    ...new Set([...traces.flatMap((trace) => trace.models), ...(filters.model === undefined ? [] : [filters.model])]),
  ];
  const set = (change: TraceFilters): void => {
    const search = Object.fromEntries(Object.entries({ ...filters, ...change }).filter(([, value]) => value !== ""));
    void navigate({ to: "/traces", search, replace: true });
  };
  const slow = latencyAt(traces, SLOW_SHARE);
  const slowMs = slow === null ? "1000" : String(Math.floor(slow / US_IN_MS));
  const toggle = (name: "status" | "slow", value: string): void =>
    set({ [name]: filters[name] === undefined ? value : undefined });
  return (
    <search className="filter-bar" aria-label="Filters">
      <input
        aria-label="Name"
        placeholder="name"
        value={filters.name ?? ""}
        onChange={(event) => set({ name: event.target.value })}
      />
      <Button
        className={filters.status === "error" ? "button pressed" : "button"}
        aria-pressed={filters.status === "error"}
        onClick={() => toggle("status", "error")}
      >
        Errors
      </Button>
      <Button
        className={filters.slow === undefined ? "button" : "button pressed"}
        aria-pressed={filters.slow !== undefined}
        onClick={() => toggle("slow", slowMs)}
        title="95th percentile of the listed traces"
      >
        {filters.slow === undefined ? "Slow" : `≥ ${duration(Number(filters.slow))}`}
      </Button>
      <Choice
        label="Status"
        any="Any status"
        value={filters.status}
        options={STATUSES}
        onChange={(status) => set({ status })}
      />
      <Choice
        label="Model"
        any="Any model"
        value={filters.model}
        options={models}
        onChange={(model) => set({ model })}
      />
      <input
        aria-label="Tool"
        placeholder="tool"
        value={filters.tool ?? ""}
        onChange={(event) => set({ tool: event.target.value })}
      />
      <Choice
        label="Project"
        any="Any project"
        value={filters.project}
        options={projects.data?.map(({ name }) => name) ?? []}
        onChange={(project) => set({ project })}
      />
      <Choice
        label="Time"
        any="Any time"
        value={filters.since}
        options={SINCE}
        onChange={(since) => set({ since, from: undefined, to: undefined })}
      />
      {filters.from === undefined ? null : (
        <Chip tone="accent">
          {absoluteTime(Number(filters.from))} – {filters.to === undefined ? "now" : absoluteTime(Number(filters.to))}
        </Chip>
      )}
      {filters.thread === undefined ? null : <Chip tone="accent">thread {filters.thread}</Chip>}
      {Object.keys(filters).length === 0 ? null : (
        <Button kind="quiet" icon="cross" onClick={() => void navigate({ to: "/traces", search: {} })}>
          Clear
        </Button>
      )}
    </search>
  );
}

function Choice({
  label,
  any,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly any: string;
  readonly value: string | undefined;
  readonly options: readonly string[];
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <select aria-label={label} value={value ?? ""} onChange={(event) => onChange(event.target.value)}>
      <option value="">{any}</option>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}

function None({ filtered }: { readonly filtered: boolean }): ReactNode {
  if (filtered) return <EmptyState icon="filter" title="No matching traces" />;
  return (
    <EmptyState icon="traces" title="No traces yet">
      <p>
        Runs of this server come here by themselves. For others, <Link to="/collector">point an exporter here</Link>.
      </p>
    </EmptyState>
  );
}
