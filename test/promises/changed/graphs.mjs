// The graphs after a change: `question` has a step more, behind its question. The others are as before.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

export { context, functional, nested, parallel, series, strict, together } from "../graphs/graphs.mjs";

const join = () => Annotation({ reducer: (before, now) => before.concat(now), default: () => [] });
const last = () => Annotation({ reducer: (_, now) => now, default: () => null });
const State = Annotation.Root({ trail: join(), answers: join(), seen: last(), wait: last() });

export const question = new StateGraph(State)
  .addNode("before", () => ({ trail: ["before"] }))
  .addNode("ask", () => ({ trail: ["ask"], answers: [{ answer: interrupt({ question: "yes or no?" }) }] }))
  .addNode("after", () => ({ trail: ["after"] }))
  .addNode("added", () => ({ trail: ["added"] }))
  .addEdge("__start__", "before")
  .addEdge("before", "ask")
  .addEdge("ask", "after")
  .addEdge("after", "added")
  .addEdge("added", "__end__")
  .compile();
