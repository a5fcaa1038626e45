// Test of the tree of a trace (tree.1, tree.2), of folding, of own time and of the critical path.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpanSummary } from "@holdpoint/api/traces/traces.ts";
import { listAncestors, nextPlace, buildTree, visibleRows } from "./tree.ts";

function span(id: string, parent: string | null, start: number, end: number | null, status = "success"): SpanSummary {
  return {
    id,
    trace_id: "t",
    dotted_order: "",
    name: id,
    status: status as SpanSummary["status"],
    start_us: start,
    end_us: end,
    ...(parent === null ? {} : { parent_run_id: parent }),
  };
}

const RUN = [
  span("root", null, 0, 100),
  span("model", "root", 10, 40),
  span("http", "model", 12, 30),
  span("tool", "root", 50, 90, "error"),
  span("late", "root", 55, 60),
];

const shape = (runs: readonly SpanSummary[]): readonly string[] =>
  buildTree(runs, 1000).nodes.map(
    ({ span: { id }, level, position, siblings }) => `${level} ${id} ${position}/${siblings}`,
  );

test("children are below their parent, by start time (tree.2)", () => {
  assert.deepEqual(shape(RUN), ["1 root 1/1", "2 model 1/3", "3 http 1/1", "2 tool 2/3", "2 late 3/3"]);
});

const ODD: readonly (readonly [name: string, runs: readonly SpanSummary[], rows: readonly string[]])[] = [
  ["nothing", [], []],
  ["a span whose parent never came", [span("lost", "gone", 0, 1)], ["1 lost 1/1"]],
  ["two roots", [span("b", null, 2, 3), span("a", null, 1, 2)], ["1 a 1/2", "1 b 2/2"]],
  ["a circle", [span("a", "b", 0, 1), span("b", "a", 0, 1)], ["1 a 1/1", "2 b 1/1"]],
  ["a span that is its own parent", [span("a", "a", 0, 1)], ["1 a 1/1"]],
];

for (const [name, runs, rows] of ODD)
  test(`every span is a row once: ${name} (tree.1)`, () => assert.deepEqual(shape(runs), rows));

test("self time excludes all children, and overlapping children count once", () => {
  const own = Object.fromEntries(buildTree(RUN, 1000).nodes.map(({ span: { id }, ownUs }) => [id, ownUs]));
  assert.deepEqual(own, { root: 30, model: 12, http: 18, tool: 40, late: 5 });
});

test("a span without an end lasts until now", () => {
  const tree = buildTree([span("root", null, 0, null)], 70);
  assert.deepEqual([tree.endUs, tree.nodes[0]?.durationUs], [70, 70]);
});

test("the critical path contains the spans that delayed the end", () => {
  const critical = buildTree(RUN, 1000).nodes.filter((node) => node.critical);
  assert.deepEqual(
    critical.map(({ span: { id } }) => id),
    ["root", "model", "http", "tool"],
  );
});

test("a folded span hides its descendants, and counts them and their errors", () => {
  const tree = buildTree(RUN, 1000);
  const ids = (folded: readonly string[]): readonly (string | undefined)[] =>
    visibleRows(tree, new Set(folded)).map((place) => tree.nodes[place]?.span.id);
  assert.deepEqual(ids(["model"]), ["root", "model", "tool", "late"]);
  assert.deepEqual(ids(["root", "model"]), ["root"]);
  assert.deepEqual([tree.nodes[0]?.below, tree.nodes[0]?.errorsBelow], [4, 1]);
  assert.deepEqual(listAncestors(tree, 2), ["model", "root"]);
});

test("the next error is found in both directions, around the ends", () => {
  const tree = buildTree(RUN, 1000);
  const isError = ({ span: one }: { readonly span: SpanSummary }): boolean => one.status === "error";
  assert.equal(nextPlace(tree, 0, 1, isError), 3);
  assert.equal(nextPlace(tree, 4, 1, isError), 3);
  assert.equal(nextPlace(tree, 0, -1, isError), 3);
  assert.equal(
    nextPlace(tree, 0, 1, () => false),
    -1,
  );
});

test("ten thousand spans below each other are a tree, not a full stack", () => {
  const deep = Array.from({ length: 10_000 }, (_, at) => span(`s${at}`, at === 0 ? null : `s${at - 1}`, at, 20_000));
  assert.equal(buildTree(deep, 0).nodes.at(-1)?.level, 10_000);
});
