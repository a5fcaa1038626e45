// A graph that emits many small events once the file in its input exists, so that readers can be ready first.
import { Annotation, StateGraph } from "@langchain/langgraph";
import { existsSync } from "node:fs";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";

const State = Annotation.Root({ gate: Annotation<string>, events: Annotation<number> });

const EVENTS_A_TURN = 100;

export const teller = new StateGraph(State)
  .addNode("tell", async (state, config) => {
    while (!existsSync(state.gate)) await wait(2);
    for (let n = 0; n < state.events; n++) {
      config.writer?.({ n, text: "a few words, as a model says them" });
      if (n % EVENTS_A_TURN === EVENTS_A_TURN - 1) await turn();
    }
    return {};
  })
  .addEdge("__start__", "tell")
  .addEdge("tell", "__end__")
  .compile();
