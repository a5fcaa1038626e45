// Test of the layout of graphs: from top to bottom, without overlaps, whatever is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drawing } from "../api/types.ts";
import { formatMermaid, pathThrough, layOutPlan } from "./graph-layout.ts";

const REVIEW: Drawing = {
  nodes: [{ id: "__start__" }, { id: "write" }, { id: "review" }, { id: "__end__" }],
  edges: [
    { source: "__start__", target: "write", conditional: false },
    { source: "write", target: "review", conditional: false },
    { source: "review", target: "write", conditional: true },
    { source: "review", target: "__end__", conditional: true },
  ],
};

test("a graph goes down, and the way back is known as one", () => {
  const { boxes, arrows } = layOutPlan(REVIEW);
  const ys = boxes.map(({ y }) => y);
  assert.deepEqual(
    [...ys].sort((a, b) => a - b),
    ys,
  );
  assert.deepEqual(
    arrows.map(({ back, conditional }) => [back, conditional]),
    [
      [false, false],
      [false, false],
      [true, true],
      [false, true],
    ],
  );
  assert.deepEqual(
    boxes.map(({ label, terminal }) => [label, terminal]),
    [
      ["start", true],
      ["write", false],
      ["review", false],
      ["end", true],
    ],
  );
});

test("no two boxes lie on each other", () => {
  const names = Array.from({ length: 30 }, (_, at) => `node number ${at}`);
  const edges = names.slice(1).map((target, at) => ({ source: names[Math.floor(at / 3)] ?? "", target }));
  const { boxes } = layOutPlan({ nodes: names.map((id) => ({ id })), edges });
  for (const one of boxes) {
    for (const other of boxes) {
      if (one === other) continue;
      const apart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      assert.ok(apart, `${one.id} lies on ${other.id}`);
    }
  }
});

test("arrows to nodes that are not there are left out, and nothing is an empty plan", () => {
  assert.deepEqual(layOutPlan({ nodes: [{ id: "a" }], edges: [{ source: "a", target: "b" }] }).arrows, []);
  assert.deepEqual(layOutPlan({ nodes: [], edges: [] }), { boxes: [], arrows: [] });
});

test("a drawing is copied as Mermaid", () => {
  assert.equal(
    formatMermaid({ nodes: REVIEW.nodes.slice(0, 2), edges: REVIEW.edges.slice(0, 1) }),
    'flowchart TD\n  n0(["start"])\n  n1["write"]\n  n0 --> n1',
  );
});

test("an arrow is a path from the first point to the last, round at those between", () => {
  assert.equal(pathThrough([]), "");
  assert.equal(
    pathThrough([
      { x: 0, y: 0 },
      { x: 4, y: 4 },
    ]),
    "M0 0 L4 4",
  );
  assert.equal(
    pathThrough([
      { x: 0, y: 0 },
      { x: 2, y: 2 },
      { x: 4, y: 4 },
    ]),
    "M0 0 Q2 2 4 4",
  );
  assert.equal(
    pathThrough([
      { x: 0, y: 0 },
      { x: 2, y: 2 },
      { x: 4, y: 2 },
      { x: 6, y: 6 },
    ]),
    "M0 0 Q2 2 3 2 Q4 2 6 6",
  );
});
