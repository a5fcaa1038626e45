// Graphs with a RemoteGraph, in each place. The other server is at REMOTE_URL.
import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { note } from "../note.ts";

const State = Annotation.Root({
  notes: Annotation<string>({ reducer: (_, now) => now, default: () => "" }),
  payload: Annotation<unknown>,
  log: Annotation<string[]>({ reducer: (before, now) => before.concat(now), default: () => [] }),
});
type Values = typeof State.State;

const remote = (graphId: string): RemoteGraph =>
  new RemoteGraph({ graphId, url: process.env["REMOTE_URL"] ?? "http://127.0.0.1:9" });

const calling = (node: unknown) =>
  new StateGraph(State)
    .addNode("there", node as never as (state: Values) => object)
    .addNode("after", ({ notes }) => {
      note(notes, "after");
      return { log: ["after"] };
    })
    .addEdge(START, "there")
    .addEdge("there", "after")
    .addEdge("after", END);

export const node = calling(remote("asking")).compile();
export const reviewed = calling(remote("5d6f2f0e-5f3d-4c55-9d6e-0c9f0a6b7d11")).compile();
export const gated = calling(remote("gated")).compile();
export const twice = calling(remote("twice")).compile();
export const several = calling(remote("beside")).compile();
export const called = calling((state: Values, config: LangGraphRunnableConfig) =>
  remote("asking").invoke(state as object, config),
).compile();
export const below = new StateGraph(State)
  .addNode("sub", calling(remote("asking")).compile())
  .addEdge(START, "sub")
  .addEdge("sub", END)
  .compile();

/** A question of this server beside that of the other. */
export const besideLocal = calling(remote("asking"))
  .addNode("local", () => ({ log: [`local <- ${JSON.stringify(interrupt("local?"))}`] }))
  .addEdge(START, "local")
  .compile();

/** Two tasks at the same time, on the same thread of the other server. */
export const parallel = new StateGraph(State)
  .addNode("one", remote("asking") as never)
  .addNode("two", remote("twice") as never)
  .addEdge(START, "one")
  .addEdge(START, "two")
  .addEdge("one", END)
  .addEdge("two", END)
  .compile();

/** Calls the thread that the payload names. */
export const shared = calling((state: Values) =>
  remote("asking").invoke({ notes: state.notes }, { configurable: { thread_id: String(state.payload) } }),
).compile();

/** Every call begins a thread of its own, which nobody can answer. */
export const anew = calling((state: Values) =>
  remote("asking").invoke(state as object, { configurable: { thread_id: crypto.randomUUID() } }),
).compile();
