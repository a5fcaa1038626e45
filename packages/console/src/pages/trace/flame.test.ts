// Test of the flame view's boxes, with the invariants of flame.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpanSummary } from "@holdpoint/api/traces/traces.ts";
import { buildFlame } from "./flame.ts";
import { buildTree } from "./tree.ts";

const span = (id: string, parent: string | null, from: number, to: number): SpanSummary => ({
  id,
  trace_id: "t",
  ...(parent === null ? {} : { parent_run_id: parent }),
  dotted_order: "",
  name: id,
  status: id.startsWith("bad") ? "error" : "success",
  start_us: from,
  end_us: to,
});

const listBoxes = (runs: readonly SpanSummary[]) => {
  const tree = buildTree(runs, 0);
  return buildFlame(tree, 1).boxes.map(({ place, row, left, width, spans, errors }) => ({
    id: tree.nodes[place]?.span.id,
    row,
    left,
    width,
    spans,
    errors,
  }));
};

test("children are below their parent, at their start and with their duration", () => {
  assert.deepEqual(listBoxes([span("a", null, 0, 100), span("b", "a", 10, 40), span("c", "a", 40, 90)]), [
    { id: "a", row: 0, left: 0, width: 100, spans: 1, errors: 0 },
    { id: "b", row: 1, left: 10, width: 30, spans: 1, errors: 0 },
    { id: "c", row: 1, left: 40, width: 50, spans: 1, errors: 0 },
  ]);
});

test("the later of two overlapping spans gets a separate row (flame.2)", () => {
  const rows = listBoxes([span("a", null, 0, 100), span("b", "a", 0, 60), span("c", "a", 50, 90)]);
  assert.deepEqual(
    rows.map(({ row }) => row),
    [0, 1, 2],
  );
});

test("merges and counts spans that are too narrow, errors included, and omits none (flame.1)", () => {
  const many = Array.from({ length: 500 }, (_, at) => span(at % 100 === 7 ? `bad${at}` : `s${at}`, "a", at, at + 1));
  const boxes = listBoxes([span("a", null, 0, 10_000), ...many]);
  assert.ok(boxes.length < 20, `${boxes.length} boxes`);
  assert.equal(
    boxes.reduce((sum, { spans }) => sum + spans, 0),
    501,
  );
  assert.equal(
    boxes.reduce((sum, { errors }) => sum + errors, 0),
    5,
  );
  assert.ok(boxes.every(({ left, width }) => left + width <= 100 + 1e-9));
});
