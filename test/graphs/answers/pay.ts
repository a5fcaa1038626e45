// A graph that asks before it pays. Without `reviewed` in the input, its question has no rules.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";
import { findGate } from "../gates.ts";

const State = Annotation.Root({
  amount: Annotation<number>,
  to: Annotation<string>,
  reviewed: Annotation<boolean>,
  answer: Annotation<{ approved?: boolean }>,
  paid: Annotation<string>,
});

export const pay = new StateGraph(State)
  .addNode("ask", ({ amount, to, reviewed }) => {
    const rules = reviewed ? { review_rules: { assignees: ["ann"], four_eyes: true } } : {};
    const answer: { approved?: boolean } = interrupt({ question: `Pay ${amount} to ${to}?`, ...rules });
    return { answer };
  })
  .addNode("pay", ({ amount, to, answer }) => ({
    paid: answer.approved === true ? `PAID ${amount} to ${to}` : "refused",
  }))
  .addEdge("__start__", "ask")
  .addEdge("ask", "pay")
  .addEdge("pay", "__end__")
  .compile();

/** The same, without money. It asks once its test lets it (findGate of test/graphs/gates.ts). */
export const slowPay = new StateGraph(State)
  .addNode("ask", async ({ amount, to }, { configurable = {} }) => {
    await findGate(String(configurable["thread_id"])).promise;
    const review_rules = { assignees: ["ann"], four_eyes: true };
    const answer: { approved?: boolean } = interrupt({ question: `Pay ${amount} to ${to}?`, review_rules });
    return { answer };
  })
  .addNode("pay", ({ amount, to }) => {
    if (amount <= 5) throw new Error("no money");
    return { paid: `PAID ${amount} to ${to}` };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "pay")
  .addEdge("pay", "__end__")
  .compile();
