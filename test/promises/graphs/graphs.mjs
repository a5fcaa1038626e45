// The graphs of the promises: any server of LangGraph.js can serve them. They use no model and no file.
import { Annotation, entrypoint, interrupt, Send, StateGraph, task } from "@langchain/langgraph";

const join = () => Annotation({ reducer: (before, now) => before.concat(now), default: () => [] });
const last = () => Annotation({ reducer: (_, now) => now, default: () => null });
const State = Annotation.Root({ trail: join(), answers: join(), seen: last(), wait: last() });

/** Lets other requests arrive while a node is at work. */
const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** before → ask → after: one question between two steps. */
export const question = new StateGraph(State)
  .addNode("before", async (state) => {
    if (state.wait !== null) await rest(state.wait);
    return { trail: ["before"] };
  })
  .addNode("ask", async () => {
    const answer = interrupt({ question: "yes or no?" });
    await rest(20);
    return { trail: ["ask"], answers: [{ answer }] };
  })
  .addNode("after", () => ({ trail: ["after"] }))
  .addEdge("__start__", "before")
  .addEdge("before", "ask")
  .addEdge("ask", "after")
  .addEdge("after", "__end__")
  .compile();

/** Three tasks at once, each with a question of its own. */
export const parallel = new StateGraph(State)
  .addNode("ask", ({ seen }) => ({ answers: [{ of: seen, answer: interrupt({ of: seen }) }] }))
  .addConditionalEdges("__start__", () => ["a", "b", "c"].map((seen) => new Send("ask", { seen })), ["ask"])
  .addEdge("ask", "__end__")
  .compile();

/** One task with two questions at once, as of two tools. */
export const together = new StateGraph(State)
  .addNode("ask", async () => {
    const ask = async (of) => ({ of, answer: interrupt({ of }) });
    return { answers: await Promise.all(["a", "b"].map(ask)) };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** One task with two questions, one after the other. */
export const series = new StateGraph(State)
  .addNode("ask", () => {
    const first = interrupt({ of: "first" });
    const second = interrupt({ of: "second" });
    return { answers: [first, second] };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Notes the configuration before and after its question. */
export const context = new StateGraph(State)
  .addNode("before", (_, config) => ({ trail: [config.configurable?.["user"] ?? null] }))
  .addNode("ask", (_, config) => {
    interrupt({ question: "go on?" });
    return { trail: [config.configurable?.["user"] ?? null] };
  })
  .addEdge("__start__", "before")
  .addEdge("before", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Takes numbers only, and throws on anything else. */
export const strict = new StateGraph(State)
  .addNode("ask", () => {
    const answer = interrupt({ question: "how many?" });
    if (typeof answer !== "number") throw new Error("a number is needed");
    return { answers: [answer] };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

const inner = new StateGraph(State)
  .addNode("prepare", () => ({ trail: ["prepare"] }))
  .addNode("ask", () => ({ answers: [interrupt({ question: "inside" })] }))
  .addEdge("__start__", "prepare")
  .addEdge("prepare", "ask")
  .addEdge("ask", "__end__")
  .compile();
const middle = new StateGraph(State)
  .addNode("inner", inner)
  .addEdge("__start__", "inner")
  .addEdge("inner", "__end__")
  .compile();

/** A question two graphs deep. */
export const nested = new StateGraph(State)
  .addNode("middle", middle)
  .addEdge("__start__", "middle")
  .addEdge("middle", "__end__")
  .compile();

const draw = task("draw", async () => Math.random());

/** The functional form: the task before the question must not run again. */
export const functional = entrypoint({ name: "functional" }, async () => {
  const drawn = await draw();
  const answer = interrupt({ drawn });
  return { drawn, answer };
});
