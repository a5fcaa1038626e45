// Test of two traces side by side, with the invariants of compare.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpanSummary } from "@holdpoint/api/traces/traces.ts";
import { compareTrees, measureDifference } from "./compare.ts";
import { buildTree } from "./tree.ts";

/** "a", "a/b", "a/b": spans by their way, each a millisecond longer than the one before. */
function treeFrom(ways: readonly string[]) {
  const ids = new Map<string, string>();
  const runs = ways.map((way, at): SpanSummary => {
    const parent = way.includes("/") ? ids.get(way.slice(0, way.lastIndexOf("/"))) : undefined;
    ids.set(way, `${at}`);
    const name = way.slice(way.lastIndexOf("/") + 1);
    const base = { id: `${at}`, trace_id: "t", dotted_order: "", name, status: "success" as const };
    return {
      ...base,
      ...(parent === undefined ? {} : { parent_run_id: parent }),
      start_us: at,
      end_us: 1000 * at + at,
    };
  });
  return buildTree(runs, 0);
}

const CASES = [
  { name: "the same trace twice", before: ["r", "r/a", "r/b"], after: ["r", "r/a", "r/b"], rows: ["r=", " a=", " b="] },
  { name: "one more in the second", before: ["r", "r/b"], after: ["r", "r/a", "r/b"], rows: ["r=", " a+", " b="] },
  { name: "one less in the second", before: ["r", "r/a", "r/b"], after: ["r", "r/b"], rows: ["r=", " a-", " b="] },
  {
    name: "one that comes a second time",
    before: ["r", "r/a"],
    after: ["r", "r/a", "r/a"],
    rows: ["r=", " a=", " a+"],
  },
  { name: "nothing in common", before: ["x"], after: ["y", "y/z"], rows: ["y+", " z+", "x-"] },
  {
    name: "a new one below a new one",
    before: ["r", "r/c"],
    after: ["r", "r/a", "r/a/b", "r/c"],
    rows: ["r=", " a+", "  b+", " c="],
  },
] as const;

for (const { name, before, after, rows } of CASES) {
  test(`${name}: every span is in one row (compare.1, compare.2)`, () => {
    const found = compareTrees(treeFrom(before), treeFrom(after));
    assert.deepEqual(
      found.map(
        (row) => `${" ".repeat(row.level - 1)}${row.name}${row.before === null ? "+" : row.after === null ? "-" : "="}`,
      ),
      rows,
    );
    const spans = found.flatMap((row) => [row.before, row.after]).filter((one) => one !== null);
    assert.equal(spans.length, before.length + after.length);
  });
}

test("the difference is second minus first; a span in only one trace has none", () => {
  const [first, added] = compareTrees(treeFrom(["r"]), treeFrom(["r", "r/a"]));
  assert.ok(first !== undefined && added !== undefined);
  assert.equal(measureDifference(first), 0);
  assert.equal(measureDifference(added), null);
});
