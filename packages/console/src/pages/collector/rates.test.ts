// Test of rates, with the invariants of rates.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresIn } from "../../charts/prometheus.ts";
import { buildRateSample, rateNow, computeRates, WINDOW_MS, withRateSample, type RateSample } from "./rates.ts";

const moment = (at: number, received: number): RateSample => ({
  at,
  totals: { requests: 0, received, sent: 0, rawBytes: 0, packedBytes: 0 },
});

test("a sample sums the collector's counters over all labels", () => {
  const text = 'http_server_requests_total{status="200"} 3\nhttp_server_requests_total{status="503"} 1\n';
  assert.equal(buildRateSample(figuresIn(text), 5).totals.requests, 4);
});

test("growth between two samples is a rate per second", () => {
  assert.deepEqual(computeRates([moment(0, 10), moment(2000, 30), moment(3000, 30)], "received"), [10, 0]);
  assert.equal(rateNow([moment(0, 10), moment(2000, 30), moment(4000, 50)], "received"), 10);
  assert.equal(rateNow([moment(0, 10)], "received"), null);
});

test("the present is the last ten seconds, not all that is kept", () => {
  assert.equal(rateNow([moment(0, 0), moment(20_000, 1000), moment(25_000, 1005)], "received"), 1);
});

test("a restarted process has no rate for the time before (rates.2)", () => {
  assert.deepEqual(computeRates([moment(0, 500), moment(1000, 2), moment(2000, 4)], "received"), [null, 2]);
  assert.equal(rateNow([moment(0, 500), moment(1000, 2)], "received"), null);
});

test("drops samples older than the window, and limits their number (rates.1)", () => {
  const kept = withRateSample([moment(0, 1), moment(WINDOW_MS, 2)], moment(WINDOW_MS + 1, 3));
  assert.deepEqual(
    kept.map(({ at }) => at),
    [WINDOW_MS, WINDOW_MS + 1],
  );
  let many: readonly RateSample[] = [];
  for (let at = 0; at < 1500; at++) many = withRateSample(many, moment(at * 10, at));
  assert.equal(many.length, 1000);
  assert.equal(withRateSample(many, moment(0, 0)), many, "time does not run backwards");
});
