// A graph that returns its caller's identity, before and after an interrupt.
import { Annotation, END, interrupt, START, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

const State = Annotation.Root({
  before: Annotation<unknown>(),
  after: Annotation<unknown>(),
});

function seen({ configurable, metadata }: LangGraphRunnableConfig) {
  const { __pregel_checkpointer: _saver, ...names } = configurable ?? {};
  const told = Object.entries(names).filter(([name]) => !name.startsWith("__pregel"));
  return { configurable: Object.fromEntries(told), metadata };
}

export const whoami = new StateGraph(State)
  .addNode("tell", (_: typeof State.State, config: LangGraphRunnableConfig) => ({ before: seen(config) }))
  .addNode("ask", (_: typeof State.State, config: LangGraphRunnableConfig) => {
    interrupt("go on?");
    return { after: seen(config) };
  })
  .addEdge(START, "tell")
  .addEdge("tell", "ask")
  .addEdge("ask", END)
  .compile();
