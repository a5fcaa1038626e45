// A graph whose model says many small words once the file in its input exists, so that readers can be ready first.
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { Annotation, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { existsSync } from "node:fs";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  gate: Annotation<string>,
  events: Annotation<number>,
});

const WORDS_A_TURN = 100;

class Speaker extends FakeStreamingChatModel {
  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const words = Number(messages[0]?.text);
    for (let n = 0; n < words; n++) {
      const message = new AIMessageChunk({ content: "a few words " });
      yield new ChatGenerationChunk({ message, text: message.text });
      if (n % WORDS_A_TURN === WORDS_A_TURN - 1) await turn();
    }
  }
}

export const speaker = new StateGraph(State)
  .addNode("speak", async (state) => {
    while (!existsSync(state.gate)) await wait(2);
    return { messages: [await new Speaker({}).invoke(String(state.events))] };
  })
  .addEdge("__start__", "speak")
  .addEdge("speak", "__end__")
  .compile();
