// A graph with events in every stream mode: custom writes, model tokens, and an interrupt in a subgraph. `gate`: it
// waits for this file between its first and its second event, so that readers can join before the rest.
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  gate: Annotation<string>,
  events: Annotation<number>,
  ask: Annotation<boolean>,
  answer: Annotation<unknown>,
});

const GATE_MS = 5;

const inner = new StateGraph(State)
  .addNode("asks", (state, config) => {
    config.writer?.({ inside: true });
    return { answer: state.ask ? interrupt({ question: "go on?" }) : "unasked" };
  })
  .addEdge("__start__", "asks")
  .addEdge("asks", "__end__")
  .compile();

export const teller = new StateGraph(State)
  .addNode("tells", async (state, config) => {
    config.writer?.({ n: 0 });
    while (state.gate !== undefined && !existsSync(state.gate)) await wait(GATE_MS, null, config);
    for (let n = 1; n < (state.events ?? 2); n++) config.writer?.({ n });
    return {};
  })
  .addNode("speaks", async () => ({ messages: [await new FakeListChatModel({ responses: ["Hi!"] }).invoke("hello")] }))
  .addNode("inner", inner)
  .addEdge("__start__", "tells")
  .addEdge("tells", "speaks")
  .addEdge("speaks", "inner")
  .addEdge("inner", "__end__")
  .compile();

/** Asks first, and streams its text in the run after the answer. */
export const asksThenSpeaks = new StateGraph(State)
  .addNode("asks", () => ({ answer: interrupt("Go on?") }))
  .addNode("waits", async (state, config) => {
    while (state.gate !== undefined && !existsSync(state.gate)) await wait(GATE_MS, null, config);
    return {};
  })
  .addNode("speaks", async () => ({ messages: [await new FakeListChatModel({ responses: ["Hi!"] }).invoke("hello")] }))
  .addEdge("__start__", "asks")
  .addEdge("asks", "waits")
  .addEdge("waits", "speaks")
  .addEdge("speaks", "__end__")
  .compile();

const BLOCKED_MS_MAX = 60_000;

/** Keeps the event loop busy until the file is there. */
export const blocks = new StateGraph(State)
  .addNode("blocks", (state) => {
    for (const until = performance.now() + BLOCKED_MS_MAX; !existsSync(state.gate) && performance.now() < until;);
    return { answer: existsSync(state.gate) };
  })
  .addEdge("__start__", "blocks")
  .addEdge("blocks", "__end__")
  .compile();
