// Tests of graphs with a RemoteGraph inside, in each place and form: nothing here asks the other server about it.
import { Annotation, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { RunnableLambda } from "@langchain/core/runnables";
import assert from "node:assert/strict";
import { test } from "node:test";
import { computeFingerprint } from "../checkpoints/graph-fingerprint.ts";
import { drawGraph } from "../schemas/graph-drawing.ts";
import { type CompiledGraph, isCompiledGraph, localSubgraphs, withCheckpointer } from "./compiled-graph.ts";

const State = Annotation.Root({ value: Annotation<string> });
/** Nothing listens there: a call fails. */
const remote = new RemoteGraph({ graphId: "agent", url: "http://127.0.0.1:9" });
const local = new StateGraph(State)
  .addNode("one", () => ({}))
  .addNode("two", () => ({}))
  .addEdge("__start__", "one")
  .addEdge("one", "two")
  .compile();

function graphWith(name: string, action: unknown, options: object = {}): CompiledGraph {
  const graph: unknown = new StateGraph(State)
    .addNode("beside", local)
    .addNode(name, action as never as typeof local, options)
    .addEdge("__start__", "beside")
    .addEdge("beside", name as never)
    .compile();
  assert.ok(isCompiledGraph(graph));
  return graph;
}

const PLACES: readonly { readonly place: string; readonly graph: CompiledGraph; readonly paths: string }[] = [
  { place: "a node", graph: graphWith("there", remote), paths: "beside" },
  {
    place: "a step of a sequence",
    graph: graphWith("there", RunnableLambda.from((value: object) => value).pipe(remote as never)),
    paths: "beside",
  },
  {
    place: "a named subgraph of a function",
    graph: graphWith("there", () => ({}), { subgraphs: [remote] }),
    paths: "beside",
  },
  {
    place: "a node of a subgraph",
    graph: graphWith("nested", graphWith("there", remote)),
    paths: "beside nested nested|beside",
  },
];

for (const { place, graph, paths } of PLACES) {
  test(`with a RemoteGraph as ${place}, the subgraphs here are found, and it is drawn`, async () => {
    const found: string[] = [];
    for await (const [path] of localSubgraphs(graph)) found.push(path);
    assert.equal(found.join(" "), paths);
    assert.deepEqual(Object.keys((await computeFingerprint("g", graph)).nodes), ["", ...found]);

    const view = withCheckpointer(graph, {});
    for await (const [path, subgraph] of view.getSubgraphsAsync(undefined, true)) {
      const [[same] = []] = await Array.fromAsync(view.getSubgraphsAsync(path, true));
      assert.equal(same, path);
      assert.ok(isCompiledGraph(subgraph));
    }
    for (const depth of [0, Number.POSITIVE_INFINITY]) {
      const { nodes, edges } = await drawGraph(graph, depth);
      const ids = nodes.map(({ id }) => id as string);
      const last = depth === 0 && paths.includes("nested") ? "nested" : "there";
      assert.ok(
        ids.some((id) => id.split(":").at(-1) === last),
        `${depth}: ${ids.join()}`,
      );
      assert.equal(ids.includes("beside:two"), depth > 0, ids.join());
      assert.ok(edges.length > 1);
    }
  });
}
