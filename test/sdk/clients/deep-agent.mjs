// An agent of the deepagents package with a subagent. Its models follow a script: a message that is a JSON list of
// `[tool, args]` becomes those tool calls, and after their results the model repeats these.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepagents";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as z from "zod";

class ScriptedModel extends BaseChatModel {
  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const message = reply(messages);
    return { generations: [{ text: message.text, message }] };
  }
}

function reply(messages) {
  const asked = messages.findLastIndex(({ type }) => type === "human");
  const results = messages.slice(asked + 1).filter(({ type }) => type === "tool");
  if (results.length > 0) return new AIMessage(results.map(({ text }) => text).join(" and "));
  const calls = JSON.parse(messages[asked].text);
  const tool_calls = calls.map(([name, args], at) => ({ name, args, id: `call-${at}`, type: "tool_call" }));
  return new AIMessage({ content: "", tool_calls });
}

const awaitFile = tool(
  async ({ file }) => {
    while (!existsSync(file)) await setTimeout(20);
    return `saw ${basename(file)}`;
  },
  { name: "await_file", description: "Waits for a file.", schema: z.object({ file: z.string() }) },
);

const model = new ScriptedModel({});
const helper = { name: "helper", description: "Waits for files.", systemPrompt: "Wait.", tools: [awaitFile], model };

export const agent = createDeepAgent({ model, tools: [], subagents: [helper] });
