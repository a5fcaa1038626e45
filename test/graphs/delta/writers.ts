// Writers side by side on a channel that is rebuilt from their writes, and a question after each round.
import { DeltaValue, interrupt, StateGraph, StateSchema, type BaseCheckpointSaver } from "@langchain/langgraph";
import { z } from "zod";

type List = string[];
const append = (before: List, writes: List[]): List => [...before, ...writes.flat()];
const list = (snapshotFrequency: number) =>
  new DeltaValue(
    z.array(z.string()).default(() => []),
    { reducer: append, snapshotFrequency },
  );

const State = new StateSchema({ items: list(5), seldom: list(2), round: z.number().default(0) });

/** Longer than one row of a checkpoint. */
const LONG = "x".repeat(5000);

const writer =
  (name: string, ...more: List) =>
  async ({ round }: { readonly round: number }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return { items: [`${name} ${round}`, ...more] };
  };

/** The orders of names, of ids and of the graph differ. */
export function compileWriters(checkpointer?: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode("begin", ({ round }) => ({ round: round + 1 }))
    .addNode("zebra", writer("zebra"))
    .addNode("ape", writer("ape", LONG))
    .addNode("lion", writer("lion"))
    .addNode("gnu", writer("gnu"))
    .addNode("yak", writer("yak"))
    .addNode("ask", ({ round }) => ({ items: [`answer ${String(interrupt({ round }))}`] }))
    .addNode("end", ({ items }) => ({ seldom: [`${items.length} items`] }))
    .addEdge("__start__", "begin")
    .addEdge("begin", "zebra")
    .addEdge("begin", "ape")
    .addEdge("begin", "lion")
    .addEdge("begin", "gnu")
    .addEdge("begin", "yak")
    .addEdge(["zebra", "ape", "lion", "gnu", "yak"], "ask")
    .addEdge("ask", "end")
    .addEdge("end", "__end__")
    .compile(checkpointer === undefined ? {} : { checkpointer });
}

export const graph = compileWriters();
