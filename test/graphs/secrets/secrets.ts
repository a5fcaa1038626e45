// A question whose answer does not enter the state.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  payload: Annotation<unknown>,
  schema: Annotation<Record<string, unknown> | undefined>,
  done: Annotation<boolean>,
});

export const login = new StateGraph(State)
  .addNode("ask", ({ payload, schema }) => {
    if (schema === undefined) interrupt(payload);
    else interrupt(payload, { responseSchema: schema });
    return { done: true };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();
