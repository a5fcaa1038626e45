// Scraped value: a counter or gauge whose value is kept elsewhere, and read at each scrape.
import { Counter, Gauge, type Registry } from "prom-client";
import { DROP_REASONS } from "../shared/span-accounting.ts";

interface Source<Value> {
  readonly name: string;
  readonly help: string;
  readonly read: () => Value;
}

/** A total kept elsewhere, read at each scrape. */
export function total(registry: Registry, { read, ...names }: Source<number>): void {
  registry.registerMetric(
    new Counter({
      ...names,
      registers: [],
      collect() {
        this.reset();
        this.inc(read());
      },
    }),
  );
}

/** A value that falls and rises, read at each scrape. */
export function level(registry: Registry, { read, ...names }: Source<number>): void {
  registry.registerMetric(
    new Gauge({
      ...names,
      registers: [],
      collect() {
        this.set(read());
      },
    }),
  );
}

interface Reasons extends Source<Readonly<Record<string, number>>> {
  readonly reasons?: readonly string[];
}

/** A total for each reason, which becomes a label. */
export function byReason(registry: Registry, { read, reasons = DROP_REASONS, ...names }: Reasons): void {
  registry.registerMetric(
    new Counter({
      ...names,
      registers: [],
      labelNames: ["reason"],
      collect() {
        this.reset();
        for (const reason of reasons) this.inc({ reason }, read()[reason] ?? 0);
      },
    }),
  );
}
