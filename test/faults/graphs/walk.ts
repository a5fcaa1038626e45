// Walk: short steps of different lengths, so that several transactions of a run are under way at a time; a question
// between two walks.
import { setTimeout as pause } from "node:timers/promises";
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const STEPS = 12;

const State = Annotation.Root({
  walk: Annotation<number>({ reducer: (_, now) => now, default: () => 0 }),
  step: Annotation<number>({ reducer: (_, now) => now, default: () => 0 }),
  log: Annotation<unknown[], unknown>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

export const walk = new StateGraph(State)
  .addNode("go", async ({ step, walk: nth }) => {
    await pause((step * 5) % 14);
    return { step: step + 1, log: `walk ${nth}, step ${step}` };
  })
  .addNode("ask", ({ walk: nth }) => ({ log: interrupt({ walk: nth }), walk: nth + 1, step: 0 }))
  .addEdge("__start__", "go")
  .addConditionalEdges("go", ({ step }) => (step < STEPS ? "go" : "ask"))
  .addConditionalEdges("ask", ({ walk: nth }) => (nth < 2 ? "go" : "__end__"))
  .compile();
