// Test of reading figures in the text format of Prometheus.
import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresIn, computeQuantile, computeShares, sumFigures } from "./prometheus.ts";

const TEXT = `# HELP sent_total Spans that the backend has.
# TYPE sent_total counter
sent_total 12
dropped_total{reason="too_large"} 2
dropped_total{reason="too_old",key="a \\"b\\""} 5
dropped_total{reason="shut_down"} 0
half a line
upload_seconds_bucket{le="0.1",outcome="sent"} 50
upload_seconds_bucket{le="1",outcome="sent"} 90
upload_seconds_bucket{le="+Inf",outcome="sent"} 100
upload_seconds_bucket{le="0.1",outcome="retry"} 0
upload_seconds_bucket{le="+Inf",outcome="retry"} 0
`;
const FIGURES = figuresIn(TEXT);

test("parses names, labels and values; skips comments and lines without a number", () => {
  assert.equal(FIGURES.length, 9);
  assert.deepEqual(FIGURES[2], { name: "dropped_total", labels: { reason: "too_old", key: 'a "b"' }, value: 5 });
});

test("sums the values of a name over all labels; a missing name is 0", () => {
  assert.equal(sumFigures(FIGURES, "dropped_total"), 7);
  assert.equal(sumFigures(FIGURES, "sent_total"), 12);
  assert.equal(sumFigures(FIGURES, "nothing"), 0);
});

test("shares by a label leave out zeros, the largest first", () => {
  assert.deepEqual(computeShares(FIGURES, "dropped_total", "reason"), [
    ["too_old", 5],
    ["too_large", 2],
  ]);
});

const QUANTILES = [
  { name: "the median is where half of the first bucket ends", share: 0.5, is: 0.1 },
  { name: "a quarter is half way into the first bucket", share: 0.25, is: 0.05 },
  { name: "within a later bucket it is spread evenly", share: 0.7, is: 0.55 },
  { name: "beyond the last bound only that bound is known", share: 0.99, is: 1 },
] as const;

for (const { name, share, is } of QUANTILES) {
  test(`quantiles: ${name}`, () => {
    assert.ok(Math.abs((computeQuantile(FIGURES, "upload_seconds", share) ?? 0) - is) < 1e-9);
  });
}

test("quantiles of nothing are not known", () => {
  assert.equal(computeQuantile(FIGURES, "nothing", 0.5), null);
});
