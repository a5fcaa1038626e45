// Counted histogram: the caller keeps the counts of each series, and a scrape writes them. The library's own histogram
// hashes all labels at each observation.
import type { Metric, Registry } from "prom-client";

export interface Bins {
  /** By bound. */
  readonly counts: number[];
  sum: number;
  total: number;
}

export interface SeriesOfBins {
  readonly labels: Readonly<Record<string, string>>;
  readonly bins: Bins;
}

interface Described {
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly read: () => readonly SeriesOfBins[];
}

export function createBins(bounds: readonly number[]): Bins {
  return { counts: bounds.map(() => 0), sum: 0, total: 0 };
}

export function observe(bins: Bins, bounds: readonly number[], value: number): void {
  const at = bounds.findIndex((bound) => value <= bound);
  if (at >= 0) bins.counts[at] = (bins.counts[at] ?? 0) + 1;
  bins.sum += value;
  bins.total += 1;
}

/** A series without an observation is not there. */
export function countedHistogram(registry: Registry, { bounds, help, name, read }: Described): void {
  const values = (): readonly unknown[] =>
    read().flatMap(({ labels, bins }) => (bins.total === 0 ? [] : listValues(name, bounds, { labels, bins })));
  const type = "histogram";
  const aggregator = "sum";
  const metric = {
    name,
    help,
    type,
    aggregator,
    get: async () => ({ name, help, type, aggregator, values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric); // the registry only reads these members
}

function listValues(name: string, bounds: readonly number[], { bins, labels }: SeriesOfBins): readonly unknown[] {
  let below = 0;
  const buckets = bounds.map((le, at) => {
    below += bins.counts[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: bins.total },
    { metricName: `${name}_sum`, labels, value: bins.sum },
    { metricName: `${name}_count`, labels, value: bins.total },
  ];
}
