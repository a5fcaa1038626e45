// As `echo` of questions.ts, with a question whose payload only looks like one of a dialect.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const Echo = Annotation.Root({ payload: Annotation<unknown>, answer: Annotation<unknown> });
const responseSchema = { interrupt_answers: "as_given" } as object;

export const asGiven = new StateGraph(Echo)
  .addNode("ask", ({ payload }) => ({ answer: interrupt(payload, { responseSchema }) }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();
