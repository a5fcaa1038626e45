// Rates: counter samples → rates per second between them. Pure.
// Invariants:
//   rates.1. At most MOMENTS_MAX moments, of the last WINDOW_MS.
//   rates.2. A decreased counter means a restarted process: no rate spans the restart.
import { sumFigures, type Figure } from "../../charts/prometheus.ts";

/** Counters, by the name of their series. */
export const COUNTED = {
  requests: "http_server_requests_total",
  received: "otelcol_receiver_received_spans_total",
  sent: "otelcol_exporter_sent_spans_total",
  rawBytes: "otelcol_exporter_batch_uncompressed_bytes_total",
  packedBytes: "otelcol_exporter_batch_compressed_bytes_total",
} as const;

export type Counted = keyof typeof COUNTED;

export interface RateSample {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly totals: Readonly<Record<Counted, number>>;
}

export const WINDOW_MS = 15 * 60_000;
const MOMENTS_MAX = 1000;
const NAMES = Object.keys(COUNTED) as readonly Counted[];

export function buildRateSample(figures: readonly Figure[], at: number): RateSample {
  const totals = Object.fromEntries(NAMES.map((name) => [name, sumFigures(figures, COUNTED[name])]));
  return { at, totals: totals as Record<Counted, number> };
}

export function withRateSample(moments: readonly RateSample[], next: RateSample): readonly RateSample[] {
  const newest = moments.at(-1);
  if (newest !== undefined && next.at <= newest.at) return moments;
  return [...moments.filter(({ at }) => at >= next.at - WINDOW_MS), next].slice(-MOMENTS_MAX); // rates.1
}

/** Rate per second between each moment and the previous one; null if unknown (rates.2). */
export function computeRates(moments: readonly RateSample[], name: Counted): readonly (number | null)[] {
  return moments.slice(1).map((moment, at) => {
    const before = moments[at];
    if (before === undefined) return null;
    const grown = moment.totals[name] - before.totals[name];
    return grown < 0 ? null : (grown * 1000) / (moment.at - before.at);
  });
}

/** Window of the current rate: rates over single seconds fluctuate too much. */
const RECENT_MS = 10_000;

/** Per second over the last RECENT_MS; null before there are two moments. */
export function rateNow(moments: readonly RateSample[], name: Counted): number | null {
  const newest = moments.at(-1);
  const oldest = newest === undefined ? undefined : moments.find(({ at }) => at >= newest.at - RECENT_MS);
  if (newest === undefined || oldest === undefined || oldest === newest) return null;
  const grown = newest.totals[name] - oldest.totals[name];
  return grown < 0 ? null : (grown * 1000) / (newest.at - oldest.at);
}
