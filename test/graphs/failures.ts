// Graphs that go wrong, each in its own way. A new input that says so makes any of them behave.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { note } from "./note.ts";

const State = Annotation.Root({
  notes: Annotation<string>,
  calm: Annotation<boolean>,
  /** How often the node fails, counted in its notes. */
  failures: Annotation<number>,
  waitMs: Annotation<number>,
  /** A file: `slow` waits until it exists. */
  gate: Annotation<string>,
  result: Annotation<unknown>,
});

class NodeFault extends Error {
  override readonly name = "NodeFault";
}

/** Promises a result, and breaks its word. */
export const failing = new StateGraph(State)
  .addNode("before", () => ({ result: "kept" }))
  .addNode("fails", async (state) => {
    note(state.notes, "fails");
    if (!state.calm) throw new NodeFault("this node always fails");
    return { result: "calm" };
  })
  .addEdge("__start__", "before")
  .addEdge("before", "fails")
  .addEdge("fails", "__end__")
  .compile();

/** Throws before it has returned a promise. */
export const throwing = new StateGraph(State)
  .addNode("throws", (state) => {
    if (!state.calm) throw new NodeFault("thrown at once");
    return { result: "calm" };
  })
  .addEdge("__start__", "throws")
  .addEdge("throws", "__end__")
  .compile();

/** The edge throws, after its node has finished. */
export const throwingEdge = new StateGraph(State)
  .addNode("node", () => ({ result: "kept" }))
  .addEdge("__start__", "node")
  .addConditionalEdges("node", (state) => {
    if (!state.calm) throw new NodeFault("thrown by the edge");
    return "__end__";
  })
  .compile();

const plain = new StateGraph(State)
  .addNode("node", () => ({ result: "calm" }))
  .addEdge("__start__", "node")
  .addEdge("node", "__end__")
  .compile();

/** The graph itself throws on the call, before any stream. */
export const throwingGraph: typeof plain = Object.create(plain, {
  stream: {
    value: (input: { readonly calm?: boolean } | null, config: object) => {
      if (input?.calm !== true) throw new NodeFault("thrown by stream()");
      return plain.stream(input, config);
    },
  },
}) as typeof plain;

function earlierFailures(file: string): number {
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line === "failed").length
    : 0;
}

/** Fails after its answer as often as the input says. */
export const retriedAfterAnswer = new StateGraph(State)
  .addNode(
    "ask",
    (state) => {
      note(state.notes, "start");
      const answer: unknown = interrupt({ question: "retried" });
      note(state.notes, `answered ${JSON.stringify(answer)}`);
      if (earlierFailures(state.notes) < state.failures) {
        note(state.notes, "failed");
        throw new NodeFault("fails after its answer");
      }
      return { result: answer };
    },
    { retryPolicy: { maxAttempts: 3, initialInterval: 1, maxInterval: 1, jitter: false, logWarning: false } },
  )
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Its first node never comes back, and listens to nothing. */
export const hanging = new StateGraph(State)
  .addNode("hangs", (state) => {
    note(state.notes, "hangs");
    return state.calm ? { result: "calm" } : new Promise<{ result: string }>(() => undefined);
  })
  .addEdge("__start__", "hangs")
  .addEdge("hangs", "__end__")
  .compile();

/** Goes round and round. */
export const endless = new StateGraph(State)
  .addNode("round", () => ({}))
  .addEdge("__start__", "round")
  .addConditionalEdges("round", (state) => (state.calm ? "__end__" : "round"))
  .compile();

/** Puts a function into its state. */
export const unserialisable = new StateGraph(State)
  .addNode("writes", (state) => {
    note(state.notes, "writes");
    return { result: state.calm ? "calm" : { deep: [1, { callback: () => 1 }] } };
  })
  .addNode("after", (state) => {
    note(state.notes, "after");
    return {};
  })
  .addEdge("__start__", "writes")
  .addEdge("writes", "after")
  .addEdge("after", "__end__")
  .compile();

const GATE_MS = 10;

/** Takes `waitMs` milliseconds, or until its gate opens, for tests that observe a running run. */
export const slow = new StateGraph(State)
  .addNode("first", (state) => {
    note(state.notes, "first");
    return { result: "half" };
  })
  .addNode("waits", async (state, config) => {
    note(state.notes, "waits");
    while (state.gate !== undefined && !existsSync(state.gate)) await setTimeout(GATE_MS);
    await new Promise<void>((resolve) => {
      const timer = globalThis.setTimeout(resolve, state.waitMs);
      config.signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (!config.signal?.aborted) note(state.notes, "waited");
    return { result: "whole" };
  })
  .addEdge("__start__", "first")
  .addEdge("first", "waits")
  .addEdge("waits", "__end__")
  .compile();

/** Interrupts, then works on the answer in the same node until its abort. */
export const askInSlices = new StateGraph(State)
  .addNode("ask", async (state, { signal }) => {
    const answer: unknown = interrupt({ question: "slowly" });
    note(state.notes, "works");
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    return { result: answer };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();
