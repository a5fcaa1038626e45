// Compare view: two traces span by span: slower, new and missing spans; for the selected row the differences of input
// and output.
import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import type { SpanDetail, TraceItem, TraceTree } from "@holdpoint/api/traces/traces.ts";
import { call } from "../../api/client.ts";
import { ChoiceRow } from "../../frames/list-page.tsx";
import { useShortcuts } from "../../hooks/shortcuts.ts";
import { JsonDiff } from "../../diff/json-diff.tsx";
import { Chip, EmptyState, Failure, Loading } from "../../ui/controls.tsx";
import { count } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { type ComparedRow, compareTrees, measureDifference } from "./compare.ts";
import { type SpanNode, type SpanTree, buildTree } from "./tree.ts";
import { microTime } from "./waterfall.ts";

const traceRoute = getRouteApi("/traces/$traceId");

const ROW_HEIGHT = 30;
const INDENT_PX = 14;
const INDENT_LEVELS_MAX = 10;
const US_IN_MS = 1000;

export function CompareView({
  data,
  tree,
  other,
}: {
  readonly data: TraceTree;
  readonly tree: SpanTree;
  /** Id of the other trace; "" before a choice. */
  readonly other: string;
}): ReactNode {
  const found = useQuery({
    queryKey: ["trace", other],
    enabled: other !== "",
    queryFn: ({ signal }) => call<TraceTree>("GET", `/console/api/traces/${encodeURIComponent(other)}`, { signal }),
  });
  if (other === "") return <Candidates trace={data.trace} />;
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  return <Compared data={data} tree={tree} other={found.data} />;
}

function Compared({
  data,
  tree,
  other,
}: {
  readonly data: TraceTree;
  readonly tree: SpanTree;
  readonly other: TraceTree;
}): ReactNode {
  const search = traceRoute.useSearch();
  const params = traceRoute.useParams();
  const navigate = useNavigate();
  const [openedAt] = useState(() => Date.now() * US_IN_MS);
  const rows = useMemo(() => compareTrees(buildTree(other.runs, openedAt), tree), [other, tree, openedAt]);
  const place = Math.max(
    0,
    rows.findIndex(({ before, after }) => (after ?? before)?.span.id === search.span),
  );
  const chosen = rows[place];
  const choose = (at: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    const span = (row?.after ?? row?.before)?.span.id;
    void navigate({ to: "/traces/$traceId", params, search: { ...search, span }, replace: true });
  };
  useShortcuts("Comparison", [
    { keys: "j", label: "Next span", run: () => choose(place + 1) },
    { keys: "k", label: "Previous span", run: () => choose(place - 1) },
  ]);
  return (
    <div className="trace-split">
      <section className="trace-tree" aria-label="Spans of both traces">
        <Figures before={other.trace} after={data.trace} />
        <div className="compare-row compare-head" aria-hidden="true">
          <span>Name</span>
          <span>Other</span>
          <span>This</span>
          <span>Difference</span>
        </div>
        <VirtualList
          items={rows}
          rowHeight={ROW_HEIGHT}
          label={`${count(rows.length)} spans of both traces`}
          buildKey={(row) => row.key}
          active={place}
          renderRow={(row, at) => <ComparedRow row={row} chosen={at === place} onChoose={() => choose(at)} />}
        />
      </section>
      {chosen === undefined ? null : <Differences key={chosen.key} row={chosen} />}
    </div>
  );
}

const time = (node: SpanNode | null): string => (node === null ? "–" : microTime(node.durationUs));

function ComparedRow({
  row,
  chosen,
  onChoose,
}: {
  readonly row: ComparedRow;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}): ReactNode {
  const { name, level, before, after } = row;
  return (
    <ChoiceRow chosen={chosen} className="compare-row" onChoose={onChoose}>
      <span className="truncate" style={{ paddingLeft: Math.min(level - 1, INDENT_LEVELS_MAX) * INDENT_PX }}>
        {name} {(after ?? before)?.span.status === "error" ? <Chip tone="red">failed</Chip> : null}
      </span>
      <span className="numeric muted">{time(before)}</span>
      <span className="numeric">{time(after)}</span>
      <Difference row={row} />
    </ChoiceRow>
  );
}

