// Page Trace: the span tree with its waterfall, and the selected span beside it.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, createLazyRoute, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { measureTrace } from "@holdpoint/api/traces/trace-times.ts";
import type { TraceTree } from "@holdpoint/api/traces/traces.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { call } from "../../api/client.ts";
import { ApiProblem } from "../../api/problem.ts";
import { setTitle } from "../../browser/badge.ts";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { Tokens } from "../../messages/tokens.tsx";
import { Button, Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { CopyButton, CopyCurl } from "../../ui/copy.tsx";
import { absoluteTime, count } from "../../ui/format.ts";
import { Icon } from "../../ui/icons.tsx";
import { Status } from "../../ui/status.tsx";
import { NoTraceStore, isAbsent } from "../../ui/unavailable.tsx";
import { CompareView } from "./compare-view.tsx";
import { FlameView } from "./flame-view.tsx";
import { SpanPane } from "./span-pane.tsx";
import "./trace.css";
import { TreeView } from "./tree-view.tsx";
import { buildTree } from "./tree.ts";
import { microTime } from "./waterfall.ts";

const traceRoute = getRouteApi("/traces/$traceId");

export const page = createLazyRoute("/traces/$traceId")({ component: TracePage });

const LOOK_MS = 2000;
/** A recently changed trace may continue: after an answer, or with spans in flight. */
const SETTLED_MS = 60_000;
/** A link followed right after the run may arrive before its spans. */
const NOT_FOUND_RETRIES = 5;
const US_IN_MS = 1000;

function TracePage(): ReactNode {
  const { traceId } = traceRoute.useParams();
  const trace = useQuery({
    queryKey: ["trace", traceId],
    queryFn: ({ signal }) => call<TraceTree>("GET", `/console/api/traces/${encodeURIComponent(traceId)}`, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && mayGoOn(state.data) ? LOOK_MS : false),
    retry: (failures, error) =>
      error instanceof ApiProblem && error.code === "trace_not_found" && failures < NOT_FOUND_RETRIES,
    retryDelay: LOOK_MS / 2,
  });
  useEffect(() => setTitle(trace.data?.trace.name ?? "Trace"), [trace.data]);
  if (trace.isPending) return <Loading />;
  if (trace.isError) {
    if (isAbsent(trace.error)) return <NoTraceStore />;
    return (
      <>
        <Failure error={trace.error} onRetry={() => void trace.refetch()} />
        <EmptyState icon="traces" title="Cannot show this trace">
          <p>
            <Link to="/traces">All traces</Link>
          </p>
        </EmptyState>
      </>
    );
  }
  return <Loaded key={traceId} data={trace.data} />;
}

function mayGoOn({ trace, runs }: TraceTree): boolean {
  if (["pending", "waiting", "incomplete"].includes(trace.status)) return true;
  const newestUs = runs.reduce((latest, run) => Math.max(latest, run.end_us ?? run.start_us), trace.start_us);
  return Date.now() - newestUs / US_IN_MS < SETTLED_MS;
}

function Loaded({ data }: { readonly data: TraceTree }): ReactNode {
  const search = traceRoute.useSearch();
  const params = traceRoute.useParams(); // as opened: another form of the id would be another page
  const navigate = useNavigate();
  const [openedAt] = useState(() => Date.now() * US_IN_MS);
  const tree = useMemo(() => buildTree(data.runs, openedAt), [data, openedAt]);
  const chosen = search.span ?? tree.nodes[0]?.span.id ?? null;
  const choose = (span: string): void =>
    void navigate({ to: "/traces/$traceId", params, search: { ...search, span }, replace: true });
  return (
    <>
      <Header data={data} />
      {search.shape === "compare" ? (
        <CompareView data={data} tree={tree} other={search.with ?? ""} />
      ) : (
        <div className="trace-split">
          {search.shape === "flame" ? (
            <FlameView tree={tree} chosen={chosen} onChoose={choose} />
          ) : (
            <TreeView tree={tree} chosen={chosen} onChoose={choose} />
          )}
          {chosen === null ? null : <SpanPane key={chosen} spanId={chosen} />}
        </div>
      )}
    </>
  );
}

const SHAPES = { tree: "Tree", flame: "Flame", compare: "Compare" } as const;
const SHAPE_NAMES = ["tree", "flame", "compare"] as const;

/** The tree for reading, the flame for an overview, and the comparison with another trace. */
function Shape(): ReactNode {
  const search = traceRoute.useSearch();
  const params = traceRoute.useParams();
  const navigate = useNavigate();
  const shown = SHAPE_NAMES.find((one) => one === search.shape) ?? "tree";
  const show = (shape: keyof typeof SHAPES): void =>
    void navigate({
      to: "/traces/$traceId",
      params,
      search: { ...search, shape: shape === "tree" ? undefined : shape },
      replace: true,
    });
  const next = SHAPE_NAMES[(SHAPE_NAMES.indexOf(shown) + 1) % SHAPE_NAMES.length] ?? "tree";
  useShortcuts("Trace", [{ keys: "v", label: "Tree, flame, comparison", run: () => show(next) }]);
  return (
    <span className="row" role="group" aria-label="Shape">
      {SHAPE_NAMES.map((shape) => (
        <Button key={shape} pressed={shape === shown} onClick={() => show(shape)}>
          {SHAPES[shape]}
        </Button>
      ))}
    </span>
  );
}

function Header({ data: { trace } }: { readonly data: TraceTree }): ReactNode {
  const { whole, wait } = measureTrace(trace, Date.now() * US_IN_MS);
  return (
    <header className="page-header trace-header">
      <Link to="/traces" className="button quiet icon-only" aria-label="All traces">
        <Icon name="back" />
      </Link>
      <h1 className="truncate trace-title">{visible(trace.name)}</h1>
      <Status status={trace.status} />
      <span className="numeric">{whole === null ? "–" : microTime(whole)}</span>
      {wait === 0 ? null : <span className="muted numeric">{microTime(wait)} of it waiting for people</span>}
      <span className="muted numeric">{count(trace.runs)} spans</span>
      {trace.errors === 0 ? null : <Chip tone="red">{count(trace.errors)} errors</Chip>}
      <Tokens input={trace.input_tokens} output={trace.output_tokens} cost={trace.cost} />
      <span className="muted small">{absoluteTime(trace.start_us / US_IN_MS)}</span>
      <span className="row spread">
        <Shape />
        {trace.thread_id === null ? null : (
          <Link to="/threads/$threadId" params={{ threadId: trace.thread_id }} className="button quiet">
            Thread {shortId(trace.thread_id)}
          </Link>
        )}
        <CopyButton text={trace.trace_id} what="the trace's id" />
        <CopyCurl method="GET" path={`/console/api/traces/${trace.trace_id}`} />
      </span>
    </header>
  );
}
