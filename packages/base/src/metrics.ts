// Metrics: one registry per instance, in the Prometheus text format. Each metric is declared beside the code that
// counts it.
import type { Counter, Gauge, Histogram } from "prom-client";
import type { Json } from "./json/json.ts";
import { addProcessMetrics, prometheus } from "./process-metrics.ts";

export interface Metrics {
  counter<Label extends string>(name: string, help: string, labels?: readonly Label[]): Counter<Label>;
  /** @param collect runs at each scrape and sets the value. If it fails, the scrape omits this metric only. */
  gauge<Label extends string>(
    name: string,
    help: string,
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
    labels?: readonly Label[],
  ): Gauge<Label>;
  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly Label[],
  ): Histogram<Label>;
  readonly contentType: string;
  text(): Promise<string>;
  /** The same as objects: `{name, help, type, values: [{value, labels}]}`. */
  values(): Promise<readonly Json[]>;
}

export function createMetrics(): Metrics {
  const registry = new prometheus.Registry();
  const registers = [registry];
  addProcessMetrics(registry);
  return {
    counter: (name, help, labels = []) => new prometheus.Counter({ name, help, labelNames: [...labels], registers }),
    gauge(name, help, collect, labels = []) {
      const gauge: Gauge<(typeof labels)[number]> = new prometheus.Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
        ...(collect === undefined ? {} : { collect: () => collected(gauge, collect) }),
      });
      return gauge;
    },
    histogram: (name, help, buckets, labels = []) =>
      new prometheus.Histogram({ name, help, buckets: [...buckets], labelNames: [...labels], registers }),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: async () => JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) as readonly Json[],
  };
}

async function collected<Label extends string>(
  gauge: Gauge<Label>,
  collect: (gauge: Gauge<Label>) => void | Promise<void>,
): Promise<void> {
  try {
    await collect(gauge);
  } catch {
    gauge.remove();
  }
}
