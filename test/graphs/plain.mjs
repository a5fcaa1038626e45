// Graphs in plain JavaScript for tests of assistants: they have no types.
import { MessagesValue, MessagesZodState, ReducedValue, StateGraph, StateSchema } from "@langchain/langgraph";
import * as z from "zod";
import * as z3 from "zod/v3";

const nothing = () => ({});

export const zod3 = new StateGraph(z3.object({ topic: z3.string(), count: z3.number().default(1) }))
  .addNode("first", nothing)
  .addNode("second", nothing)
  .addEdge("__start__", "first")
  .addEdge("first", "second")
  .addEdge("second", "__end__")
  .compile();

export const zodMessages = new StateGraph(MessagesZodState)
  .addNode("inner", zod3)
  .addNode("after", nothing)
  .addEdge("__start__", "inner")
  .addEdge("inner", "after")
  .addEdge("after", "__end__")
  .compile();

/** One field is of a kind that the library has no JSON Schema for. */
export const stateSchema = new StateGraph(
  new StateSchema({
    messages: MessagesValue,
    step: z.string(),
    old: z3.number(),
    done: new ReducedValue(
      z.array(z.string()).default(() => []),
      { inputSchema: z.string(), reducer: (done, more) => [...done, more] },
    ),
  }),
)
  .addNode("work", nothing)
  .addEdge("__start__", "work")
  .addEdge("work", "__end__")
  .compile();
