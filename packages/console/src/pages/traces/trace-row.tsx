// Trace row: one trace of the list, with a bar for its latency among the listed traces.
import { visible } from "@holdpoint/api/text/visible-text.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { Tokens } from "../../messages/tokens.tsx";
import { Chip } from "../../ui/controls.tsx";
import { count, duration } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { US_IN_MS } from "./query.ts";

export function TraceRow({
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
          {visible(trace.name)}
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
