// A desk that asks people: once, twice in one node, side by side, and in a subgraph.
import { HumanMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MessagesAnnotation, Send, StateGraph } from "@langchain/langgraph";

const list = Annotation({ reducer: (before, now) => before.concat(now), default: () => [] });
const State = Annotation.Root({ ...MessagesAnnotation.spec, way: Annotation, answers: list, at: Annotation });
const ask = (question) => ({ answers: [interrupt({ question })] });

const below = new StateGraph(State)
  .addNode("inner", () => ask("inner"))
  .addEdge("__start__", "inner")
  .compile();

export const builder = new StateGraph(State)
  .addNode("note", () => ({ messages: [new HumanMessage("noted")], at: new Date(0) }))
  .addNode("once", () => ask("once"))
  .addNode("twice", () => ({ answers: [interrupt({ question: "first" }), interrupt({ question: "second" })] }))
  .addNode("beside", ({ question }) => ask(question))
  .addNode("below", below)
  .addNode("plain", () => ({ answers: ["none"] }))
  .addEdge("__start__", "note")
  .addConditionalEdges("note", ({ way }) =>
    way === "beside" ? ["left", "right"].map((question) => new Send("beside", { question })) : way,
  );
export const graph = builder.compile();
