// An agent of the langchain package whose tools a person reviews. Its model follows a script: a message that is a JSON
// list of `[tool, args]` becomes those tool calls, and after the tool results it repeats them.
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import * as z from "zod";

class ScriptedModel extends BaseChatModel {
  _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    _manager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    const message = reply(messages);
    return { generations: [{ text: message.text, message }] };
  }
}

function reply(messages: readonly BaseMessage[]): AIMessage {
  const last = messages.at(-1);
  if (last === undefined || last instanceof ToolMessage) {
    const answers = messages.slice(messages.findLastIndex((message) => message.type === "human") + 1);
    const texts = answers.filter((message) => message instanceof ToolMessage).map(({ text }) => text);
    return new AIMessage(texts.join("; "));
  }
  const calls = JSON.parse(last.text) as readonly (readonly [string, Record<string, unknown>])[];
  const tool_calls = calls.map(([name, args], at) => ({ name, args, id: `call_${at}`, type: "tool_call" as const }));
  return new AIMessage({ content: "", tool_calls });
}

const refund = tool(({ order, amount }) => `refunded ${amount} for ${order}`, {
  name: "refund",
  description: "Pays money back.",
  schema: z.object({ order: z.string(), amount: z.number() }),
});

const lookUp = tool(({ order }) => `${order} is on its way`, {
  name: "look_up",
  description: "Says where an order is.",
  schema: z.object({ order: z.string() }),
});

const interruptOn = { refund: { allowedDecisions: ["approve", "edit", "reject"] }, look_up: false };

export const agent = createAgent({
  model: new ScriptedModel({}),
  tools: [refund, lookUp],
  // The package's own types do not fit each other under exactOptionalPropertyTypes.
  middleware: [humanInTheLoopMiddleware({ interruptOn } as never) as never],
});
