// A graph that writes many custom events at once: for readers that fall behind.
import { Annotation, type LangGraphRunnableConfig, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ count: Annotation<number> });

export const flood = new StateGraph(State)
  .addNode("writes", ({ count }, config: LangGraphRunnableConfig) => {
    for (let at = 0; at < count; at++) config.writer?.({ at, filler: "x".repeat(200) });
    return {};
  })
  .addEdge("__start__", "writes")
  .addEdge("writes", "__end__")
  .compile();
