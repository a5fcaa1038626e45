// Graphs for tests of assistants: one that shows the config and context it was given.
import { Annotation, StateGraph, type Runtime } from "@langchain/langgraph";

const Shown = Annotation.Root({ config: Annotation<unknown>, context: Annotation<unknown>, limit: Annotation<number> });

/** Keeps what its node received. */
export const settings = new StateGraph(Shown)
  .addNode("show", (_, { configurable, context }: Runtime) => {
    const shown = ["model", "tone", "thread_id"].map((name) => [name, configurable?.[name]]);
    return { config: Object.fromEntries(shown) as object, context: context ?? null };
  })
  .addEdge("__start__", "show")
  .addEdge("show", "__end__")
  .compile();
