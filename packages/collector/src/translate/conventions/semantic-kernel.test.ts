// Semantic Kernel, Microsoft Agent Framework, Microsoft.Extensions.AI: whole messages as JSON in one event attribute.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Semantic Kernel", () => {
  table([
    {
      name: "messages and choice in gen_ai.event.content",
      span: {
        name: "chat.completions gpt-4o",
        scope: "Microsoft.SemanticKernel.Diagnostics",
        attributes: {
          "gen_ai.operation.name": "chat.completions",
          "gen_ai.system": "openai",
          "gen_ai.request.model": "gpt-4o",
        },
        events: [
          {
            name: "gen_ai.system.message",
            attributes: { "gen_ai.event.content": '{"role":"system","content":"Be short."}' },
          },
          {
            name: "gen_ai.user.message",
            attributes: { "gen_ai.event.content": '{"content":"Weather?","gen_ai.message.index":0}' },
          },
          {
            name: "gen_ai.assistant.message",
            attributes: {
              "gen_ai.event.content":
                '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"weather","arguments":{"city":"Paris"}},"type":"function"}]}',
            },
          },
          {
            name: "gen_ai.tool.message",
            attributes: { "gen_ai.event.content": '{"id":"c1","content":"rain","role":"tool"}' },
          },
          {
            name: "gen_ai.choice",
            attributes: {
              "gen_ai.event.content":
                '{"index":0,"message":{"role":"assistant","content":"Rain."},"tool_calls":[],"finish_reason":"Stop"}',
            },
          },
        ],
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Weather?" },
            {
              role: "assistant",
              content: null,
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "c1", content: "rain" },
          ],
        },
        outputs: {
          messages: [{ role: "assistant", content: "Rain.", finish_reason: "Stop" }],
        },
      },
    },
    {
      name: "the agent framework's newer attributes",
      span: {
        name: "invoke_agent Writer",
        scope: "agent_framework",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "Writer",
          "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Write."}]}]',
          "gen_ai.output.messages":
            '[{"role":"assistant","parts":[{"type":"text","content":"Done."}],"name":"Writer"}]',
          "gen_ai.tool.definitions": '[{"type":"function","name":"search"}]',
        },
      },
      run: {
        type: "chain",
        inputs: { messages: [{ role: "user", content: "Write." }] },
        outputs: { messages: [{ role: "assistant", name: "Writer", content: "Done." }] },
        params: { tools: [{ type: "function", name: "search" }] },
      },
    },
    {
      name: "tokens under the names of 1.x",
      span: {
        name: "chat.completions gpt-4o",
        attributes: {
          "gen_ai.operation.name": "chat.completions",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.response.prompt_tokens": 5,
          "gen_ai.response.completion_tokens": 3,
        },
      },
      run: { type: "llm", usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 } },
    },
    {
      name: "Microsoft.Extensions.AI 002ca0a: a realtime session",
      span: { attributes: { "gen_ai.operation.name": "realtime", "gen_ai.request.model": "gpt-realtime" } },
      run: { type: "llm" },
    },
  ]);
});
