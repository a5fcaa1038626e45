// Graph drawing: a graph as nodes and edges, with its subgraphs open to a depth.
// Invariant graph-drawing.1: if LangGraph cannot draw a graph as requested, the drawing has less: a node that does not
// draw its inside is closed, then all subgraphs are, then nodes stand alone.
import type { GraphDrawing } from "../../ports/ports.ts";
import { type CompiledGraph, localSubgraphs } from "../langgraph/compiled-graph.ts";

/** @param depth levels of subgraphs to open: 0 none, infinity all */
export async function drawGraph(graph: CompiledGraph, depth: number): Promise<GraphDrawing> {
  const attempts = [
    () => libraryDrawing(graph, depth),
    () => libraryDrawing(withClosedNodes(graph), depth), // a RemoteGraph's inside is on another server
    () => libraryDrawing(graph, 0), // a subgraph without a single entry cannot open
  ];
  for (const draw of depth > 0 ? attempts : attempts.slice(0, 1)) {
    try {
      return await draw();
    } catch {
      // graph-drawing.1
    }
  }
  return {
    nodes: Object.keys(graph.nodes).map((name) => ({ id: name, type: "runnable", data: { name } })),
    edges: [],
  };
}

async function libraryDrawing(graph: CompiledGraph, depth: number): Promise<GraphDrawing> {
  // LangGraph adds breakpoints to the metadata of nodes, which runs share: the drawing passes none.
  const view = Object.create(graph, { interruptBefore: {}, interruptAfter: {} }) as CompiledGraph;
  const drawable = await view.getGraphAsync({ xray: Number.isFinite(depth) ? depth : true });
  return JSON.parse(JSON.stringify(drawable.toJSON())) as GraphDrawing;
}

type Draw = (config: unknown) => unknown;

/** A view in which a node that fails to draw its inside is closed, at every depth. */
function withClosedNodes(graph: CompiledGraph): CompiledGraph {
  const { builder } = graph as { readonly builder?: { readonly nodes?: Readonly<Record<string, NodeSpec>> } };
  const nodes = Object.entries(builder?.nodes ?? {}).map(([name, spec]) => [name, closedIfItFails(spec)] as const);
  return Object.create(graph, {
    ...(builder === undefined
      ? {}
      : { builder: { value: Object.create(builder, { nodes: { value: Object.fromEntries(nodes) } }) as object } }),
    getSubgraphsAsync: {
      async *value(): AsyncGenerator<[string, CompiledGraph]> {
        for await (const [path, subgraph] of localSubgraphs(graph))
          if (!path.includes("|")) yield [path, withClosedNodes(subgraph)];
      },
    },
  }) as CompiledGraph;
}

interface NodeSpec {
  readonly runnable?: { readonly getGraph?: Draw };
}

function closedIfItFails(spec: NodeSpec): NodeSpec {
  const { runnable } = spec;
  if (runnable?.getGraph === undefined) return spec;
  const draw: Draw = (config) => {
    try {
      return runnable.getGraph?.(config);
    } catch {
      return plainDraw(runnable).call(runnable, config);
    }
  };
  return { ...spec, runnable: Object.create(runnable, { getGraph: { value: draw } }) as object };
}

/** The drawing that every runnable inherits: one node. */
function plainDraw(runnable: object): Draw {
  let found: Draw = () => undefined;
  for (let one: object | null = runnable; one !== null; one = Object.getPrototypeOf(one) as object | null)
    if (Object.hasOwn(one, "getGraph")) found = (one as { readonly getGraph: Draw }).getGraph;
  return found;
}
