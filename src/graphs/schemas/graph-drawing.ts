// Graph drawing: a graph as nodes and edges, with its subgraphs open to a depth.
// Invariant graph-drawing.1: if LangGraph cannot draw a graph as requested, the drawing has less: closed subgraphs, or
// nodes alone.
import type { GraphDrawing } from "../../agent/ports/ports.ts";
import type { CompiledGraph } from "../langgraph/compiled-graph.ts";

/** @param depth levels of subgraphs to open: 0 none, infinity all */
export async function drawGraph(graph: CompiledGraph, depth: number): Promise<GraphDrawing> {
  try {
    return await libraryDrawing(graph, depth);
  } catch {
    if (depth > 0) return drawGraph(graph, 0); // graph-drawing.1: a subgraph without a single entry cannot open
    return {
      nodes: Object.keys(graph.nodes).map((name) => ({ id: name, type: "runnable", data: { name } })),
      edges: [],
    };
  }
}

async function libraryDrawing(graph: CompiledGraph, depth: number): Promise<GraphDrawing> {
  // LangGraph adds breakpoints to the metadata of nodes, which runs share: the drawing passes none.
  const view = Object.create(graph, { interruptBefore: {}, interruptAfter: {} }) as CompiledGraph;
  const drawable = await view.getGraphAsync({ xray: Number.isFinite(depth) ? depth : true });
  return JSON.parse(JSON.stringify(drawable.toJSON())) as GraphDrawing;
}
