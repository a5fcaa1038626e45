// Interrupts whose answers only the library can reject: in a subgraph, among siblings, and as the second of a node.
import { Annotation, interrupt, StateGraph } from "@langchain/langgraph";
import * as z from "zod";
import { note } from "./note.ts";

const even = z.number().refine((amount) => amount % 2 === 0, "not an even number");
const State = Annotation.Root({
  notes: Annotation<string>({ reducer: (_, now) => now, default: () => "" }),
  done: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});

const askEven = (name: string) => (state: typeof State.State) => {
  const answer: unknown = interrupt(name, { responseSchema: even });
  note(state.notes, name);
  return { done: [`${name}=${JSON.stringify(answer)}`] };
};

const child = new StateGraph(State).addNode("ask", askEven("below")).addEdge("__start__", "ask").compile();

export const below = new StateGraph(State)
  .addNode("child", child)
  .addNode("after", () => ({ done: ["after"] }))
  .addEdge("__start__", "child")
  .addEdge("child", "after")
  .compile();

export const beside = new StateGraph(State)
  .addNode("left", askEven("left"))
  .addNode("right", (state) => {
    const answer = String(interrupt("right"));
    note(state.notes, "right");
    return { done: [`right=${answer}`] };
  })
  .addNode("waits", () => ({ done: [`waits=${String(interrupt("waits"))}`] }))
  .addEdge("__start__", "left")
  .addEdge("__start__", "right")
  .addEdge("__start__", "waits")
  .compile();

export const twice = new StateGraph(State)
  .addNode("ask", (state) => {
    const first = String(interrupt("first"));
    const { done } = askEven("second")(state);
    return { done: [`first=${first}`, ...done] };
  })
  .addEdge("__start__", "ask")
  .compile();
