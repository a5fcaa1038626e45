// createAgent with tools that ask.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { setTimeout as passes } from "node:timers/promises";
import { z } from "zod";

const NAMES = ["delete_file", "send_mail", "drop_table"];
const tools = NAMES.map((name) =>
  tool(
    async () => {
      await passes(Math.random() * 8);
      return `${name} <- ${String(interrupt({ place: name }))}`;
    },
    { name, description: name, schema: z.object({}) },
  ),
);

/** Calls all tools once, then says so. */
class Model extends FakeListChatModel {
  override bindTools(): never {
    return this as never;
  }
  override async _generate(messages: BaseMessage[]) {
    const isDone = messages.some((message) => message.type === "tool");
    const tool_calls = NAMES.map((name) => ({ id: name, name, args: {}, type: "tool_call" as const }));
    const message = isDone ? new AIMessage("done") : new AIMessage({ content: "", tool_calls });
    return { generations: [{ text: "", message }] };
  }
}

export const agent = createAgent({ model: new Model({ responses: ["x"] }), tools });
