// Dropped spans: the ids of spans that a drop rule removed, for the log records that name them later.
// Invariants:
//   - A record of a dropped span is dropped with it, before or after the span, for `spanTtlMs` and among the `spansMax`
//     newest. Later, or after a restart, it becomes a run of its own.
import type { Clock } from "@holdpoint/base/clock.ts";
import type { LogRecord } from "../otlp/log-record.ts";
import type { Span } from "../otlp/span.ts";
import { type JoinLimits, buildJoinKey } from "./join-table.ts";

export interface DroppedSpans {
  readonly add: (tenantId: string, span: Span) => void;
  readonly has: (tenantId: string, record: LogRecord) => boolean;
}

export function createDroppedSpans(limits: Pick<JoinLimits, "spanTtlMs" | "spansMax">, clock: Clock): DroppedSpans {
  /** Oldest first, with the time of the drop. */
  const keys = new Map<string, number>();
  return {
    add(tenantId, { spanId, traceId }) {
      const key = buildJoinKey(tenantId, traceId, spanId);
      keys.delete(key);
      keys.set(key, clock.monotonic());
      if (keys.size > limits.spansMax) keys.delete(keys.keys().next().value ?? "");
    },
    has(tenantId, { spanId, traceId }) {
      if (keys.size === 0 || spanId === "") return false;
      const sinceMs = keys.get(buildJoinKey(tenantId, traceId, spanId));
      return sinceMs !== undefined && clock.monotonic() - sinceMs < limits.spanTtlMs;
    },
  };
}
