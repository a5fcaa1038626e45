// OpenTelemetry GenAI semantic conventions: today's attributes, and the older events and attributes still in the field.
import { describe } from "node:test";
import { table } from "../testkit.ts";

const CHAT = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.response.model": "gpt-4o-2024-08-06",
};

describe("GenAI semantic conventions, attributes", () => {
  table([
    {
      name: "a chat with messages as structured values",
      span: {
        name: "chat gpt-4o",
        attributes: {
          ...CHAT,
          "gen_ai.response.id": "chatcmpl-1",
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.request.temperature": 0.5,
          "gen_ai.request.max_tokens": 200,
          "gen_ai.request.top_p": 1,
          "gen_ai.request.choice.count": 2,
          "gen_ai.request.stop_sequences": ["END"],
          "gen_ai.conversation.id": "conv-1",
          "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: "Be short." }]),
          "gen_ai.input.messages": JSON.stringify([
            { role: "user", parts: [{ type: "text", content: "Weather in Paris?" }] },
          ]),
          "gen_ai.output.messages": JSON.stringify([
            { role: "assistant", parts: [{ type: "text", content: "Rainy." }], finish_reason: "stop" },
          ]),
          "gen_ai.usage.input_tokens": 12,
          "gen_ai.usage.output_tokens": 3,
        },
      },
      run: {
        name: "chat gpt-4o",
        type: "llm",
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Weather in Paris?" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Rainy.", finish_reason: "stop" }] },
        usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 },
        params: {
          model: "gpt-4o",
          temperature: 0.5,
          max_tokens: 200,
          top_p: 1,
          n: 2,
          stop: ["END"],
        },
        metadata: {
          ls_provider: "openai",
          ls_model_name: "gpt-4o-2024-08-06",
          ls_model_type: "chat",
          thread_id: "conv-1",
          response_id: "chatcmpl-1",
          finish_reasons: ["stop"],
        },
        without: ["gen_ai.input.messages"],
      },
    },
    {
      name: "a tool call, its result and the parts that have no place of their own",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.input.messages": JSON.stringify([
            {
              role: "user",
              parts: [
                { type: "text", content: "Look" },
                { type: "blob", mime_type: "image/png", modality: "image", content: "aGk=" },
                { type: "uri", uri: "https://x.example/a.png" },
              ],
            },
            {
              role: "assistant",
              parts: [
                { type: "reasoning", content: "Hm." },
                { type: "tool_call", id: "c1", name: "weather", arguments: { city: "Paris" } },
              ],
            },
            {
              role: "tool",
              parts: [
                { type: "tool_call_response", id: "c1", response: { sky: "rain" } },
                { type: "tool_call_response", id: "c2", result: "old spelling" },
              ],
            },
          ]),
        },
      },
      run: {
        inputs: {
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "Look" },
                { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
                { type: "file", source_type: "url", url: "https://x.example/a.png" },
              ],
            },
            {
              role: "assistant",
              content: [{ type: "reasoning", reasoning: "Hm." }],
              tool_calls: [
                { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } },
              ],
            },
            { role: "tool", tool_call_id: "c1", content: '{"sky":"rain"}' },
            { role: "tool", tool_call_id: "c2", content: "old spelling" },
          ],
        },
        outputs: null,
      },
    },
    {
      name: "structured messages (maps and lists instead of JSON text) are the same messages",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.input.messages": [
            { keys: ["role", "parts"], values: ["user", [{ keys: ["type", "content"], values: ["text", "Hi"] }]] },
          ],
          "gen_ai.tool.definitions": [{ keys: ["name"], values: ["weather"] }],
        },
      },
      run: { inputs: { messages: [{ role: "user", content: "Hi" }] }, params: { tools: [{ name: "weather" }] } },
    },
    {
      name: "a model call without captured content is still an llm run with model and usage",
      span: {
        name: "chat gpt-4o",
        attributes: { ...CHAT, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 0 },
      },
      run: {
        type: "llm",
        inputs: {},
        outputs: null,
        usage: { input_tokens: 7, output_tokens: 0, total_tokens: 7 },
        metadata: { ls_model_name: "gpt-4o-2024-08-06" },
      },
    },
    {
      name: "instructions alone are the first message",
      span: { attributes: { ...CHAT, "gen_ai.system_instructions": "Be kind." } },
      run: { inputs: { messages: [{ role: "system", content: "Be kind." }] } },
    },
    {
      name: "a system message in the conversation is not doubled by equal instructions",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.system_instructions": '[{"type":"text","content":"Be kind."}]',
          "gen_ai.input.messages": JSON.stringify([{ role: "system", content: "Be kind." }]),
        },
      },
      run: { inputs: { messages: [{ role: "system", content: "Be kind." }] } },
    },
    {
      name: "instructions beside another system message stand before it",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.system_instructions": "Be kind.",
          "gen_ai.input.messages": JSON.stringify([{ role: "system", content: "Be brief." }]),
        },
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be kind." },
            { role: "system", content: "Be brief." },
          ],
        },
      },
    },
    {
      name: "a tool's name on a chat does not make it a tool; tokens by modality",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.tool.name": "weather",
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.output_tokens": 20,
          "gen_ai.usage.image.input_tokens": 40,
          "gen_ai.usage.video.input_tokens": 20,
          "gen_ai.usage.text.input_tokens": 40,
          "gen_ai.usage.text.output_tokens": 20,
        },
      },
      run: {
        type: "llm",
        params: { tool_name: "weather" },
        usage: {
          input_tokens: 100,
          output_tokens: 20,
          total_tokens: 120,
          input_token_details: { image: 40, video: 20, text: 40 },
          output_token_details: { text: 20 },
        },
      },
    },
    {
      name: "a prompt's name and version, an evaluation on the span",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.prompt.name": "greet",
          "gen_ai.prompt.version": "3",
          "gen_ai.evaluation.name": "Relevance",
          "gen_ai.evaluation.score.value": 4.5,
          "gen_ai.evaluation.score.label": "relevant",
          "gen_ai.evaluation.explanation": "To the point.",
        },
      },
      run: {
        metadata: {
          prompt_name: "greet",
          prompt_version: "3",
          evaluation_name: "Relevance",
          evaluation_score: 4.5,
          evaluation_label: "relevant",
          evaluation_explanation: "To the point.",
        },
      },
    },
    {
      name: "a memory search: query and records",
      span: {
        attributes: {
          "gen_ai.operation.name": "search_memory",
          "gen_ai.memory.store.id": "ms_1",
          "gen_ai.memory.query.text": "food",
          "gen_ai.memory.record.count": 1,
          "gen_ai.memory.records": '[{"id":"m1","content":"vegetarian","score":0.9}]',
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "food" },
        outputs: {
          documents: [{ page_content: "vegetarian", metadata: { id: "m1", score: 0.9 }, type: "Document" }],
        },
        metadata: { memory_store_id: "ms_1", memory_record_count: 1 },
      },
    },
    {
      name: "a memory write: the records are the input",
      span: {
        attributes: {
          "gen_ai.operation.name": "create_memory",
          "gen_ai.memory.records": '[{"content":"vegetarian"}]',
        },
      },
      run: { type: "chain", inputs: { records: [{ content: "vegetarian" }] } },
    },
    {
      name: "an MCP call: description and type of the tool, ids of the protocol",
      span: {
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "weather",
          "gen_ai.tool.description": "Tells the weather",
          "gen_ai.tool.type": "extension",
          "mcp.method.name": "tools/call",
          "mcp.session.id": "s1",
          "mcp.protocol.version": "2025-06-18",
          "jsonrpc.request.id": "7",
        },
      },
      run: {
        type: "tool",
        params: { tool_description: "Tells the weather", tool_type: "extension" },
        metadata: {
          "mcp.method.name": "tools/call",
          "mcp.session.id": "s1",
          "mcp.protocol.version": "2025-06-18",
          "jsonrpc.request.id": "7",
        },
      },
    },
    {
      name: "attributes of the details event complete those of the span",
      span: {
        attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "asked" },
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: {
              "gen_ai.request.model": "other",
              "gen_ai.response.model": "answered",
              "gen_ai.request.temperature": 0.5,
              "gen_ai.usage.input_tokens": 3,
              "my.own": "kept",
            },
          },
        ],
      },
      run: {
        params: { model: "asked", temperature: 0.5 },
        usage: { input_tokens: 3, total_tokens: 3 },
        metadata: {
          ls_model_name: "answered",
          otel: {
            kind: "internal",
            scope: { version: "1.0" },
            attributes: { "gen_ai.request.model": "other", "my.own": "kept" },
          },
        },
      },
    },
    {
      name: "content events with lists, and with more than content",
      span: {
        attributes: { "gen_ai.operation.name": "text_completion" },
        events: [
          { name: "gen_ai.content.prompt", attributes: { "gen_ai.prompt": ["one", "two"] } },
          { name: "gen_ai.content.completion", attributes: { "gen_ai.completion": ["three"], extra: 1 } },
        ],
      },
      run: {
        inputs: { input: ["one", "two"] },
        outputs: { messages: [{ role: "assistant", content: "three" }] },
        events: [
          {
            name: "gen_ai.content.completion",
            time: "2025-11-21T09:00:00.000000001Z",
            attributes: { "gen_ai.completion": ["three"], extra: 1 },
          },
        ],
      },
    },
    {
      name: "a tool's execution",
      span: {
        name: "execute_tool weather",
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "weather",
          "gen_ai.tool.call.id": "c1",
          "gen_ai.tool.call.arguments": '{"city":"Paris"}',
          "gen_ai.tool.call.result": '{"sky":"rain"}',
        },
      },
      run: {
        name: "weather",
        type: "tool",
        inputs: { city: "Paris" },
        outputs: { sky: "rain" },
        params: { tool_name: "weather", tool_call_id: "c1" },
      },
    },
    {
      name: "a tool's list and number are wrapped",
      span: {
        attributes: { "gen_ai.tool.name": "sum", "gen_ai.tool.call.arguments": "[1,2]", "gen_ai.tool.call.result": 3 },
      },
      run: { type: "tool", inputs: { input: [1, 2] }, outputs: { output: 3 } },
    },
    {
      name: "embeddings",
      span: {
        name: "embeddings text-embedding-3",
        attributes: {
          "gen_ai.operation.name": "embeddings",
          "gen_ai.request.model": "text-embedding-3",
          "gen_ai.request.encoding_formats": ["float"],
          "input.value": "hello",
          "gen_ai.usage.input_tokens": 1,
        },
      },
      run: {
        type: "embedding",
        inputs: { input: "hello" },
        params: { encoding_formats: ["float"] },
        usage: { input_tokens: 1, total_tokens: 1 },
      },
    },
    {
      name: "embeddings of messages",
      span: {
        attributes: {
          "gen_ai.operation.name": "embeddings",
          "input.value": "other",
          "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hello"}]}]',
        },
      },
      run: { type: "embedding", inputs: { messages: [{ role: "user", content: "hello" }] } },
    },
    {
      name: "a retrieval with its documents",
      span: {
        attributes: {
          "gen_ai.operation.name": "retrieval",
          "gen_ai.retrieval.query.text": "rain",
          "gen_ai.retrieval.documents": JSON.stringify([{ id: "d1", score: 0.9, content: "It rains." }]),
        },
      },
      run: {
        type: "retriever",
        inputs: { query: "rain" },
        outputs: { documents: [{ page_content: "It rains.", metadata: { id: "d1", score: 0.9 }, type: "Document" }] },
      },
    },
    {
      name: "an agent's usage is a sum over its calls and is not charged again",
      span: {
        name: "invoke_agent",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "Support",
          "gen_ai.agent.id": "a-1",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.usage.input_tokens": 100,
          "gen_ai.usage.output_tokens": 50,
          "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: "Done" }] }]),
        },
      },
      run: {
        name: "Support",
        type: "chain",
        usage: null,
        metadata: {
          aggregate_usage: { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
          agent_name: "Support",
          agent_id: "a-1",
        },
        outputs: { messages: [{ role: "assistant", content: "Done" }] },
      },
    },
    {
      name: "an unknown operation does not hide what other attributes say",
      span: { attributes: { "gen_ai.operation.name": "ponder", "openinference.span.kind": "RETRIEVER" } },
      run: { type: "retriever" },
    },
    {
      name: "cached, written, reasoning and audio tokens are details and change no sum",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.usage.input_tokens": 1000,
          "gen_ai.usage.output_tokens": 100,
          "gen_ai.usage.cache_read.input_tokens": 800,
          "gen_ai.usage.cache_write.input_tokens": 50,
          "gen_ai.usage.audio.input_tokens": 4,
          "gen_ai.usage.reasoning.output_tokens": 60,
          "gen_ai.usage.cost": 0.02,
        },
      },
      run: {
        usage: {
          input_tokens: 1000,
          output_tokens: 100,
          total_tokens: 1100,
          input_token_details: { cache_read: 800, cache_creation: 50, audio: 4 },
          output_token_details: { reasoning: 60 },
          total_cost: 0.02,
        },
      },
    },
    {
      name: "a source that counts cached tokens apart is told by their number",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.output_tokens": 5,
          "gen_ai.usage.cache_read_input_tokens": 500,
          "gen_ai.usage.cache_creation_input_tokens": 100,
        },
      },
      run: {
        usage: {
          input_tokens: 610,
          output_tokens: 5,
          total_tokens: 615,
          input_token_details: { cache_read: 500, cache_creation: 100 },
        },
      },
    },
    {
      name: "aliases are never summed, a zero counts as said, text and doubles count as numbers",
      span: {
        attributes: {
          ...CHAT,
          "gen_ai.usage.input_tokens": 0,
          "gen_ai.usage.prompt_tokens": 9,
          "gen_ai.usage.completion_tokens": "7",
          "gen_ai.usage.total_tokens": 7.0,
        },
      },
      run: { usage: { input_tokens: 0, output_tokens: 7, total_tokens: 7 } },
    },
    {
      name: "negative and broken counts are not counts",
      span: { attributes: { ...CHAT, "gen_ai.usage.input_tokens": -1, "gen_ai.usage.output_tokens": Number.NaN } },
      run: { usage: null },
    },
    {
      name: "time to the first chunk becomes a new_token event",
      span: { attributes: { ...CHAT, "gen_ai.response.time_to_first_chunk": 0.25 } },
      run: { events: [{ name: "new_token", time: "2025-11-21T09:00:00.373456789Z" }] },
    },
    ...(
      [
        ["gcp.vertex_ai", "google_vertexai"],
        ["gcp.gemini", "google_genai"],
        ["aws.bedrock", "amazon_bedrock"],
        ["azure.ai.openai", "azure"],
        ["az.ai.openai", "azure"],
        ["x_ai", "xai"],
        ["mistral_ai", "mistralai"],
      ] as const
    ).map(([sent, said]) => ({
      name: `provider ${sent} is ${said} in the price table`,
      span: { attributes: { ...CHAT, "gen_ai.provider.name": sent } },
      run: { metadata: { ls_provider: said, otel_provider: sent } },
    })),
  ]);
});

