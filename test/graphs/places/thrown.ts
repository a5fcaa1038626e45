// Graphs whose interrupts are not raised by interrupt() of their own task. Each passes once the state has `ok`.
import { Annotation, END, GraphInterrupt, interrupt, NodeInterrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  ok: Annotation<boolean>,
});
type Values = typeof State.State;

const checking = (raise: () => never) =>
  new StateGraph(State)
    .addNode("check", ({ ok }: Values) => (ok ? { log: ["passed"] } : raise()))
    .addEdge(START, "check")
    .addEdge("check", END);
const node = checking(() => {
  throw new NodeInterrupt("not ok yet");
});
const graph = checking(() => {
  throw new GraphInterrupt([{ value: "not ok yet" }]);
});

export const thrownByNode = node.compile();
export const thrownByGraph = graph.compile();
export const thrownBelow = new StateGraph(State)
  .addNode("inner", node.compile())
  .addEdge(START, "inner")
  .addEdge("inner", END)
  .compile();

const asking = new StateGraph(State)
  .addNode("ask", () => ({ log: [`a <- ${String(interrupt("a"))}`, `b <- ${String(interrupt("b"))}`] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile({ checkpointer: false });
/** The graph inside has no checkpoints. */
export const unsaved = new StateGraph(State)
  .addNode("inner", asking)
  .addEdge(START, "inner")
  .addEdge("inner", END)
  .compile();
