// Query of the trace list: URL parameters → the store's search; latencies and bins of the result. Pure.
import { measureWork } from "@holdpoint/api/traces/trace-times.ts";
import { TRACE_STATUSES, type TraceItem } from "@holdpoint/api/traces/traces.ts";

export interface TraceFilters extends Readonly<Partial<Record<string, string | undefined>>> {
  /** Words of names, inputs, outputs and errors. */
  readonly q?: string | undefined;
  readonly name?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly tool?: string | undefined;
  readonly thread?: string | undefined;
  /** "error", "pending", … */
  readonly status?: string | undefined;
  /** Minimum time of its runs in milliseconds. */
  readonly slow?: string | undefined;
  /** "15m", "1h", "7d": maximum age of the start. */
  readonly since?: string | undefined;
  /** Milliseconds since 1970: a range selected in the histogram. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const PATH = "/console/api/traces";
export const US_IN_MS = 1000;
/** Quantile of latency from which a trace counts as slow. */
export const SLOW_SHARE = 0.95;
export const SINCE = ["15m", "1h", "6h", "24h", "7d"] as const;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export function traceQuery(filters: TraceFilters, now: number): Readonly<Record<string, string | number | undefined>> {
  const { q, name, project, model, tool, thread, status, slow, since, from, to } = filters;
  const [, amount, unit] = /^(\d{1,4})([mhd])$/.exec(since ?? "") ?? [];
  const earliest = amount === undefined ? parseNumber(from) : now - Number(amount) * (UNITS[unit ?? ""] ?? 0);
  return {
    q,
    name,
    project,
    model,
    tool,
    thread_id: thread,
    status: TRACE_STATUSES.find((one) => one === status),
    min_latency_ms: parseNumber(slow),
    from: formatTime(earliest),
    to: formatTime(parseNumber(to)),
  };
}

const TIME_MAX = 8.64e15;

function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) || value < 0 || value > TIME_MAX ? undefined : value;
}

const formatTime = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

export interface Bins {
  /** Start of each bin, seconds since 1970. */
  readonly starts: readonly number[];
  readonly good: readonly number[];
  readonly failed: readonly number[];
  readonly widthSecs: number;
}

const US_IN_SEC = 1_000_000;
/** Round bin widths, seconds. */
const WIDTHS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800] as const;

/** Traces by start time, in at most `most` bins of a round width. */
export function countBins(items: readonly TraceItem[], most: number): Bins {
  const times = items.map(({ start_us: us }) => us / US_IN_SEC);
  const first = times.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const last = times.reduce((greatest, one) => Math.max(greatest, one), Number.NEGATIVE_INFINITY);
  if (times.length === 0) return { starts: [], good: [], failed: [], widthSecs: 1 };
  const fits = (width: number): boolean => Math.floor(last / width) - Math.floor(first / width) < most;
  const longest = WIDTHS.at(-1) ?? 1;
  const widthSecs = WIDTHS.find(fits) ?? longest * Math.ceil((last - first) / longest / (most - 1));
  const origin = Math.floor(first / widthSecs);
  const size = Math.floor(last / widthSecs) - origin + 1;
  const good = Array.from({ length: size }, () => 0);
  const failed = [...good];
  items.forEach(({ status, errors }, at) => {
    const bin = Math.floor((times[at] ?? first) / widthSecs) - origin;
    const counts = status === "error" || errors > 0 ? failed : good;
    counts[bin] = (counts[bin] ?? 0) + 1;
  });
  return { starts: good.map((_, at) => (origin + at) * widthSecs), good, failed, widthSecs };
}

/** Quantile at `share` of the time without waits for people; microseconds. Null without finished traces. */
export function latencyAt(items: readonly TraceItem[], share: number): number | null {
  const ended = items.flatMap((trace) => measureWork(trace) ?? []).sort((a, b) => a - b);
  return ended[Math.min(ended.length - 1, Math.ceil(ended.length * share) - 1)] ?? ended[0] ?? null;
}
