// Strands Agents: events with Bedrock's content blocks; a tool's arguments and result are a message and a choice.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Strands Agents", () => {
  table([
    {
      name: "a model call in the older form",
      span: {
        name: "chat",
        scope: "strands.telemetry.tracer",
        attributes: {
          "gen_ai.system": "strands-agents",
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "claude-sonnet-4",
          "gen_ai.usage.prompt_tokens": 20,
          "gen_ai.usage.input_tokens": 20,
          "gen_ai.usage.completion_tokens": 5,
          "gen_ai.usage.output_tokens": 5,
          "gen_ai.usage.total_tokens": 25,
          "gen_ai.usage.cache_read_input_tokens": 0,
          "gen_ai.server.time_to_first_token": 1,
        },
        events: [
          { name: "gen_ai.user.message", attributes: { content: '[{"text": "Weather?"}]' } },
          {
            name: "gen_ai.assistant.message",
            attributes: {
              content: '[{"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Paris"}}}]',
            },
          },
          {
            name: "gen_ai.tool.message",
            attributes: {
              content: '[{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "rain"}]}}]',
            },
          },
          { name: "gen_ai.choice", attributes: { finish_reason: "end_turn", message: '[{"text": "Rain."}]' } },
        ],
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            { role: "user", content: "Weather?" },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "t1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "t1", content: "rain", status: "success" },
          ],
        },
        outputs: {
          messages: [{ role: "assistant", content: "Rain.", finish_reason: "end_turn" }],
        },
        usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25, input_token_details: { cache_read: 0 } },
        events: [{ name: "new_token", time: "2025-11-21T09:00:01.123456789Z" }],
      },
    },
    {
      name: "a tool in the older form: its message is the arguments, its choice the result",
      span: {
        name: "execute_tool weather",
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "weather",
          "gen_ai.tool.call.id": "t1",
          "gen_ai.tool.status": "success",
        },
        events: [
          { name: "gen_ai.tool.message", attributes: { role: "tool", content: '{"city": "Paris"}', id: "t1" } },
          { name: "gen_ai.choice", attributes: { message: '[{"text": "rain"}]', id: "t1" } },
        ],
      },
      run: {
        name: "weather",
        type: "tool",
        inputs: { city: "Paris" },
        outputs: { output: [{ text: "rain" }] },
        error: "",
      },
    },
    {
      name: "a tool in the newer form: two details events, the first with the call, the second with the response",
      span: {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "weather",
          "gen_ai.tool.status": "error",
        },
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: {
              "gen_ai.input.messages":
                '[{"role":"tool","parts":[{"type":"tool_call","name":"weather","id":"t1","arguments":{"city":"Paris"}}]}]',
            },
          },
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: {
              "gen_ai.output.messages":
                '[{"role":"tool","parts":[{"type":"tool_call_response","id":"t1","response":[{"text":"no city"}]}]}]',
            },
          },
        ],
      },
      run: { type: "tool", inputs: { city: "Paris" }, outputs: { output: [{ text: "no city" }] }, error: "error" },
    },
    {
      name: "an event loop cycle says neither what it is nor whose, and is a chain with its conversation",
      span: {
        name: "execute_event_loop_cycle",
        scope: "strands.telemetry.tracer",
        attributes: { "event_loop.cycle_id": "1" },
        events: [
          { name: "gen_ai.user.message", attributes: { content: '[{"text": "Weather?"}]' } },
          {
            name: "gen_ai.choice",
            attributes: { message: '[{"text": "Let me look."}]', "tool.result": '[{"toolResult":{"toolUseId":"t1"}}]' },
          },
        ],
      },
      run: {
        type: "chain",
        inputs: { messages: [{ role: "user", content: "Weather?" }] },
        outputs: {
          messages: [
            { role: "assistant", content: "Let me look." },
            { role: "tool", tool_call_id: "t1", content: "" },
          ],
        },
      },
      options: { filterNonGenAi: true },
    },
    {
      name: "an agent: its prompt is the first message, its usage a sum",
      span: {
        name: "invoke_agent Support",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "Support",
          "gen_ai.agent.system_prompt": "Be kind.",
          "gen_ai.agent.tools": '["weather"]',
          "gen_ai.usage.input_tokens": 9,
        },
        events: [{ name: "gen_ai.user.message", attributes: { content: '[{"text": "Hi"}]' } }],
      },
      run: {
        type: "chain",
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "Hi" },
          ],
        },
        params: { tools: ["weather"] },
        usage: null,
        metadata: { aggregate_usage: { input_tokens: 9, total_tokens: 9 } },
      },
    },
    {
      name: "sdk-python 006ad58: the first token in milliseconds, the cache of Bedrock on top of the input",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "claude",
          "gen_ai.usage.input_tokens": 9,
          "gen_ai.usage.output_tokens": 2,
          "gen_ai.usage.total_tokens": 15,
          "gen_ai.usage.cache_read_input_tokens": 3,
          "gen_ai.usage.cache_write_input_tokens": 1,
          "gen_ai.server.time_to_first_token": 250,
        },
      },
      run: {
        usage: {
          input_tokens: 13,
          output_tokens: 2,
          total_tokens: 15,
          input_token_details: { cache_read: 3, cache_creation: 1 },
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.373456789Z" }],
      },
    },
  ]);
});
