// Three nodes in a row, each of which adds its name: a graph to try breakpoints on.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  visited: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

export const graph = new StateGraph(State)
  .addNode("node_a", () => ({ visited: ["node_a"] }))
  .addNode("node_b", () => ({ visited: ["node_b"] }))
  .addNode("node_c", () => ({ visited: ["node_c"] }))
  .addEdge(START, "node_a")
  .addEdge("node_a", "node_b")
  .addEdge("node_b", "node_c")
  .addEdge("node_c", END)
  .compile();