function Difference({ row }: { readonly row: ComparedRow }): ReactNode {
  const difference = measureDifference(row);
  if (difference === null) {
    return <span>{row.before === null ? <Chip tone="green">new</Chip> : <Chip tone="amber">gone</Chip>}</span>;
  }
  const sign = difference < 0 ? "−" : "+";
  const [text, look] = difference === 0 ? ["same", "muted"] : [`${sign}${microTime(Math.abs(difference))}`, ""];
  return <span className={`numeric ${look} ${difference > 0 ? "compare-longer" : ""}`}>{text}</span>;
}

function Figures({ before, after }: { readonly before: TraceItem; readonly after: TraceItem }): ReactNode {
  const pairs: readonly (readonly [string, (trace: TraceItem) => string])[] = [
    ["latency", ({ latency_us: us }) => (us === null ? "–" : microTime(us))],
    ["spans", ({ runs }) => count(runs)],
    ["errors", ({ errors }) => count(errors)],
    ["tokens", ({ input_tokens: input, output_tokens: output }) => count(input + output)],
  ];
  return (
    <dl className="compare-figures">
      {pairs.map(([name, of]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="numeric">
            <span className="muted">{of(before)} →</span> {of(after)}
          </dd>
        </div>
      ))}
      <div>
        <dt>other</dt>
        <dd>
          <Link to="/traces/$traceId" params={{ traceId: before.trace_id }}>
            <RelativeTime at={new Date(before.start_us / US_IN_MS).toISOString()} />
          </Link>
        </dd>
      </div>
    </dl>
  );
}

function useSpan(node: SpanNode | null) {
  const id = node?.span.id ?? null;
  return useQuery({
    queryKey: ["span", id],
    enabled: id !== null,
    queryFn: ({ signal }) => call<SpanDetail>("GET", `/console/api/traces/runs/${id ?? ""}`, { signal }),
  });
}

function Differences({ row }: { readonly row: ComparedRow }): ReactNode {
  const [before, after] = [useSpan(row.before), useSpan(row.after)];
  const isPending = [before, after].some(({ fetchStatus, data }) => data === undefined && fetchStatus === "fetching");
  const error = before.error ?? after.error;
  return (
    <section className="span-pane compare-pane" aria-label="Differences" tabIndex={0}>
      <h2>{row.name}</h2>
      {isPending ? <Loading /> : null}
      {error === null ? null : <Failure error={error} />}
      {isPending || error !== null
        ? null
        : (["inputs", "outputs", "error"] as const).map((member) => (
            <section key={member} className="card state-card">
              <h3>{member}</h3>
              <JsonDiff before={before.data?.[member]} after={after.data?.[member]} none="The same in both." />
            </section>
          ))}
    </section>
  );
}

const CANDIDATES_MAX = 20;

function Candidates({ trace }: { readonly trace: TraceItem }): ReactNode {
  const search = traceRoute.useSearch();
  const params = traceRoute.useParams();
  const found = useQuery({
    queryKey: ["traces", "like", trace.name, trace.project],
    queryFn: ({ signal }) =>
      call<{ readonly items: readonly TraceItem[] }>("GET", "/console/api/traces", {
        query: { name: trace.name, project: trace.project, limit: CANDIDATES_MAX + 1 },
        signal,
      }),
  });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  const others = found.data.items.filter(({ trace_id: id }) => id !== trace.trace_id).slice(0, CANDIDATES_MAX);
  if (others.length === 0) {
    return (
      <EmptyState icon="traces" title="No other trace with this name">
        <p>You can compare traces with the same name in the same project.</p>
      </EmptyState>
    );
  }
  return (
    <div className="page-body stack">
      <h2>Compare with</h2>
      <ul className="card compare-candidates" aria-label="Traces of the same name">
        {others.map((one) => (
          <li key={one.trace_id}>
            <Link to="/traces/$traceId" params={params} search={{ ...search, with: one.trace_id }} className="list-row">
              <span className="row">
                <Status status={one.status} />
                <span className="numeric">{one.latency_us === null ? "–" : microTime(one.latency_us)}</span>
                <span className="muted numeric">{count(one.runs)} spans</span>
                <span className="muted spread">
                  <RelativeTime at={new Date(one.start_us / US_IN_MS).toISOString()} />
                </span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
