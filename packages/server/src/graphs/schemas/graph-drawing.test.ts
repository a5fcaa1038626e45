// Test of drawings: LangGraph's drawing, and the fallback if it fails.
import { Annotation, StateGraph } from "@langchain/langgraph";
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotated, body } from "../../../../../test/graphs/described.ts";
import { drawGraph } from "./graph-drawing.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";

const draw = (graph: unknown, depth: number) => drawGraph(graph as CompiledGraph, depth);

const DEPTHS: readonly (readonly [depth: number, nodes: string])[] = [
  [0, "__start__ outer work __end__"],
  [1, "__start__ outer:inner outer:after work __end__"],
  [2, "__start__ outer:inner:check outer:inner:work outer:after work __end__"],
  [Number.POSITIVE_INFINITY, "__start__ outer:inner:check outer:inner:work outer:after work __end__"],
];

for (const [depth, nodes] of DEPTHS) {
  test(`with ${depth} levels open: ${nodes}`, async () => {
    const drawing = await draw(annotated, depth);
    const ids = drawing.nodes.map(({ id }) => id as string);
    assert.equal(ids.join(" "), nodes);
    for (const { source, target } of drawing.edges)
      assert.ok(ids.includes(source as string) && ids.includes(target as string));
  });
}

test("an edge has its label and whether it is conditional", async () => {
  const { edges } = await draw(annotated, 0);
  assert.deepEqual(
    edges.find(({ source, target }) => source === "outer" && target === "work"),
    {
      source: "outer",
      target: "work",
      data: "on",
      conditional: true,
    },
  );
});

test("the drawing of the functional API is one node between input and output", async () => {
  const { nodes, edges } = await draw(body, Number.POSITIVE_INFINITY);
  assert.deepEqual(
    nodes.map(({ id, type }) => [id, type]),
    [
      [0, "schema"],
      [1, "runnable"],
      [2, "schema"],
    ],
  );
  assert.deepEqual(edges, [
    { source: 0, target: 1 },
    { source: 1, target: 2 },
  ]);
});

test("a subgraph that does not open stays closed; without any drawing the nodes remain (graph-drawing.1)", async () => {
  const failing = (when: (xray: boolean | number) => boolean) => {
    const getGraphAsync: CompiledGraph["getGraphAsync"] = (config) =>
      when(config.xray) ? Promise.reject(new Error("no way in")) : annotated.getGraphAsync(config);
    return Object.create(annotated, { getGraphAsync: { value: getGraphAsync } }) as object;
  };
  const closed = await draw(
    failing((xray) => xray !== 0),
    Number.POSITIVE_INFINITY,
  );
  assert.deepEqual(closed, await draw(annotated, 0));
  const { nodes, edges } = await draw(
    failing(() => true),
    1,
  );
  assert.deepEqual([nodes.map(({ id }) => id), edges], [["__start__", "outer", "work"], []]);
});

test("drawing leaves no trace on the graph", async () => {
  const State = Annotation.Root({ value: Annotation<string> });
  const metadata = { colour: "red" };
  const graph = new StateGraph(State)
    .addNode("a", () => ({}), { metadata })
    .addEdge("__start__", "a")
    .compile({ interruptBefore: ["a"] });
  await draw(graph, 0);
  assert.deepEqual(metadata, { colour: "red" });
  assert.deepEqual(graph.interruptBefore, ["a"]);
});
