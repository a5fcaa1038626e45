// Two questions side by side: one asks with the payload of the input, the other has no rules; with the answer "never
// dries" its node runs until it is stopped. Then a node shows the config that the run has.
import { Annotation, interrupt, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

const State = Annotation.Root({
  payload: Annotation<unknown>,
  paid: Annotation<unknown>,
  colour: Annotation<unknown>,
  limits: Annotation<unknown>,
});

export const beside = new StateGraph(State)
  .addNode("ask", ({ payload }) => ({ paid: interrupt(payload) }))
  .addNode("paint", async (_state, { signal }: LangGraphRunnableConfig) => {
    const colour: unknown = interrupt({ question: "Which colour?" });
    if (colour === "never dries")
      await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("stopped"))));
    return { colour };
  })
  .addNode("act", (_state, { configurable = {} }: LangGraphRunnableConfig) => ({
    limits: { limit: configurable["limit"] ?? null, header: configurable["x-limit"] ?? null },
  }))
  .addEdge("__start__", "ask")
  .addEdge("__start__", "paint")
  .addEdge(["ask", "paint"], "act")
  .addEdge("act", "__end__")
  .compile();
