// Graphs of the fault tests. Each node records its work in a file, so that a test sees it across processes; a node
// stops at its gate while the test holds it, and names the points for faults.
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Annotation, interrupt, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";

/** Servers of one process may serve several tests in turn. */
const findFile = (...names: readonly string[]): string => join(process.env["FAULT_TEST_FOLDER"] ?? ".", ...names);
const GATE_POLL_MS = 2;

function readThreadId(config: LangGraphRunnableConfig): string {
  return String(config.configurable?.["thread_id"]);
}

function effect(config: LangGraphRunnableConfig, node: string, value: unknown = null): void {
  const run = config.configurable?.["run_id"] as unknown;
  const line = { thread: readThreadId(config), run, node, value, pid: process.pid };
  appendFileSync(findFile("effects.jsonl"), `${JSON.stringify(line)}\n`);
}

async function gate(config: LangGraphRunnableConfig, node: string): Promise<void> {
  const closed = (thread: string): boolean => existsSync(findFile("gates", `${thread}-${node}`));
  while (closed(readThreadId(config)) || closed("all")) await delay(GATE_POLL_MS);
}

function point(config: LangGraphRunnableConfig, name: string): void {
  const points = globalThis as { readonly holdpointTestPoint?: (name: string, thread: string) => void };
  points.holdpointTestPoint?.(name, readThreadId(config));
}

const Log = Annotation.Root({
  log: Annotation<unknown[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

/** prepare → ask (a question) → record. */
export const ask = new StateGraph(Log)
  .addNode("prepare", (_state, config) => {
    effect(config, "prepare");
    return { log: ["prepared"] };
  })
  .addNode("ask", async (_state, config) => {
    const answer: unknown = interrupt({ please: readThreadId(config) });
    point(config, "after answer");
    effect(config, "answered", answer);
    await gate(config, "ask");
    return { log: [answer] };
  })
  .addNode("record", async (_state, config) => {
    effect(config, "record");
    await gate(config, "record");
    return { log: ["recorded"] };
  })
  .addEdge("__start__", "prepare")
  .addEdge("prepare", "ask")
  .addEdge("ask", "record")
  .addEdge("record", "__end__")
  .compile();

const Answers = Annotation.Root({
  first: Annotation<unknown>,
  second: Annotation<unknown>,
  third: Annotation<unknown>,
});

function askTwice(_state: typeof Answers.State, config: LangGraphRunnableConfig) {
  const first: unknown = interrupt("first");
  point(config, "after answer");
  effect(config, "first", first);
  const second: unknown = interrupt("second");
  point(config, "after second answer");
  effect(config, "second", second);
  return { first, second };
}

/** Two questions in one node. */
export const two = new StateGraph(Answers)
  .addNode("both", askTwice)
  .addEdge("__start__", "both")
  .addEdge("both", "__end__")
  .compile();

const child = new StateGraph(Answers)
  .addNode("both", askTwice)
  .addEdge("__start__", "both")
  .addEdge("both", "__end__")
  .compile();

/** The same two questions in a nested graph, and a third one in a node after it. */
export const nested = new StateGraph(Answers)
  .addNode("child", child)
  .addNode("outer", () => ({ third: interrupt<string, unknown>("third") }))
  .addEdge("__start__", "child")
  .addEdge("child", "outer")
  .addEdge("outer", "__end__")
  .compile();

const step = (name: string) => async (_state: typeof Log.State, config: LangGraphRunnableConfig) => {
  effect(config, `${name} starts`);
  await gate(config, name);
  effect(config, `${name} ends`);
  return { log: [name] };
};

/** Three nodes in a row, without a question. */
export const steps = new StateGraph(Log)
  .addNode("one", step("one"))
  .addNode("two", step("two"))
  .addNode("three", step("three"))
  .addEdge("__start__", "one")
  .addEdge("one", "two")
  .addEdge("two", "three")
  .addEdge("three", "__end__")
  .compile();

const Timed = Annotation.Root({ payload: Annotation<unknown>, answer: Annotation<unknown> });

/** An interrupt with its own deadline. */
export const timed = new StateGraph(Timed)
  .addNode("ask", ({ payload }, config) => {
    const responseSchema: object = { "x-holdpoint-deadline": payload }; // the input replaces the graph's code
    const answer: unknown = interrupt(payload, { responseSchema });
    effect(config, "answered", answer);
    return { answer };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** Kills its process, in each attempt. */
export const killer = new StateGraph(Log)
  .addNode("kill", async (_state, config) => {
    effect(config, "kill");
    await gate(config, "kill");
    process.kill(process.pid, "SIGKILL");
    await delay(60_000);
    return {};
  })
  .addEdge("__start__", "kill")
  .addEdge("kill", "__end__")
  .compile();
