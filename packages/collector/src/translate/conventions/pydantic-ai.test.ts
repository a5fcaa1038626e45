// pydantic-ai and Logfire: one attribute with all message events, later one with the whole history.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("pydantic-ai and Logfire", () => {
  table([
    {
      name: "a model call with message events in one attribute",
      span: {
        name: "chat gpt-4o",
        scope: "pydantic-ai",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.system": "openai",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.response.model": "gpt-4o-2024-08-06",
          model_request_parameters: '{"function_tools":[{"name":"weather"}],"allow_text_output":true}',
          events: JSON.stringify([
            { "event.name": "gen_ai.system.message", content: "Be short.", role: "system", "gen_ai.message.index": 0 },
            {
              "event.name": "gen_ai.user.message",
              content: "Weather?",
              "gen_ai.message.index": 0,
              "gen_ai.system": "openai",
            },
            { "event.name": "gen_ai.tool.message", content: "rain", id: "c1", role: "tool", name: "weather" },
            {
              "event.name": "gen_ai.choice",
              index: 0,
              message: { role: "assistant", content: "Rain." },
              "gen_ai.system": "openai",
            },
          ]),
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 2,
          "gen_ai.usage.details.reasoning_tokens": 1,
          "operation.cost": 0.001,
        },
      },
      run: {
        type: "llm",
        inputs: {
          messages: [
            { content: "Be short.", role: "system" },
            { content: "Weather?", role: "user" },
            { content: "rain", role: "tool", name: "weather", tool_call_id: "c1" },
          ],
        },
        outputs: {
          messages: [{ role: "assistant", content: "Rain." }],
        },
        params: { tools: [{ name: "weather" }], allow_text_output: true },
        usage: {
          input_tokens: 10,
          output_tokens: 2,
          total_tokens: 12,
          output_token_details: { reasoning: 1 },
          total_cost: 0.001,
        },
      },
    },
    {
      name: "an agent's history is split at its last answer",
      span: {
        name: "agent run",
        scope: "pydantic-ai",
        attributes: {
          "logfire.msg": "support run",
          agent_name: "support",
          model_name: "gpt-4o",
          "gen_ai.usage.input_tokens": 10,
          "pydantic_ai.all_messages": JSON.stringify([
            { role: "user", parts: [{ type: "text", content: "Weather?" }] },
            { role: "assistant", parts: [{ type: "text", content: "Rain." }] },
          ]),
        },
      },
      run: {
        name: "support run",
        type: "chain",
        inputs: { messages: [{ role: "user", content: "Weather?" }] },
        outputs: { messages: [{ role: "assistant", content: "Rain." }] },
        usage: null,
        metadata: { aggregate_usage: { input_tokens: 10, total_tokens: 10 }, ls_model_name: "gpt-4o" },
      },
    },
    {
      name: "the final result is the output",
      span: {
        attributes: {
          final_result: '{"city":"Paris"}',
          all_messages_events: JSON.stringify([
            { "event.name": "gen_ai.user.message", content: "Where?" },
            { "event.name": "gen_ai.assistant.message", role: "assistant", content: "Paris" },
          ]),
        },
      },
      run: {
        inputs: { messages: [{ content: "Where?", role: "user" }] },
        outputs: { city: "Paris", messages: [{ content: "Paris", role: "assistant" }] },
      },
    },
    {
      name: "instructions beside the history are its first message; a result with the text of the answer is not doubled",
      span: {
        attributes: {
          "gen_ai.system_instructions": '[{"type":"text","content":"Be kind."}]',
          final_result: "Paris",
          "pydantic_ai.all_messages": JSON.stringify([
            { role: "user", parts: [{ type: "text", content: "Where?" }] },
            { role: "assistant", parts: [{ type: "text", content: "Paris" }] },
          ]),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "user", content: "Where?" },
          ],
        },
        outputs: { output: "Paris" },
      },
    },
    {
      name: "Logfire's own instrumentation of a client, 4.34: request and response whole",
      span: {
        name: "Chat Completion with {request_data[model]!r}",
        attributes: {
          "logfire.msg": "Chat Completion with 'gpt-5'",
          "gen_ai.request.model": "gpt-5",
          request_data: '{"messages":[{"role":"user","content":"Hi"}],"model":"gpt-5"}',
          response_data: '{"message":{"role":"assistant","content":"Hello"}}',
          "logfire.json_schema": '{"type":"object"}',
        },
      },
      run: {
        name: "Chat Completion with 'gpt-5'",
        inputs: { messages: [{ role: "user", content: "Hi" }], model: "gpt-5" },
        outputs: { messages: [{ role: "assistant", content: "Hello" }] },
        metadata: { otel: { kind: "internal", scope: { version: "1.0" } } },
      },
    },
    {
      name: "the older history, without a final result",
      span: {
        attributes: {
          all_messages_events: JSON.stringify([
            { "event.name": "gen_ai.user.message", content: "Where?" },
            { "event.name": "gen_ai.assistant.message", role: "assistant", content: "Paris" },
          ]),
        },
      },
      run: { outputs: { messages: [{ content: "Paris", role: "assistant" }] } },
    },
    {
      name: "a tool without operation name",
      span: {
        name: "running tool",
        attributes: {
          "gen_ai.tool.name": "weather",
          "gen_ai.tool.call.id": "c1",
          tool_arguments: '{"city":"Paris"}',
          tool_response: "rain",
        },
      },
      run: { name: "weather", type: "tool", inputs: { city: "Paris" }, outputs: { output: "rain" } },
    },
    {
      name: "a span named after its template gets Logfire's message",
      span: { name: "asking {who}", attributes: { "logfire.msg": "asking Ada" } },
      run: { name: "asking Ada" },
    },
    {
      name: "a span with a name of its own keeps it",
      span: { name: "checkout", attributes: { "logfire.msg": "something" } },
      run: { name: "checkout" },
    },
    {
      name: "2.x: an agent's sums have names of their own",
      span: {
        scope: "pydantic-ai",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.aggregated_usage.input_tokens": 50,
          "gen_ai.aggregated_usage.output_tokens": 20,
          "gen_ai.aggregated_usage.details.reasoning_tokens": 3,
        },
      },
      run: {
        type: "chain",
        usage: null,
        metadata: {
          aggregate_usage: {
            input_tokens: 50,
            output_tokens: 20,
            total_tokens: 70,
            output_token_details: { reasoning: 3 },
          },
        },
      },
    },
    {
      name: "2.x: an answer with more than the text of the result stands for it",
      span: {
        scope: "pydantic-ai",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "pydantic_ai.all_messages":
            '[{"role":"user","content":"q"},{"role":"assistant","content":"a","finish_reason":"stop"}]',
          final_result: "a",
        },
      },
      run: { outputs: { messages: [{ role: "assistant", content: "a", finish_reason: "stop" }] } },
    },
  ]);
});
