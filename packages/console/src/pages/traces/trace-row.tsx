// Trace row: one trace of the list, with a bar for its time among the listed traces, or the time that it waited.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { dollars } from "@holdpoint/api/traces/trace-costs.ts";
import { measureTrace, measureWork } from "@holdpoint/api/traces/trace-times.ts";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { shortId } from "@holdpoint/api/text/short-id.ts";
import { Tokens } from "../../messages/tokens.tsx";
import { Chip } from "../../ui/controls.tsx";
import { count, duration } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { US_IN_MS } from "./query.ts";

export function TraceRow({
  trace,
  className,
  slow,
  longest,
}: {
  readonly trace: TraceItem;
  readonly className: string;
  readonly slow: number | null;
  readonly longest: number | null;
}): ReactNode {
  const { whole, wait } = measureTrace(trace, Date.now() * US_IN_MS);
  const work = measureWork(trace);
  const share = work === null || longest === null || longest === 0 ? 0 : (work / longest) * 100;
  const isSlow = work !== null && slow !== null && work >= slow && work !== 0;
  return (
    <Link to="/traces/$traceId" params={{ traceId: trace.trace_id }} className={className}>
      <span>
        <Status status={trace.status} />
      </span>
      <span className="trace-lines">
        <span className="truncate" title={trace.error ?? undefined}>
          {visible(trace.name)}
          {trace.errors > 0 && trace.status !== "error" ? (
            <span className="trace-errors">
              <Chip tone="red">{count(trace.errors)} failed</Chip>
            </span>
          ) : null}
          {trace.error === null ? null : <span className="trace-error">{trace.error}</span>}
        </span>
        <span className="trace-facts truncate muted small">
          {[...trace.models, `${count(trace.runs)} span${trace.runs === 1 ? "" : "s"}`, trace.project].join(" · ")}
        </span>
      </span>
      <span className="trace-lines trace-preview small" dir="auto">
        <span className="truncate" title={trace.input ?? undefined}>
          {trace.input}
        </span>
        <span className="truncate muted" title={trace.output ?? undefined}>
          {trace.output}
        </span>
      </span>
      <span className="trace-latency">
        <span className="numeric">{whole === null ? "–" : duration(whole / US_IN_MS)}</span>
        {wait === 0 ? (
          <span className="latency-track" aria-hidden="true">
            <span className={isSlow ? "latency-bar slow" : "latency-bar"} style={{ width: `${share}%` }} />
          </span>
        ) : (
          <span className="muted small truncate numeric">{duration(wait / US_IN_MS)} waiting</span>
        )}
      </span>
      <span className="muted truncate" title={trace.thread_id ?? undefined}>
        {trace.thread_id === null ? "" : shortId(trace.thread_id)}
      </span>
      <span className="truncate">
        <Tokens input={trace.input_tokens} output={trace.output_tokens} cost={null} />
      </span>
      <span className="muted numeric" title="cost, as the senders gave it">
        {trace.cost === null ? "" : dollars(trace.cost)}
      </span>
      <span className="muted numeric">
        <RelativeTime at={new Date(trace.start_us / US_IN_MS).toISOString()} />
      </span>
    </Link>
  );
}
