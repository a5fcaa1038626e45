// Test of the docs' table of metrics: it is what the registry says, word by word, with every optional part on.
// `node packages/collector/src/metrics/metrics-table.test.ts --print` prints the rows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../../../test/harness/server.ts";
import { createSpanAccounting } from "../shared/span-accounting.ts";
import { createMetrics } from "./metrics.ts";
import type { MetricSources } from "./observed-metrics.ts";
import { readPrices } from "./prices.ts";

const none = (): number => 0;
const SOURCES: MetricSources = {
  accounting: createSpanAccounting(),
  forwarder: { states: () => [] },
  limits: { refused: {} } as unknown as MetricSources["limits"],
  redactor: { counts: [], rules: [] } as unknown as MetricSources["redactor"],
  assemble: () => new Proxy({}, { get: none }) as ReturnType<MetricSources["assemble"]>,
  queueBytes: none,
  queueBytesMax: 0,
  waitingRuns: none,
  inflight: none,
  openCircuits: none,
  spoolBytes: none,
};

async function listRows(): Promise<readonly string[]> {
  const metrics = createMetrics(readPrices(null));
  metrics.observe(SOURCES);
  const { text } = await metrics.show();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const rows = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(
    ([, name = "", help = ""]) => `| \`${name}\` | ${types.get(name) ?? ""} | ${help} |`,
  );
  return rows.toSorted();
}

if (process.argv.includes("--print")) process.stdout.write(`${(await listRows()).join("\n")}\n`);
else
  test("the table of metrics has each metric of the registry, and no other", async () => {
    const page = readFileSync(join(ROOT, "docs/reference/collector.md"), "utf8");
    const table = page.slice(page.indexOf("\n## Metrics\n") + 1).split("\n## ")[0] ?? "";
    const shown = table.split("\n").filter((line) => line.startsWith("| `"));
    const rows = await listRows();
    assert.ok(rows.length > 35, `${rows.length} metrics`);
    assert.deepEqual(shown, rows);
  });
