// Tuples in a state: JSON Schema of draft 7 and of 2020-12 have them under different keywords.
import { Annotation, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  place: Annotation<[number, number]>,
  names: Annotation<[string, ...string[]]>,
  anything: Annotation<unknown>,
});

export const pairs = new StateGraph(State)
  .addNode("keep", () => ({}))
  .addEdge("__start__", "keep")
  .addEdge("keep", "__end__")
  .compile();
