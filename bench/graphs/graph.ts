// The graph that is measured: three nodes, a pause in the second. Used in process and by the servers alike.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  text: Annotation<string>,
  log: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

export const builder = new StateGraph(State)
  .addNode("draft", () => ({ log: ["draft"] }))
  .addNode("review", (state) => {
    const answer: string = interrupt({ question: state.text.slice(0, 100) });
    return { log: ["review", answer] };
  })
  .addNode("finish", () => ({ log: ["finish"] }))
  .addEdge("__start__", "draft")
  .addEdge("draft", "review")
  .addEdge("review", "finish")
  .addEdge("finish", "__end__");

export const graph = builder.compile();