describe("GenAI semantic conventions, span events", () => {
  table([
    {
      name: "message events become one conversation in the order of time, roles from their names",
      span: {
        attributes: { "gen_ai.system": "openai", "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" },
        events: [
          { name: "gen_ai.tool.message", at: 4, attributes: { id: "c1", content: "rain" } },
          { name: "gen_ai.system.message", at: 1, attributes: { content: "Be short." } },
          { name: "gen_ai.user.message", at: 2, attributes: { content: "Weather?" } },
          {
            name: "gen_ai.assistant.message",
            at: 3,
            attributes: {
              tool_calls: '[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{}"}}]',
            },
          },
          { name: "gen_ai.choice", at: 5, attributes: { index: 0, finish_reason: "stop", "message.content": "Rain." } },
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
              content: "",
              tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }],
            },
            { role: "tool", content: "rain", tool_call_id: "c1" },
          ],
        },
        outputs: {
          messages: [{ role: "assistant", content: "Rain.", finish_reason: "stop" }],
        },
        events: null,
      },
    },
    {
      name: "all choices are kept",
      span: {
        attributes: { ...CHAT },
        events: [
          { name: "gen_ai.choice", attributes: { index: 0, "message.content": "A", "message.role": "assistant" } },
          {
            name: "gen_ai.choice",
            attributes: {
              index: 1,
              "tool_calls.0.id": "c",
              "tool_calls.0.function.name": "f",
              "tool_calls.0.function.arguments": "{}",
            },
          },
        ],
      },
      run: {
        outputs: {
          messages: [
            { role: "assistant", content: "A" },
            {
              role: "assistant",
              content: "",
              tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
            },
          ],
        },
      },
    },
    {
      name: "content events",
      span: {
        attributes: { ...CHAT },
        events: [
          { name: "gen_ai.content.prompt", attributes: { "gen_ai.prompt": '{"question":"Why?"}' } },
          { name: "gen_ai.content.completion", attributes: { "gen_ai.completion": "Because." } },
        ],
      },
      run: { inputs: { question: "Why?" }, outputs: { output: "Because." } },
    },
    {
      name: "the operation's details event carries the same as attributes would",
      span: {
        attributes: { ...CHAT },
        events: [
          {
            name: "gen_ai.client.inference.operation.details",
            attributes: {
              "gen_ai.system_instructions": '[{"type":"text","content":"Be short."}]',
              "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
              "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"Ho"}]}]',
            },
          },
        ],
      },
      run: {
        inputs: {
          messages: [
            { role: "system", content: "Be short." },
            { role: "user", content: "Hi" },
          ],
        },
        outputs: { messages: [{ role: "assistant", content: "Ho" }] },
      },
    },
  ]);
});

