// Rules: a graph that its input can bring into every state that a thread can be in.
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  mode: Annotation<"one" | "late" | "several" | "straight" | "busy" | "fail" | "done">,
  /** In mode `late`: a file; the question comes when it exists. */
  gate: Annotation<string>,
  answers: Annotation<unknown[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

class RulesFault extends Error {
  override readonly name = "RulesFault";
}

const GATE_POLL_MS = 10;

const NEXT = {
  one: "ask",
  late: "ask",
  several: ["ask", "ask_too"],
  straight: "close",
  done: "__end__",
  busy: "close",
  fail: "close",
};

export const rules = new StateGraph(State)
  .addNode("open", async (state, { signal }) => {
    if (state.mode === "fail") throw new RulesFault("told to fail");
    while (state.mode === "late" && !existsSync(state.gate)) await setTimeout(GATE_POLL_MS);
    if (state.mode === "busy") await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    return {};
  })
  .addNode("ask", () => ({ answers: [interrupt({ ask: 1 })] }))
  .addNode("ask_too", () => ({ answers: [interrupt({ ask: 2 })] }))
  .addNode("close", () => ({ answers: ["closed"] }))
  .addEdge("__start__", "open")
  .addConditionalEdges("open", (state) => NEXT[state.mode])
  .addEdge("ask", "close")
  .addEdge("ask_too", "close")
  .addEdge("close", "__end__")
  .compile();
