// Graphs of a server that another one calls.
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { note } from "../note.ts";

const State = Annotation.Root({
  notes: Annotation<string>,
  payload: Annotation<unknown>,
  log: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});
type Values = typeof State.State;

const asks =
  (name: string) =>
  ({ notes, payload }: Values) => {
    const answer = JSON.stringify(interrupt(payload ?? `${name}?`));
    note(notes, `${name} <- ${answer}`);
    if (answer === '"throw"') throw new TypeError("not this");
    return { log: [`${name} <- ${answer}`] };
  };

const begun = ({ notes }: Values) => {
  note(notes, "begun");
  return {};
};

export const asking = new StateGraph(State)
  .addNode("begin", begun)
  .addNode("ask", asks("there"))
  .addEdge(START, "begin")
  .addEdge("begin", "ask")
  .addEdge("ask", END)
  .compile();

/** Its end waits for a file. */
export const gated = new StateGraph(State)
  .addNode("begin", begun)
  .addNode("ask", async (state: Values) => {
    const result = asks("there")(state);
    while (!existsSync(`${state.notes}.go`)) await setTimeout(5);
    return result;
  })
  .addEdge(START, "begin")
  .addEdge("begin", "ask")
  .addEdge("ask", END)
  .compile();

/** Asks once there is a file. */
export const late = new StateGraph(State)
  .addNode("ask", async (state: Values) => {
    while (!existsSync(`${state.notes}.go`)) await setTimeout(5);
    return asks("late")(state);
  })
  .addEdge(START, "ask")
  .compile();

/** A second question after the first. */
export const twice = new StateGraph(State)
  .addNode("begin", begun)
  .addNode("one", asks("one"))
  .addNode("two", asks("two"))
  .addEdge(START, "begin")
  .addEdge("begin", "one")
  .addEdge("one", "two")
  .addEdge("two", END)
  .compile();

/** Two questions at the same time. */
export const beside = new StateGraph(State)
  .addNode("begin", begun)
  .addNode("one", asks("one"))
  .addNode("two", asks("two"))
  .addEdge(START, "begin")
  .addEdge("begin", "one")
  .addEdge("begin", "two")
  .addEdge("one", END)
  .addEdge("two", END)
  .compile();
