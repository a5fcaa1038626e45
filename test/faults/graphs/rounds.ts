// Rounds of interrupts: `rounds` rounds of `width` parallel interrupts. With `hold`, it first works without end, until
// a cancellation. For random sequences of calls, whose outcome a small model predicts.
import { Annotation, interrupt, Send, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  rounds: Annotation<number>,
  width: Annotation<number>,
  hold: Annotation<boolean>,
  round: Annotation<number>,
  place: Annotation<number>,
  /** Answers used so far; null begins anew. */
  log: Annotation<unknown[], unknown[] | null>({
    reducer: (before, now) => (now === null ? [] : before.concat(now)),
    default: () => [],
  }),
});

export const rounds = new StateGraph(State)
  .addNode("begin", async (state, config) => {
    if (state.hold) {
      await new Promise((_, reject) => {
        config.signal?.addEventListener("abort", () => reject(new Error("told to end")), { once: true });
      });
    }
    return { round: 0 };
  })
  .addNode("open", (state) => ({ round: state.round }))
  .addNode("ask", (state) => {
    const answer: unknown = interrupt({ round: state.round, place: state.place });
    return { log: [[state.round, state.place, answer]] };
  })
  .addNode("close", (state) => ({ round: state.round + 1 }))
  .addEdge("__start__", "begin")
  .addEdge("begin", "open")
  .addConditionalEdges("open", ({ round, rounds: last, width }) =>
    round < last ? Array.from({ length: width }, (_, place) => new Send("ask", { round, place })) : "__end__",
  )
  .addEdge("ask", "close")
  .addEdge("close", "open")
  .compile();
