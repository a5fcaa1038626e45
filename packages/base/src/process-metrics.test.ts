import assert from "node:assert/strict";
import { test } from "node:test";
import { collectDefaultMetrics, Registry } from "prom-client";
import { addProcessMetrics } from "./process-metrics.ts";

test("the metrics of the process are those that the library collects by default", async () => {
  const [own, all] = [new Registry(), new Registry()];
  addProcessMetrics(own);
  collectDefaultMetrics({ register: all });
  const described = async (registry: Registry) =>
    (await registry.getMetricsAsJSON()).map(({ name, help, type }) => ({ name, help, type }));
  assert.deepEqual(
    (await described(own)).toSorted((a, b) => a.name.localeCompare(b.name)),
    (await described(all)).toSorted((a, b) => a.name.localeCompare(b.name)),
  );
});

test("CPU time counts from the start of the process, and never goes back", async () => {
  const registry = new Registry();
  addProcessMetrics(registry);
  const read = async (): Promise<number> => {
    const found = /^process_cpu_seconds_total (.+)$/m.exec(await registry.metrics());
    return Number(found?.[1]);
  };
  const before = process.cpuUsage();
  const first = await read();
  assert.ok(first >= (before.user + before.system) / 1e6);
  assert.ok((await read()) >= first);
});
