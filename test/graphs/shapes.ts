// Exports that a langgraph.json may name: an uncompiled graph, a factory, the functional API; and graphs that return
// their input.
import { Annotation, entrypoint, interrupt, MessagesAnnotation, StateGraph, task } from "@langchain/langgraph";
import { note } from "./note.ts";

const State = Annotation.Root({
  visited: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

const row = () =>
  new StateGraph(State)
    .addNode("node_a", () => ({ visited: ["node_a"] }))
    .addNode("node_b", () => ({ visited: ["node_b"] }))
    .addNode("node_c", () => ({ visited: ["node_c"] }))
    .addEdge("__start__", "node_a")
    .addEdge("node_a", "node_b")
    .addEdge("node_b", "node_c")
    .addEdge("node_c", "__end__");

export const uncompiled = row();

export const compiledBreakpoints = row().compile({ interruptBefore: ["node_b"] });

export const breakpointBelow = new StateGraph(State)
  .addNode("inner", compiledBreakpoints)
  .addEdge("__start__", "inner")
  .addEdge("inner", "__end__")
  .compile();

export async function factory() {
  await Promise.resolve();
  return row();
}

export const messages = new StateGraph(MessagesAnnotation)
  .addNode("reply", (state) => {
    const answer: string = interrupt({ heard: state.messages.length });
    return { messages: [{ role: "assistant", content: answer }] };
  })
  .addEdge("__start__", "reply")
  .addEdge("reply", "__end__")
  .compile();

const Anything = Annotation.Root({ value: Annotation<unknown>, seen: Annotation<unknown> });

/** Stores its input, and returns its node's `config`. */
export const keeper = new StateGraph(Anything)
  .addNode("keep", (_, config) => {
    const { configurable } = config;
    const shown = Object.entries(configurable ?? {}).filter(([name]) => !name.startsWith("__pregel_"));
    return { seen: { ...Object.fromEntries(shown), polluted: "polluted" in {} } };
  })
  .addEdge("__start__", "keep")
  .addEdge("keep", "__end__")
  .compile();

interface Job {
  readonly notes?: string;
  readonly topic: string;
}

const draft = task("draft", ({ notes, topic }: Job) => {
  note(notes, "draft");
  return `draft of ${topic}`;
});

const confirm = task("confirm", (text: string): unknown => interrupt({ confirm: text }));

/** A task, a question in a task, and a question in the body. */
export const functional = entrypoint("functional", async (job: Job) => {
  const text = await draft(job);
  const confirmed = await confirm(text);
  const title: unknown = interrupt({ title_for: text });
  return { text, confirmed, title };
});