describe("the seed's attributes", () => {
  table([
    {
      name: "a prompt that is an object stays that object",
      span: {
        attributes: {
          "gen_ai.prompt": '{"text":"Hello, world!"}',
          "gen_ai.completion": '{"text":"Hi!"}',
          "gen_ai.usage.input_tokens": 4,
          "gen_ai.usage.output_tokens": 2,
        },
      },
      run: {
        type: "chain",
        inputs: { text: "Hello, world!" },
        outputs: { text: "Hi!" },
        usage: { input_tokens: 4, output_tokens: 2, total_tokens: 6 },
      },
    },
    {
      name: "a JSON-encoded string is unwrapped once",
      span: { attributes: { "gen_ai.prompt": '"Hello"', "gen_ai.completion": '"Hi"' } },
      run: { inputs: { input: "Hello" }, outputs: { text: "Hi" } },
    },
    {
      name: "an object inside a JSON-encoded string is that object",
      span: { attributes: { "gen_ai.prompt": JSON.stringify('{"q":1}'), "gen_ai.completion": "plain words" } },
      run: { inputs: { q: 1 }, outputs: { text: "plain words" } },
    },
    {
      name: "a list of messages is a conversation, another list is wrapped",
      span: { attributes: { "gen_ai.prompt": '[{"role":"user","content":"Hi"}]', "gen_ai.completion": "[1,2]" } },
      run: { inputs: { messages: [{ role: "user", content: "Hi" }] }, outputs: { text: [1, 2] } },
    },
    {
      name: "text that only looks like JSON stays text",
      span: { attributes: { "gen_ai.prompt": "{not json", "gen_ai.completion": "42" } },
      run: { inputs: { input: "{not json" }, outputs: { text: "42" } },
    },
  ]);
});
