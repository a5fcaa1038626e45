// Google ADK: the whole Gemini request and response as JSON, "{}" and "N/A" where there is nothing to say.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("Google ADK", () => {
  table([
    {
      name: "a model call without operation name",
      span: {
        name: "call_llm",
        scope: "gcp.vertex.agent",
        attributes: {
          "gen_ai.system": "gcp.vertex.agent",
          "gen_ai.request.model": "gemini-2.5-flash",
          "gen_ai.request.max_tokens": 100,
          "gcp.vertex.agent.session_id": "s1",
          "gcp.vertex.agent.llm_request": JSON.stringify({
            model: "gemini-2.5-flash",
            config: { system_instruction: "Be short.", temperature: 0.1 },
            contents: [
              { role: "user", parts: [{ text: "Weather?" }] },
              { role: "model", parts: [{ function_call: { id: "c1", name: "weather", args: { city: "Paris" } } }] },
              {
                role: "user",
                parts: [{ function_response: { id: "c1", name: "weather", response: { sky: "rain" } } }],
              },
            ],
          }),
          "gcp.vertex.agent.llm_response": JSON.stringify({
            content: { role: "model", parts: [{ text: "Rain." }] },
            finish_reason: "STOP",
            usage_metadata: {
              prompt_token_count: 40,
              candidates_token_count: 3,
              cached_content_token_count: 16,
              thoughts_token_count: 2,
            },
          }),
          "gen_ai.response.finish_reasons": ["stop"],
        },
      },
      run: {
        name: "call_llm",
        type: "llm",
        inputs: {
          model: "gemini-2.5-flash",
          config: { temperature: 0.1 },
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Weather?" },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "c1", name: "weather", content: '{"sky":"rain"}' },
          ],
        },
        outputs: {
          messages: [{ role: "assistant", content: "Rain." }],
          finish_reason: "STOP",
          usage: {
            prompt_token_count: 40,
            candidates_token_count: 3,
            cached_content_token_count: 16,
            thoughts_token_count: 2,
          },
        },
        usage: {
          input_tokens: 40,
          output_tokens: 3,
          total_tokens: 43,
          input_token_details: { cache_read: 16 },
          output_token_details: { reasoning: 2 },
        },
        metadata: { ls_provider: "google_vertexai", thread_id: "s1" },
      },
    },
    {
      name: "a tool's span, whose model request and response are empty objects",
      span: {
        name: "execute_tool weather",
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "weather",
          "gcp.vertex.agent.llm_request": "{}",
          "gcp.vertex.agent.llm_response": "{}",
          "gcp.vertex.agent.tool_call_args": '{"city": "Paris"}',
          "gcp.vertex.agent.tool_response": '{"result": "rain"}',
        },
      },
      run: { type: "tool", inputs: { city: "Paris" }, outputs: { result: "rain" }, usage: null },
    },
    {
      name: "merged tools have no arguments",
      span: {
        name: "execute_tool (merged tools)",
        attributes: {
          "gen_ai.tool.name": "(merged tools)",
          "gcp.vertex.agent.tool_call_args": "N/A",
          "gcp.vertex.agent.llm_request": "{}",
          "gcp.vertex.agent.tool_response": '{"id":"e1"}',
        },
      },
      run: { type: "tool", inputs: {}, outputs: { id: "e1" } },
    },
    {
      name: "data that was sent to the agent",
      span: {
        attributes: { "gcp.vertex.agent.data": '[{"role":"user","parts":[{"text":"Hi"}]}]' },
      },
      run: { inputs: { messages: [{ role: "user", content: "Hi" }] } },
    },
    {
      name: "an agent's invocation",
      span: {
        name: "invoke_agent weather_agent",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "weather_agent",
          "gen_ai.conversation.id": "s1",
        },
      },
      run: {
        name: "invoke_agent weather_agent",
        type: "chain",
        metadata: { agent_name: "weather_agent", thread_id: "s1" },
      },
    },
    {
      name: "what stands beside a call and a result of Gemini stays with them",
      span: {
        name: "call_llm",
        attributes: {
          "gen_ai.request.model": "gemini-3",
          "gcp.vertex.agent.llm_request": JSON.stringify({
            contents: [
              {
                role: "model",
                parts: [{ function_call: { id: "c1", name: "weather", args: { a: 1 } }, thought_signature: "c2ln" }],
              },
              {
                role: "user",
                parts: [{ function_response: { id: "c1", name: "weather", response: "rain", will_continue: true } }],
              },
            ],
          }),
        },
      },
      run: {
        inputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [
                {
                  thought_signature: "c2ln",
                  id: "c1",
                  type: "function",
                  function: { name: "weather", arguments: '{"a":1}' },
                },
              ],
            },
            { will_continue: true, role: "tool", tool_call_id: "c1", name: "weather", content: "rain" },
          ],
        },
      },
    },
    {
      name: "1.x: reasoning tokens under their experimental name",
      span: {
        attributes: {
          "gen_ai.operation.name": "generate_content",
          "gen_ai.usage.output_tokens": 4,
          "gen_ai.usage.experimental.reasoning_tokens": 2,
        },
      },
      run: { usage: { output_tokens: 4, total_tokens: 4, output_token_details: { reasoning: 2 } } },
    },
  ]);
});
