// Test of the requests of the trace list, and of the figures above it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TraceItem } from "@holdpoint/api/traces/traces.ts";
import { countBins, latencyAt, traceQuery, type TraceFilters } from "./query.ts";

const NOW = Date.parse("2026-01-02T00:00:00.000Z");

const ASKS: readonly (readonly [filters: TraceFilters, asks: object])[] = [
  [{}, {}],
  [
    { status: "error", slow: "500" },
    { status: "error", min_latency_ms: 500 },
  ],
  [{ status: "odd", slow: "much" }, {}],
  [
    { status: "waiting", q: "order 4711" },
    { status: "waiting", q: "order 4711" },
  ],
  [{ since: "1h" }, { from: "2026-01-01T23:00:00.000Z" }],
  [{ since: "soon" }, {}],
  [
    { from: "0", to: "1000" },
    { from: "1970-01-01T00:00:00.000Z", to: "1970-01-01T00:00:01.000Z" },
  ],
  [{ from: "1e99" }, {}],
  [
    { name: "chat", project: "p", model: "m", tool: "t", thread: "x" },
    { name: "chat", project: "p", model: "m", tool: "t", thread_id: "x" },
  ],
];

for (const [filters, asks] of ASKS) {
  test(`an address with ${JSON.stringify(filters)} becomes a search`, () => {
    assert.deepEqual(JSON.parse(JSON.stringify(traceQuery(filters, NOW))), asks);
  });
}

function trace(startSecs: number, latency: number | null = 1, status: TraceItem["status"] = "success"): TraceItem {
  return {
    trace_id: "t",
    project: "p",
    name: "n",
    status,
    error: null,
    start_us: startSecs * 1_000_000,
    latency_us: latency,
    wait_us: 0,
    waiting_since_us: null,
    input: null,
    output: null,
    runs: 1,
    errors: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost: null,
    thread_id: null,
    models: [],
  };
}

test("traces are binned by round widths, errors apart, without a gap between the bins", () => {
  const bins = countBins([trace(100), trace(101, 1, "error"), trace(139)], 10);
  assert.deepEqual(bins, {
    starts: [100, 105, 110, 115, 120, 125, 130, 135],
    good: [1, 0, 0, 0, 0, 0, 0, 1],
    failed: [1, 0, 0, 0, 0, 0, 0, 0],
    widthSecs: 5,
  });
});

for (const [name, items] of [
  ["years apart", [trace(0), trace(2_000_000_000)]],
  ["at one moment", [trace(5), trace(5)]],
  ["none", []],
] as const) {
  test(`yields at most the requested number of bins, and every trace is in one: ${name}`, () => {
    const { good, failed } = countBins(items, 40);
    assert.ok(good.length <= 40);
    assert.equal(
      [...good, ...failed].reduce((sum, one) => sum + one, 0),
      items.length,
    );
  });
}

test("half of the traces stay within the median", () => {
  const items = [4, 1, 3, 2].map((latency) => trace(0, latency));
  assert.equal(latencyAt(items, 0.5), 2);
  assert.equal(latencyAt(items, 0.95), 4);
  assert.equal(latencyAt([trace(0, null)], 0.5), null);
});
