// A graph whose model streams half of its message, waits for a file, and streams the rest: for readers that join and
// leave meanwhile. The file's path is the last message.
import { FakeListChatModel } from "@langchain/core/utils/testing";
import type { BaseMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const HALVES = ["This half came first. ", "This half came after the wait."] as const;
const LOOK_MS = 20;

class HalvingModel extends FakeListChatModel {
  override async *_streamResponseChunks(...given: Parameters<FakeListChatModel["_streamResponseChunks"]>) {
    let written = 0;
    for await (const chunk of super._streamResponseChunks(...given)) {
      if (written++ === HALVES[0].length) await waitForGate(given[0]);
      yield chunk;
    }
  }
}

async function waitForGate(messages: readonly BaseMessage[]): Promise<void> {
  const path = messages.at(-1)?.text ?? "";
  while (!existsSync(path)) await wait(LOOK_MS);
}

const model = new HalvingModel({ responses: [HALVES.join("")] });

export const writer = new StateGraph(MessagesAnnotation)
  .addNode("writes", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "writes")
  .addEdge("writes", "__end__")
  .compile();
