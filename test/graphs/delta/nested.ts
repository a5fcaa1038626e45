// A graph in a graph, each with its own delta channel, and a shared one. The inner graph has parallel writers, and
// interrupts twice.
import { DeltaValue, interrupt, StateGraph, StateSchema, type BaseCheckpointSaver } from "@langchain/langgraph";
import { z } from "zod";

type List = string[];
const append = (before: List, writes: List[]): List => [...before, ...writes.flat()];
const list = (snapshotFrequency: number) =>
  new DeltaValue(
    z.array(z.string()).default(() => []),
    { reducer: append, snapshotFrequency },
  );

const Inner = new StateSchema({ drafts: list(3), round: z.number().default(0) });
const Outer = new StateSchema({ items: list(2), drafts: list(4), round: z.number().default(0) });

const writer =
  (name: string) =>
  async ({ round }: { readonly round: number }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return { drafts: [`${name} ${round}`] };
  };

const inner = new StateGraph(Inner)
  .addNode("zebra", writer("zebra"))
  .addNode("ape", writer("ape"))
  .addNode("ask", ({ round, drafts }) => {
    const first = String(interrupt({ round, drafts: drafts.length }));
    return { drafts: [`${first} and ${String(interrupt({ first }))}`] };
  })
  .addNode("lion", writer("lion"))
  .addEdge("__start__", "zebra")
  .addEdge("__start__", "ape")
  .addEdge(["zebra", "ape"], "ask")
  .addEdge("ask", "lion")
  .addEdge("lion", "__end__")
  .compile();

export function compileNested(checkpointer?: BaseCheckpointSaver) {
  return new StateGraph(Outer)
    .addNode("begin", ({ round }) => ({ round: round + 1, items: [`begin ${round}`] }))
    .addNode("inside", inner)
    .addNode("beside", ({ round }) => ({ items: [`beside ${round}`] }))
    .addNode("end", ({ drafts }) => ({ items: [`${drafts.length} drafts`] }))
    .addEdge("__start__", "begin")
    .addEdge("begin", "inside")
    .addEdge("begin", "beside")
    .addEdge(["inside", "beside"], "end")
    .addEdge("end", "__end__")
    .compile(checkpointer === undefined ? {} : { checkpointer });
}

export const graph = compileNested();
