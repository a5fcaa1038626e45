// LiveKit Agents: attributes of livekit-agents 1.8.1; earlier versions write the same names without `pii`.
import { describe } from "node:test";
import { table } from "../testkit.ts";

describe("LiveKit", () => {
  table([
    {
      name: "a model's turn: context, answer with calls, time to the first token",
      span: {
        name: "llm_node",
        scope: "livekit-agents",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": "gpt-5",
          "lk.pii.chat_ctx": '[{"role":"user","content":"Weather?"}]',
          "lk.pii.response.text": "Let me look.",
          "lk.pii.response.function_calls": ['{"id":"c1","name":"weather","arguments":"{}"}'],
          "lk.response.ttft": 0.25,
        },
      },
      run: {
        type: "llm",
        inputs: { messages: [{ role: "user", content: "Weather?" }] },
        outputs: {
          messages: [
            {
              role: "assistant",
              content: "Let me look.",
              tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }],
            },
          ],
        },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.373456789Z" }],
      },
    },
    {
      name: "an agent's turn: instructions and context with calls",
      span: {
        name: "llm_node",
        scope: "livekit-agents",
        attributes: {
          "lk.pii.instructions": "Be kind.",
          "lk.pii.chat_ctx": JSON.stringify({
            items: [
              { id: "i1", type: "message", role: "user", content: ["Weather?"], interrupted: false },
              { id: "i2", type: "function_call", call_id: "c1", name: "weather", arguments: "{}" },
              {
                id: "i3",
                type: "function_call_output",
                call_id: "c1",
                name: "weather",
                output: "rain",
                is_error: false,
              },
            ],
          }),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { id: "i1", role: "user", interrupted: false, content: "Weather?" },
            {
              role: "assistant",
              content: "",
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: "{}" }, item_id: "i2" },
              ],
            },
            { role: "tool", tool_call_id: "c1", id: "i3", name: "weather", is_error: false, content: "rain" },
          ],
        },
      },
    },
    ...["lk.pii.function_tool", "lk.function_tool"].map((prefix) => ({
      name: `a tool in ${prefix}`,
      span: {
        name: "function_tool",
        scope: "livekit-agents",
        attributes: {
          "lk.function_tool.id": "c1",
          "lk.function_tool.name": "weather",
          [`${prefix}.arguments`]: '{"city":"Paris"}',
          [`${prefix}.output`]: "no network",
          "lk.function_tool.is_error": true,
        },
      },
      run: {
        name: "weather",
        type: "tool" as const,
        inputs: { city: "Paris" },
        outputs: { output: "no network" },
        params: { tool_name: "weather", tool_call_id: "c1" },
        error: "no network",
      },
    })),
    {
      name: "message events with calls as a list of JSON texts",
      span: {
        attributes: { "gen_ai.operation.name": "chat" },
        events: [
          {
            name: "gen_ai.assistant.message",
            attributes: { content: "", tool_calls: ['{"id":"c1","function":{"name":"weather","arguments":"{}"}}'] },
          },
          {
            name: "gen_ai.choice",
            attributes: { content: "Sunny.", tool_calls: ['{"id":"c2","function":{"name":"f","arguments":"{}"}}'] },
          },
        ],
      },
      run: {
        inputs: {
          messages: [
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }],
            },
          ],
        },
      },
    },
    {
      name: "020428e: audio and text tokens under the other names, too",
      span: {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.input_audio_tokens": 60,
          "gen_ai.usage.input_text_tokens": 40,
          "gen_ai.usage.output_tokens": 50,
          "gen_ai.usage.output_audio_tokens": 30,
          "gen_ai.usage.output_text_tokens": 20,
        },
      },
      run: {
        usage: {
          input_tokens: 100,
          output_tokens: 50,
          total_tokens: 150,
          input_token_details: { audio: 60, text: 40 },
          output_token_details: { audio: 30, text: 20 },
        },
      },
    },
    {
      name: "020428e: time to the first byte of speech",
      span: { name: "tts_node", attributes: { "lk.pii.input_text": "Hi", "lk.response.ttfb": 0.25 } },
      run: {
        inputs: { input: "Hi" },
        events: [{ name: "new_token", time: "2025-11-21T09:00:00.373456789Z" }],
      },
    },
  ]);
});
