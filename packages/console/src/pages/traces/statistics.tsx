// Statistics: number, failures and latencies of the listed traces, and a histogram of their start times.
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useMemo } from "react";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { count, duration } from "../../ui/format.ts";
import { SLOW_SHARE, type TraceFilters, US_IN_MS, countBins, latencyAt } from "./query.ts";

const Histogram = lazy(() => import("../../charts/histogram.tsx"));

const BINS_MOST = 60;

export function Statistics({
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
