// Questions below the root: in a graph two levels deep, in a graph that a node calls, in tools.
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import * as z from "zod";
import { note } from "./note.ts";

const State = Annotation.Root({
  notes: Annotation<string>({ reducer: (_, now) => now, default: () => "" }),
  first: Annotation<unknown>,
  second: Annotation<unknown>,
  third: Annotation<unknown>,
  trail: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

const grandchild = new StateGraph(State)
  .addNode("prepare", (state) => {
    note(state.notes, "prepare");
    return { trail: ["prepare"] };
  })
  .addNode("ask_twice", (state) => {
    note(state.notes, "ask start");
    const first: unknown = interrupt({ question: "deep first" });
    const second: unknown = interrupt({ question: "deep second" });
    note(state.notes, "ask end");
    return { first, second };
  })
  .addEdge("__start__", "prepare")
  .addEdge("prepare", "ask_twice")
  .addEdge("ask_twice", "__end__")
  .compile();

const child = new StateGraph(State)
  .addNode("inside", grandchild)
  .addEdge("__start__", "inside")
  .addEdge("inside", "__end__")
  .compile();

/** parent → outer → inside → ask_twice. */
export const deep = new StateGraph(State)
  .addNode("outer", child)
  .addNode("after", (state) => {
    note(state.notes, "after");
    return { trail: ["after"] };
  })
  .addEdge("__start__", "outer")
  .addEdge("outer", "after")
  .addEdge("after", "__end__")
  .compile();

const asking = new StateGraph(State)
  .addNode("ask", (state) => {
    note(state.notes, "ask");
    const third: unknown = interrupt({ question: "called" });
    return { third };
  })
  .addEdge("__start__", "ask")
  .addEdge("ask", "__end__")
  .compile();

/** A node calls the other graph as a function. */
export const called = new StateGraph(State)
  .addNode("caller", async (state) => {
    note(state.notes, "caller start");
    const result = await asking.invoke({ notes: state.notes });
    note(state.notes, "caller end");
    return { third: result.third };
  })
  .addEdge("__start__", "caller")
  .addEdge("caller", "__end__")
  .compile();

/** Two parallel graphs, each with an interrupt. */
export const nestedParallel = new StateGraph(State)
  .addNode("left", child)
  .addNode("right", asking)
  .addEdge("__start__", "left")
  .addEdge("__start__", "right")
  .addEdge("left", "__end__")
  .addEdge("right", "__end__")
  .compile();

const refund = tool(
  ({ amount }) => {
    const decision: unknown = interrupt({ refund: amount });
    return `refund ${amount}: ${JSON.stringify(decision)}`;
  },
  { name: "refund", description: "Pays back", schema: z.object({ amount: z.number() }) },
);

/** A scripted model requests two refunds; both tools interrupt. */
export const tools = new StateGraph(MessagesAnnotation)
  .addNode("model", (state) => {
    if (state.messages.some((message) => ToolMessage.isInstance(message))) return { messages: [new AIMessage("done")] };
    const call = (id: string, amount: number) => ({ id, name: "refund", args: { amount } });
    return { messages: [new AIMessage({ content: "", tool_calls: [call("one", 1), call("two", 2)] })] };
  })
  .addNode("tools", new ToolNode([refund]))
  .addEdge("__start__", "model")
  .addConditionalEdges("model", (state) => {
    const last = state.messages.at(-1);
    return AIMessage.isInstance(last) && (last.tool_calls?.length ?? 0) > 0 ? "tools" : "__end__";
  })
  .addEdge("tools", "model")
  .compile();
