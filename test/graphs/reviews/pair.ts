// Two branches that ask: one with review rules, one without.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ paid: Annotation<unknown>, mailed: Annotation<unknown> });

export const pair = new StateGraph(State)
  .addNode("pay", () => ({ paid: interrupt({ ask: "pay", review_rules: { approvals: 2 } }) }))
  .addNode("mail", () => ({ mailed: interrupt({ ask: "mail" }) }))
  .addEdge("__start__", "pay")
  .addEdge("__start__", "mail")
  .addEdge("pay", "__end__")
  .addEdge("mail", "__end__")
  .compile();
