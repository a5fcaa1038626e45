// Two branches that ask: one with review rules, one without.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ paid: Annotation<unknown>, mailed: Annotation<unknown> });

export const pair = new StateGraph(State)
  .addNode("pay", () => ({ paid: interrupt({ ask: "pay", review_rules: { approvals: 2, four_eyes: true } }) }))
  .addNode("mail", () => ({ mailed: interrupt({ ask: "mail" }) }))
  .addEdge("__start__", "pay")
  .addEdge("__start__", "mail")
  .addEdge("pay", "__end__")
  .addEdge("mail", "__end__")
  .compile();

const child = new StateGraph(State)
  .addNode("ask", () => ({ paid: interrupt({ ask: "pay", review_rules: { four_eyes: true, approvals: 2 } }) }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Asks in a subgraph, with four eyes. */
export const nested = new StateGraph(State)
  .addNode("child", child)
  .addEdge("__start__", "child")
  .addEdge("child", "__end__")
  .compile();
