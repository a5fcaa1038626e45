// Tests of trace costs (trace-costs.1, trace-costs.2).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CostedRun, dollars, computeTraceCosts } from "./trace-costs.ts";

const runs = (costs: Readonly<Record<string, number>>): readonly CostedRun[] =>
  Object.entries(costs).map(([dotted_order, cost]) => ({ dotted_order, cost }));

const CASES: readonly [name: string, costs: Readonly<Record<string, number>>, total: number | null][] = [
  ["no run has a cost: none is invented", {}, null],
  ["a cost of zero is known", { "a.b": 0 }, 0],
  ["model calls below a root without a cost add up", { "a.b": 1, "a.c": 2 }, 3],
  ["an agent with the sum of its model calls counts once", { a: 3, "a.b": 1, "a.c": 2 }, 3],
  ["an agent with the only cost counts", { "a.b": 3 }, 3],
  ["an agent that knows of more calls than arrived counts", { a: 5, "a.b": 1 }, 5],
  ["an agent that knows of fewer calls than arrived does not hide them", { a: 1, "a.b": 1, "a.c": 2 }, 3],
  ["levels without a cost between two with one change nothing", { a: 3, "a.x.y.b": 1, "a.x.c": 2 }, 3],
  ["two roots of one trace add up", { a: 1, b: 2 }, 3],
];
for (const [name, costs, total] of CASES) {
  test(name, () => assert.equal(computeTraceCosts(runs(costs)).total, total));
}

test("each run with costs below it has their sum, also without a cost of its own", () => {
  const { below } = computeTraceCosts(runs({ "a.b.c": 1, "a.b.d": 2, "a.e": 4 }));
  assert.deepEqual([below.get("a"), below.get("a.b"), below.get("a.b.c"), below.get("a.f")], [7, 3, 1, undefined]);
});

test("small amounts keep three digits, larger ones whole cents", () => {
  const shown = [0, 12.345, 1, 0.5, 0.0123456, 0.0000012345, 1e-9].map(dollars);
  assert.deepEqual(shown, ["$0.00", "$12.35", "$1.00", "$0.5", "$0.0123", "$0.00000123", "$0.000000001"]);
});
